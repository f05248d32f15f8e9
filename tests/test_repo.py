"""The repository as a whole: what is locked, listed, licensed and allowed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
NOTICES = (ROOT / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
CONSTRAINTS = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M))


def tracked() -> list[Path]:
    """Every file git knows or would take, so that a new one is looked at before it is committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    return [path for name in listed.decode().split("\0") if name and (path := ROOT / name).is_file()]


def noticed(name: str) -> tuple[str, str]:
    """Version and licence that THIRD_PARTY_NOTICES.md states for ``name``."""
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \| ([^|]+?) \|", NOTICES, re.M)
    found = [(version, licence) for what, version, licence in rows if what == name]
    assert len(found) == 1, f"THIRD_PARTY_NOTICES.md has {len(found)} rows for {name}"
    return found[0]


@pytest.mark.parametrize("name", sorted(json.loads((ROOT / "package.json").read_text())["dependencies"]))
def test_what_the_site_takes_from_npm_is_in_the_notices(name: str) -> None:
    entry = LOCK["packages"][f"node_modules/{name}"]
    assert noticed(name) == (entry["version"], entry["license"])


@pytest.mark.parametrize("name", sorted(json.loads((ROOT / "package.json").read_text())["devDependencies"]))
def test_the_javascript_tools_are_in_the_notices(name: str) -> None:
    entry = LOCK["packages"][f"node_modules/{name}"]
    assert noticed(name) == (entry["version"], entry["license"])


@pytest.mark.parametrize("name", ["numpy", "mkdocs", "mkdocs-material"])
def test_what_the_site_takes_from_python_packages_is_in_the_notices(name: str) -> None:
    licence = metadata.metadata(name)["License-Expression"]
    assert noticed(name) == (CONSTRAINTS[name], licence)


def test_every_font_is_in_the_notices() -> None:
    fonts = [path for path in tracked() if path.suffix in (".woff", ".woff2", ".ttf", ".otf")]
    assert [path.name for path in fonts if path.name not in NOTICES] == []


def test_the_licences_are_what_the_readme_says() -> None:
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n")
    text = (ROOT / "LICENSE-docs").read_text(encoding="utf-8")
    assert all(f"\nSection {number} -- " in text for number in range(1, 9))


def test_the_javascript_lock_has_hashes_and_no_addresses() -> None:
    packages = {name: entry for name, entry in LOCK["packages"].items() if name}
    assert not [name for name, entry in packages.items() if "resolved" in entry]
    assert not [name for name, entry in packages.items() if not entry["integrity"].startswith("sha512-")]
    wanted = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    exact = {**wanted["dependencies"], **wanted["devDependencies"]}
    assert {name: packages[f"node_modules/{name}"]["version"] for name in exact} == exact


def requirements(group: str) -> list[str]:
    names: list[str] = []
    for entry in PROJECT["dependency-groups"][group]:
        if isinstance(entry, dict):
            names += requirements(entry["include-group"])
        else:
            names.append(re.split(r"[<>=!~ ;\[]", entry)[0])
    return names


@pytest.mark.parametrize("group", sorted(PROJECT["dependency-groups"]))
def test_every_package_asked_for_is_held_at_a_version(group: str) -> None:
    held = {name.lower().replace("_", "-") for name in CONSTRAINTS}
    assert [name for name in requirements(group) if name.lower().replace("_", "-") not in held] == []


def test_what_is_installed_is_what_is_held() -> None:
    asked = {name: CONSTRAINTS.get(name) for name in requirements("check")}
    assert {name: metadata.version(name) for name in asked} == asked


def test_the_listed_packages_are_the_folders_with_python_in_them() -> None:
    folders = {
        path.parent.relative_to(ROOT).as_posix().replace("/", ".")
        for top in ("sim", "widgets")
        for path in (ROOT / top).rglob("*")
        if path.suffix in (".py", ".js") and "__pycache__" not in path.parts
    }
    assert sorted(PROJECT["tool"]["setuptools"]["packages"]) == sorted(folders)


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_workflows_may_do_no_more_than_they_need(path: Path) -> None:
    workflow: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    allowed = {
        "contents": {"read"},
        "actions": {"read"},
        "pull-requests": {"read"},
        "pages": {"read", "write"},
        "id-token": {"write"},
    }
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 30
        for what, right in job.get("permissions", {}).items():
            assert right in allowed[what], f"{name} asks for {what}: {right}"
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"]["persist-credentials"] is False


def test_D12_a_dead_link_or_anchor_fails_a_build() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "\nstrict: true\n" in text
    _, _, validation = text.partition("\nvalidation:\n")
    links = validation.partition("  links:\n")[2].partition("\n\n")[0]
    assert {"    not_found: warn", "    anchors: warn", "    unrecognized_links: warn"} <= set(links.splitlines())


def test_D19_every_edit_link_leads_to_a_file_of_the_branch_that_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    from mkdocs.config import load_config
    from mkdocs.structure.files import get_files
    from mkdocs.structure.pages import Page

    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8"))
    [build] = [step for step in workflow["jobs"]["build"]["steps"] if step.get("run") == "make build"]
    place = "https://example.org/owner/name/edit/main/docs/"
    assert build["env"]["SITE_EDIT_URI"].endswith(place.removeprefix("https://example.org/owner/name"))
    assert workflow[True]["push"]["branches"] == ["main"]  # YAML reads `on` as true
    monkeypatch.setenv("SITE_EDIT_URI", place)
    config = load_config(str(ROOT / "mkdocs.yml"))
    pages = [Page(None, file, config) for file in get_files(config) if file.src_uri.endswith((".md", ".py"))]
    assert len(pages) > 20
    for page in pages:
        assert page.edit_url is not None
        assert (ROOT / "docs" / page.edit_url.removeprefix(place)).is_file()


def test_workflows_pass_a_security_review() -> None:
    """Versions held by hash, no word of a stranger in a shell, no secrets: what zizmor finds, without a network."""
    command = [str(Path(sys.executable).with_name("zizmor")), "--offline", "--quiet", "--no-progress", ".github"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_a_pull_request_is_built_without_secrets_and_without_running_its_notebooks() -> None:
    text = (ROOT / ".github" / "workflows" / "preview.yml").read_text(encoding="utf-8")
    workflow: dict[Any, Any] = yaml.safe_load(text)
    assert list(workflow[True]) == ["pull_request"]  # never pull_request_target, which has the secrets
    assert "secrets." not in text
    [build] = [step for job in workflow["jobs"].values() for step in job["steps"] if step.get("run") == "make build"]
    assert build["env"]["EXECUTE_NOTEBOOKS"] == "0"
    assert build["env"]["SITE_URL"].endswith("/pr-${{ github.event.number }}/")
    assert "permissions" not in workflow["jobs"]["build"]


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda p: p.name)
def test_issue_forms_ask_for_what_is_needed(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_updates_are_asked_for_every_lock() -> None:
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert sorted(entry["package-ecosystem"] for entry in updates) == ["github-actions", "npm", "pip"]


def test_ci_runs_what_everybody_runs() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines[-2:] == ["make test", "exec make engines"]


def test_every_verb_of_make_is_written_out_for_a_shell_without_it() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    verbs = set(re.search(r"^\.PHONY: (.+)$", makefile, re.M)[1].split())  # type: ignore[index]
    described = set(re.findall(r"^([a-z-]+):.*##", makefile, re.M))
    assert described <= verbs
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    without = text.split("### Without make")[1]
    for verb in sorted(described - {"assets", "clean"}):
        assert f"make {verb}" in without


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_between_files_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)#][^)]*)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_no_file_is_left_unfinished() -> None:
    mark = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME)\b")
    texts = [path for path in tracked() if path.suffix in (".py", ".js", ".mjs", ".css", ".md", ".toml", ".yml")]
    assert [str(path.relative_to(ROOT)) for path in texts if mark.search(path.read_text(encoding="utf-8"))] == []


def test_a_long_file_says_in_its_header_why_it_is_long() -> None:
    texts = {
        path: path.read_text(encoding="utf-8") for path in tracked() if path.suffix in (".py", ".js", ".ts", ".css")
    }
    long = [path for path, text in texts.items() if text.count("\n") > 400]
    assert long, "the rule is about something"
    assert [str(path) for path in long if not re.search(r"Over\s400\s+lines:\s", texts[path][:1500])] == []


def test_generated_folders_are_ignored() -> None:
    names = [".venv/x", "node_modules/x", "build/x", "site/x", "docs/assets/live/x", "sim/__pycache__/x"]
    command = ["git", "check-ignore", *names]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split() == names


def test_importing_the_packages_loads_nothing_heavy() -> None:
    heavy = ("numpy", "yaml", "markdown", "mkdocs", "requests")
    code = f"import sys, sim, widgets; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
