"""Tools around the tests: set-up of a fresh machine, the runner behind `make test`, pictures for looking at."""
