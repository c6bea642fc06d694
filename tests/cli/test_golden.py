from __future__ import annotations

import json
import sys

import pytest

PROGRAM = """
import json, pathlib, sys
out = pathlib.Path("out")
out.mkdir(exist_ok=True)
(out / "metrics.json").write_text(json.dumps({"psnr": float(sys.argv[1]), "steps": 100}))
"""


@pytest.fixture
def recorded(rocm3d, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(name: str, *words: str):
        command = ("golden", "record", "--into", name, "--out", "out", "--", sys.executable, "program.py", *words)
        return rocm3d(*command, cwd=tmp_path)

    return run


def test_no_program_is_refused(rocm3d, tmp_path):
    assert rocm3d("golden", "record", "--into", tmp_path / "a").code == 2


def test_missing_program_exits_4(rocm3d, tmp_path):
    ended = rocm3d("golden", "record", "--into", tmp_path / "a", "--", "nobody-has-this")

    assert ended.code == 4
    assert "nobody-has-this is not installed" in ended.err


def test_failing_program_exits_1_and_names_its_output(recorded):
    ended = recorded("a", "no-number")

    assert ended.code == 1
    assert "the program failed with exit code 1; its output is in a/output.txt" in ended.err


def test_missing_module_output_exits_1(rocm3d, tmp_path):
    ended = rocm3d("golden", "record", "--into", "a", "--module", "UNet", "--", sys.executable, "-c", "1", cwd=tmp_path)

    assert ended.code == 1
    assert "not recorded: UNet: no called module has this class or name" in ended.err


def test_folder_without_a_recording_is_refused(rocm3d, tmp_path):
    ended = rocm3d("golden", "compare", tmp_path, tmp_path)

    assert ended.code == 2
    assert "has no recording.json" in ended.err


def test_two_recordings_are_compared(recorded, rocm3d, tmp_path):
    for name, psnr in (("a", "30"), ("b", "30.0005"), ("c", "29")):
        ended = recorded(name, psnr)
        assert (ended.code, ended.err) == (0, f"1 file recorded in {name}\n")

    same = rocm3d("golden", "compare", "a", "b", cwd=tmp_path)
    other = rocm3d("golden", "compare", "a", "c", "--format", "json", cwd=tmp_path)

    assert same.code == 0
    assert "agrees  metrics.json:psnr: largest error 0.0005, within float32-operator" in same.out
    assert same.err == "2 tensors, 0 differ\n"
    assert other.code == 1
    (psnr, _) = json.loads(other.out)["tensors"]
    assert (psnr["name"], psnr["agrees"], psnr["worst"]["got"]) == ("metrics.json:psnr", False, "29.0")
