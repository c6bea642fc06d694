from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocm3d_kernels.__main__ import STARTUP_FOLDER

ROOT = Path(__file__).resolve().parents[3]
RECORDER = ROOT / "src" / "rocm3d" / "payload" / "startup"
PROGRAM = "import simple_knn, sys; print(simple_knn.__rocm3d__)"


def test_drop_ins_are_off_without_the_variable(python):
    assert "No module named 'simple_knn'" in python(PROGRAM, path=[STARTUP_FOLDER], fails=True)
    output = python("import sys; print('rocm3d_kernels' in sys.modules)", path=[STARTUP_FOLDER])
    assert output == "False"


def test_invalid_setting_does_not_stop_the_program(python):
    assert python("print('continues')", path=[STARTUP_FOLDER], ROCM3D_DROPIN="no_such_package") == "continues"


@pytest.mark.stand_ins
@pytest.mark.checkout("the recorder of rocm3d run")
@pytest.mark.parametrize("order", [("dropin", "recorder", "own"), ("recorder", "dropin", "own")])
def test_all_hooks_start_once_in_any_order(python, tmp_path, order):
    """The recorder's folder and ours, before a sitecustomize.py of the environment."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("print('own')\n")
    folders = {"dropin": STARTUP_FOLDER, "recorder": RECORDER, "own": tmp_path / "own"}
    event_file = tmp_path / "told"
    lines = python(
        PROGRAM, path=[folders[name] for name in order],
        ROCM3D_DROPIN="1", ROCM3D_RECORD=str(event_file), ROCM3D_RUN='{"watch": ["simple_knn"], "profile": false}',
    ).splitlines()  # fmt: skip

    assert lines[0] == "own"
    assert [line.split()[0] for line in lines[1:]] == ["rocm3d-kernels"]
    records = [json.loads(line) for line in event_file.read_text().splitlines()]
    assert [line["kind"] for line in records].count("process") == 1
    # The line is the same, whether the drop-in, the recorder or both write it.
    (module,) = {json.dumps(line, sort_keys=True) for line in records if line["kind"] == "module"}
    assert json.loads(module)["stands_in"].startswith("rocm3d-kernels ")
