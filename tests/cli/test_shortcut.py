"""What was said before is said again, the same way; everything else is left to the command line."""

from __future__ import annotations

import pytest

from rocm3d.cli.shortcut import answered


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
def test_other_calls_are_left_alone(words, monkeypatch, capsys):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr("rocm3d.recall.recall", never)

    assert answered(words) is None
    assert capsys.readouterr().out == ""


def test_a_folder_that_is_not_there_is_left_to_the_command_line(tmp_path, rocm3d):
    assert answered(["scan", str(tmp_path / "x"), "--format", "json", "-q"]) is None
    ended = rocm3d("scan", tmp_path / "x", "--format", "json", "-q")

    assert (ended.code, ended.out) == (2, "")
    assert "does not exist" in ended.err


@pytest.mark.parametrize("options", [[], ["--only", "CU", "--skip", "CU301"], ["--only", "CU311"]])
def test_the_second_answer_is_the_first(example, rocm3d, tmp_path, monkeypatch, capsys, options):
    root = example("splat-trainer")
    words = ["scan", str(root), "--format", "json", "--quiet", "--work", str(tmp_path / "work"), *options]
    first = rocm3d(*words)
    document = tmp_path / "work" / "inventory.json"
    document.unlink()

    code = answered(words)

    assert code == first.code
    assert capsys.readouterr().out == first.out == document.read_text(encoding="utf-8")
    assert rocm3d(*words) == first


def test_after_a_change_the_command_line_answers(example, rocm3d):
    root = example("splat-trainer")
    words = ["scan", str(root), "--format", "json", "--quiet"]
    first = rocm3d(*words)
    (root / "added.py").write_text("import pynvml\n")

    assert answered(words) is None
    assert "added.py" in rocm3d(*words).out
    assert "added.py" not in first.out
