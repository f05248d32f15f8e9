"""The policy names every inline script of the built pages, and nothing that would let others run."""

from __future__ import annotations

from widgets._page.policy import inline_scripts, main, policy

PAGE = (
    '<script>a()</script><script type="application/json">{}</script>'
    '<script src="x.js"></script><script id="b">b()</script>'
)


def test_scripts_that_run_are_found_and_data_are_not():
    assert inline_scripts(PAGE) == ["a()", "b()"]


def test_one_policy_for_all_pages_without_unsafe_inline(tmp_path, capsys):
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "404.html").write_text("<script>a()</script>")
    said = policy(tmp_path)
    assert said.count("'sha256-") == 2
    assert "'unsafe-inline'" not in said
    assert "'unsafe-eval'" not in said
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == said + "\n"


def test_without_a_site_it_says_so(tmp_path, capsys):
    assert main([str(tmp_path / "none")]) == 2
    assert "no built site" in capsys.readouterr().err
