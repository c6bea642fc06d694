"""The fast path prints the same as the full command line, and leaves everything else to it."""

from __future__ import annotations

import pytest

from rocm3d.cli.fast_scan import run_fast_scan


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--version"],
        ["plan", "X", "--format", "json", "--quiet"],
        ["scan", "--format", "json", "--quiet"],
        ["scan", "X"],
        ["scan", "X", "--quiet"],
        ["scan", "X", "--format", "json"],
        ["scan", "X", "--format", "console", "--quiet"],
        ["scan", "X", "--format", "json", "--format", "json", "--quiet"],
        ["scan", "X", "Y", "--format", "json", "--quiet"],
        ["scan", "X", "--format", "json", "--quiet", "--no-cache"],
        ["scan", "X", "--format", "json", "--quiet", "--knowledge", "DIR"],
        ["scan", "X", "--format", "json", "--quiet", "--baseline", "F"],
        ["scan", "X", "--format", "json", "--quiet", "--output", "F"],
        ["scan", "X", "--format", "json", "--quiet", "--only"],
        ["scan", "X", "--format", "json", "--quiet", "--only", "--skip"],
        ["scan", "X", "--format=json", "--quiet"],
        ["scan", "--help"],
    ],
)
def test_other_calls_are_left_to_the_command_line(words, monkeypatch, capsys):
    cached: list[object] = []
    monkeypatch.setattr("rocm3d.scan.scan_cache.cached_scan", lambda *arguments: cached.append(arguments))

    assert run_fast_scan(words) is None
    assert cached == []  # a fast scan that raises also returns None
    assert capsys.readouterr().out == ""


def test_missing_folder_is_left_to_the_command_line(tmp_path, rocm3d):
    assert run_fast_scan(["scan", str(tmp_path / "x"), "--format", "json", "-q"]) is None
    ended = rocm3d("scan", tmp_path / "x", "--format", "json", "-q")

    assert (ended.code, ended.out) == (2, "")
    assert "does not exist" in ended.err


@pytest.mark.parametrize("options", [[], ["--only", "CU", "--skip", "CU301"], ["--only", "CU311"], ["--isolated"]])
def test_second_output_equals_the_first(example, rocm3d, tmp_path, monkeypatch, capsys, options):
    root = example("splat-trainer")
    words = ["scan", str(root), "--format", "json", "--quiet", "--work", str(tmp_path / "work"), *options]
    first = rocm3d(*words)
    document = tmp_path / "work" / "inventory.json"
    document.unlink()

    code = run_fast_scan(words)

    assert code == first.code
    assert capsys.readouterr().out == first.out == document.read_text(encoding="utf-8")
    assert rocm3d(*words) == first


def test_change_is_detected(example, rocm3d, capsys):
    root = example("splat-trainer")
    words = ["scan", str(root), "--format", "json", "--quiet"]
    first = rocm3d(*words)
    (root / "added.py").write_text("import pynvml\n")

    assert run_fast_scan(words) == 1
    assert "added.py" in capsys.readouterr().out
    assert "added.py" not in first.out


@pytest.mark.parametrize(
    "options", [[], ["--only", "CU, DEP", "--skip", "CU301"], ["--only", "triton_tf32"], ["--isolated"]]
)
def test_new_scan_equals_the_command_line(example, rocm3d, tmp_path, capsys, monkeypatch, options):
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)
    words = ["scan", str(example("splat-trainer")), "--quiet", "--no-cache", "--work", str(tmp_path / "work"), *options]
    expected = rocm3d(*words, "--format=json")
    written = (tmp_path / "work" / "inventory.json").read_bytes()

    code = run_fast_scan([*words, "--format", "json"])

    assert (code, capsys.readouterr().out) == (expected.code, expected.out)
    assert (tmp_path / "work" / "inventory.json").read_bytes() == written


def test_unknown_rule_is_left_to_the_command_line(example):
    assert run_fast_scan(["scan", str(example("deform-op")), "--format", "json", "-q", "--only", "a,b"]) is None


def test_interrupted_scan_is_reported(example, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("rocm3d.repository.Repository.scan", interrupted)

    assert run_fast_scan(["scan", str(example("deform-op")), "--format", "json", "-q", "--no-cache"]) == 130
    assert capsys.readouterr() == ("", "rocm3d: interrupted\n")


@pytest.mark.parametrize("options", [[], ["--isolated"], ["--skip", "BLD"]])
def test_settings_and_comments_have_the_same_output(example, rocm3d, tmp_path, capsys, options):
    root = example("splat-trainer")
    (root / "rocm3d.toml").write_text('skip = ["DEP", "PY"]\n')
    (root / "own.cu").write_text("void f() { k<< <1, 1>> >(); }  // rocm3d: ignore[spaced_launch]\n")
    words = ["scan", str(root), "--quiet", "--work", str(tmp_path / "work"), *options]
    expected = rocm3d(*words, "--no-cache", "--format=json")

    for _ in range(2):  # without and with an entry in the cache
        assert run_fast_scan([*words, "--format", "json"]) == expected.code
        assert capsys.readouterr().out == expected.out
