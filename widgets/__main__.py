"""``python -m widgets <verb>``: the small commands of this repository.

Why it exists: one place to find them, for shells without make too. Each verb is one module's ``main(arguments) -> exit
code``, imported only when asked for, so that no command pays for (or breaks with) another.
"""

from __future__ import annotations

import importlib
import sys

__all__ = ["main"]

VERBS = {
    "assets": ("widgets._page.assets", "put together what the reader's browser runs (docs/assets/live)"),
    "check": ("widgets._page.check", "check the widget blocks and inline numbers of Markdown files: check docs"),
    "serve": ("widgets._page.serve", "serve the site while writing; restarts when sim/ or widgets/ change"),
    "build": ("widgets._page.build", "assets, then `mkdocs build --strict` into site/"),
    "policy": ("widgets._page.policy", "the content security policy under which the built site works"),
    "new-lesson": ("widgets._page.new_lesson", "a numbered page to fill in, and its line in the navigation"),
    "shots": ("tests.tools.shots", "contact sheets of every page into build/shots"),
}


def main(arguments: list[str]) -> int:
    """Hand over to the verb named first; without one (or with an unknown one) say which there are."""
    if not arguments or arguments[0] not in VERBS:
        wanted = arguments[0] if arguments else ""
        if wanted not in ("", "help", "-h", "--help"):
            print(f"there is no verb '{wanted}'", file=sys.stderr)
        print("usage: python -m widgets VERB …\n")
        print("\n".join(f"  {verb:<12}{sentence}" for verb, (_, sentence) in VERBS.items()))
        return 0 if wanted in ("help", "-h", "--help") else 2
    module = importlib.import_module(VERBS[arguments[0]][0])
    code: int = module.main(arguments[1:])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
