# One-word verbs. Each is one line you can type without make: CONTRIBUTING.md has them written out.
#   make serve PYTHON=python3.12 ADDRESS=127.0.0.1:9000

PYTHON  ?= python3
ADDRESS ?= 127.0.0.1:8000
VENV    := .venv
PY      := $(VENV)/bin/python
PIP     := $(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt
GROUPS  := pyproject.toml constraints.txt

.PHONY: serve test engines bench bench-site check quick build shots mutants zensical node assets clean
.NOTPARALLEL:

serve: $(VENV)/.site node_modules/.made  ## the site at http://127.0.0.1:8000/, reloading as you write
	@$(PY) -m widgets serve $(ADDRESS)

test: $(VENV)/.test node_modules/.made  ## everything, a real browser included
	@$(PY) -m tests.tools.chromium
	@$(PY) -m tests.tools.run test

engines: $(VENV)/.engines node_modules/.made  ## the reader's path in Chromium, Firefox and WebKit
	@$(PY) -m tests.tools.chromium
	@$(PY) -m tests.engines.install
	@$(PY) -m tests.tools.run engines

bench: $(VENV)/.test  ## a minute or two: how fast sim is, into docs/data/measured/sim-speed.json
	@$(PY) -m bench.sim_speed --write

bench-site: $(VENV)/.engines node_modules/.made  ## minutes, on a quiet machine: how fast the site is, beside plain Pyodide
	@$(PY) -m tests.tools.chromium
	@$(PY) -m tests.engines.install
	@$(PY) -m bench.site_speed --write

check: $(VENV)/.site  ## words and data: every problem in the pages, in seconds
	@$(PY) -m tests.tools.run check

quick: $(VENV)/.check  ## check, and all tests that need neither browser nor Node
	@$(PY) -m tests.tools.run quick

build: $(VENV)/.site node_modules/.made  ## the finished site in site/
	@$(PY) -m widgets build

shots: $(VENV)/.test node_modules/.made  ## contact sheets of every page in build/shots
	@$(PY) -m tests.tools.chromium
	@$(PY) -m widgets build
	@$(PY) -m widgets shots

mutants: $(VENV)/.mutants  ## tens of minutes: which changes to sim would no test notice?
	@$(PY) -m tests.sim.mutation

zensical: $(VENV)/.zensical node_modules/.made  ## informational: the same pages with Zensical
	@$(PY) -m widgets assets
	@$(PY) -m tests.tools.zensical

assets: $(VENV)/.site node_modules/.made  ## only what the browser runs, into docs/assets/live
	@$(PY) -m widgets assets

node: $(VENV)/.made
	@$(PIP) --group node

clean:  ## forget everything made here, the environment included
	rm -rf $(VENV) node_modules build site docs/assets/live

# --- set-up: each stamp is newer than the locks it was made from, so nothing is installed twice ---

$(VENV)/.made: tests/tools/bootstrap.py
	@$(PYTHON) tests/tools/bootstrap.py $(VENV)
	@touch $@

$(addprefix $(VENV)/.,site check test engines mutants zensical): $(VENV)/.%: $(VENV)/.made $(GROUPS)
	@echo "installing Python packages (group $*) …"
	@$(PIP) --group $*
	@touch $@

node_modules/.made: package.json package-lock.json .npmrc | $(VENV)/.made
	@echo "installing JavaScript packages …"
	@$(PY) -m widgets._page.node npm ci --silent
	@touch $@
