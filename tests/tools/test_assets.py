"""The folder a browser runs from: named by its contents, whole or absent, rebuilt only when something changed."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from widgets._page import assets, kernel, wheels

WHEEL = b"not really NumPy"
OURS = (
    *("THIRD_PARTY_NOTICES.txt", "data/models/one.bin", "data/published.json"),
    *("numpy.whl", "sd-widget.js", "site.zip"),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository in miniature, with the wheel already in its cache folder."""
    files = {
        "THIRD_PARTY_NOTICES.md": "who made what\n",
        "sim/__init__.py": "ONE = 1\n",
        "sim/__pycache__/x.pyc": "never shipped",
        "widgets/__init__.py": "",
        "widgets/__main__.py": "",
        "widgets/pass_cost.py": "DATA: tuple[str, ...] = ('published',)\nFILES = ('models/one.bin',)\n",
        "widgets/_kit/view.py": "",
        "widgets/_page/figure.py": "",
        "widgets/_browser/sd-widget.js": "export {};\n",
        "widgets/_browser/start.js": "export {}; // finds the folder\n",
        "widgets/_browser/widget.css": "sd-widget {}\n",
        "docs/data/published.json": "[]\n",
        "docs/data/unused.json": "[]\n",
        "docs/data/models/one.bin": "not really a model",
        "docs/data/models/two.bin": "of no widget",
        "cache/numpy.whl": WHEEL.decode(),
        **{f"node_modules/pyodide/{name}": name for name in assets.PYODIDE},
        "node_modules/pyodide/package.json": json.dumps({"version": "314.0.3"}),
        "node_modules/pyodide/pyodide-lock.json": json.dumps(
            {
                "packages": {
                    "numpy": {
                        "version": "2.4.3",
                        "file_name": "numpy.whl",
                        "sha256": hashlib.sha256(WHEEL).hexdigest(),
                    }
                }
            }
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def build(root: Path) -> str:
    return assets.build(root, cache=root / "cache")


def test_the_folder_holds_everything_and_lists_it(root: Path) -> None:
    live = root / "docs/assets/live"
    folder = live / build(root)
    listed = json.loads((folder / "assets.json").read_text())
    names = [entry["name"] for entry in listed]
    assert names == sorted([*OURS, *assets.PYODIDE])
    for entry in listed:
        content = (folder / entry["name"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (entry["bytes"], entry["sha256"])
    assert (live / "start.js").read_text() == "export {}; // finds the folder\n"
    assert (live / "widget.css").is_file()
    assert assets.live_folder(root / "docs") == folder.name
    assert len(folder.name) == 12


def test_the_worker_gets_sim_and_widgets_without_the_page_builder(root: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(assets.site_zip(root))) as archive:
        names = archive.namelist()
    assert names == ["sim/__init__.py", "widgets/__init__.py", "widgets/_kit/view.py", "widgets/pass_cost.py"]


def test_the_same_sources_make_the_same_bytes(root: Path) -> None:
    before = assets.site_zip(root)
    for path in root.rglob("*.py"):
        path.touch()
    assert assets.site_zip(root) == before


def test_nothing_is_written_when_nothing_changed(root: Path) -> None:
    build(root)
    live = root / "docs/assets/live"
    times = {path: path.stat().st_mtime_ns for path in live.rglob("*")}
    build(root)
    assert {path: path.stat().st_mtime_ns for path in live.rglob("*")} == times


def test_a_change_gives_a_new_folder_and_takes_the_old_one_away(root: Path) -> None:
    old = build(root)
    (root / "sim/__init__.py").write_text("ONE = 2\n")
    new = build(root)
    assert new != old
    assert [path.name for path in (root / "docs/assets/live").iterdir() if path.is_dir()] == [new]


def test_missing_data_are_named(root: Path) -> None:
    (root / "docs/data/published.json").unlink()
    with pytest.raises(assets.AssetError, match=r"docs/data/published\.json is missing.*'published'"):
        build(root)


def test_missing_files_are_named(root: Path) -> None:
    (root / "docs/data/models/one.bin").unlink()
    with pytest.raises(assets.AssetError, match=r"docs/data/models/one\.bin is missing.*'models/one\.bin'"):
        build(root)


def test_a_missing_interpreter_is_named_with_the_command(root: Path) -> None:
    (root / "node_modules/pyodide/pyodide.asm.wasm").unlink()
    with pytest.raises(assets.AssetError, match=r"pyodide\.asm\.wasm is missing: run `npm ci`"):
        build(root)


def nowhere(_: wheels.LockedWheel) -> bytes:
    raise OSError("no connection")


def locked(root: Path) -> wheels.LockedWheel:
    return wheels.locked("numpy", root / "node_modules/pyodide")


def test_a_wheel_with_another_checksum_is_refused(root: Path, tmp_path: Path) -> None:
    sources = (("the first", nowhere), ("the second", lambda _: b"something else"))
    with pytest.raises(wheels.FetchError) as told:
        wheels.fetch(locked(root), cache=tmp_path / "empty", sources=sources)
    text = str(told.value)
    assert "could not fetch numpy.whl" in text
    assert "the first: no connection" in text
    assert "the second: the file there has another SHA-256" in text
    assert "PYODIDE_WHEELS" in text
    assert not list((tmp_path / "empty").glob("*"))


def test_sources_are_tried_in_order_and_the_file_is_kept(root: Path, tmp_path: Path) -> None:
    said: list[str] = []
    sources = (("the first", nowhere), ("the second", lambda _: WHEEL))
    path = wheels.fetch(locked(root), cache=tmp_path / "empty", sources=sources, say=said.append)
    assert path.read_bytes() == WHEEL
    assert said == ["fetched numpy.whl (0.0 MB) from the second"]
    assert wheels.fetch(locked(root), cache=tmp_path / "empty", sources=(("never asked", nowhere),)) == path


def test_a_damaged_file_in_the_cache_is_fetched_again(root: Path) -> None:
    (root / "cache/numpy.whl").write_text("half a file")
    sources = (("a source", lambda _: WHEEL),)
    path = wheels.fetch(locked(root), cache=root / "cache", sources=sources, say=lambda _: None)
    assert path.read_bytes() == WHEEL


def test_the_folder_of_the_user_comes_first(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYODIDE_WHEELS", str(root / "cache"))
    assert wheels.fetch(locked(root), cache=tmp_path / "empty", say=lambda _: None).read_bytes() == WHEEL


def test_without_the_wheel_formula_widgets_still_work_and_numpy_widgets_say_so(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wheels, "_sources", lambda: (("a source", nowhere),))
    (root / "cache/numpy.whl").unlink()
    folder = root / "docs/assets/live" / build(root)
    assert not (folder / "numpy.whl").exists()
    assert "the site is built without it" in capsys.readouterr().err
    (root / "widgets/tiny_model.py").write_text('NEEDS = ("numpy",)\n')
    with pytest.raises(assets.AssetError, match=r"could not fetch numpy\.whl"):
        build(root)


def test_the_kernel_is_compiled_once_and_a_missing_compiler_is_named(root: Path) -> None:
    """A stand-in for Node writes what it was asked to write, and counts."""
    (root / "widgets/_browser/kernel").mkdir()
    (root / kernel.SOURCE).write_text("export function matmul_t(): void {}\n")
    with pytest.raises(kernel.KernelError, match=r"node_modules/assemblyscript is missing: run `npm ci`"):
        kernel.make(["never"], root)
    package = root / kernel.COMPILER / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text('{"version": "0.28.20"}')
    stand_in = root / "node.py"
    stand_in.write_text(
        "import pathlib, sys\n"
        "assert sys.argv[2] == 'widgets/_browser/kernel/matmul.ts', sys.argv\n"
        "pathlib.Path(sys.argv[sys.argv.index('--outFile') + 1]).write_bytes(b'compiled')\n"
        "with open('runs', 'a') as runs: runs.write('x')\n"
    )
    node = [sys.executable, str(stand_in)]
    assert [kernel.make(node, root) for _ in range(2)] == [b"compiled", b"compiled"]
    assert (root / "runs").read_text() == "x"
    package.write_text('{"version": "0.29.0"}')
    kernel.make(node, root)
    assert (root / "runs").read_text() == "xx"
    stand_in.write_text("import sys; sys.exit('ERROR TS1005: expected ;')")
    (root / kernel.SOURCE).write_text("export function")
    with pytest.raises(kernel.KernelError, match=r"matmul\.ts does not compile:\nERROR TS1005"):
        kernel.make(node, root)


def test_the_kernels_source_is_not_shipped(root: Path) -> None:
    (root / "widgets/_browser/kernel").mkdir()
    (root / kernel.SOURCE).write_text("export function matmul_t(): void {}\n")
    folder = root / "docs/assets/live" / build(root)
    assert not list(folder.rglob("*.ts"))


def test_scripts_travel_without_their_comments_and_keep_their_lines() -> None:
    script = b"/**\n * What.\n */\nlet a = 1; // stays\n  /** @type {X} */ (a);\n // no\n/* one */\nlet b = '*/';\n"
    expected = b"\n\n\nlet a = 1; // stays\n  /** @type {X} */ (a);\n\n\nlet b = '*/';\n"
    assert assets.spoken(script) == expected
    for path in sorted((assets.ROOT / "widgets" / "_browser").glob("*.js")):
        left = assets.spoken(path.read_bytes())
        assert left.count(b"\n") == path.read_bytes().count(b"\n")
        assert len(left) < len(path.read_bytes())
