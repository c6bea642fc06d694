from __future__ import annotations

import json
import sys

import pytest

ASK = """
from rocm3d_hook_tools import after_import
after_import("{name}", lambda module: print("loaded", module.__name__), lambda name, why: print("missed", name, why))
"""


def test_a_module_that_is_not_there_is_told_and_still_missing(told):
    ended, _ = told(
        ASK.format(name="nobody_has_this") + "try:\n  import nobody_has_this\nexcept ImportError: print('fell back')"
    )

    assert ended.stdout.splitlines() == ["missed nobody_has_this not installed", "fell back"]


def test_a_module_that_raises_is_told_with_its_reason_and_raises(told):
    program = ASK.format(name="broken") + "try:\n  import broken\nexcept OSError as e: print('raised', e)"
    ended, _ = told(program, broken="raise OSError('libcudart.so.12: no such file')")

    assert ended.stdout.splitlines() == [
        "missed broken OSError: libcudart.so.12: no such file",
        "raised libcudart.so.12: no such file",
    ]


def test_a_fault_of_ours_stops_no_import(told):
    program = (
        "from rocm3d_hook_tools import after_import\nafter_import('good', lambda m: 1 / 0)\nimport good; print(good.x)"
    )
    ended, _ = told(program, good="x = 1")

    assert ended.stdout == "1\n"
    assert "rocm3d: not recorded: ZeroDivisionError" in ended.stderr


def test_each_who_waits_hears_of_a_module_once(told):
    program = ASK.format(name="good") * 2 + "import good\nimport importlib; importlib.reload(good)"
    ended, _ = told(program, good="x = 1")

    assert ended.stdout.splitlines() == ["loaded good"] * 2


def test_a_module_inside_a_package_can_be_waited_for(told):
    ended, _ = told(ASK.format(name="json.tool") + "import json.tool")

    assert ended.stdout == "loaded json.tool\n"


def test_a_module_that_is_there_is_told_at_once(told):
    ended, _ = told("import json\n" + ASK.format(name="json"))

    assert ended.stdout == "loaded json\n"


@pytest.mark.usefixtures("hooks")
def test_without_a_place_for_reports_nothing_is_written(monkeypatch, tmp_path):
    import rocm3d_hook_tools

    monkeypatch.delenv("ROCM3D_RECORD", raising=False)
    rocm3d_hook_tools.report_event(kind="a")
    monkeypatch.setenv("ROCM3D_RECORD", str(tmp_path / "r"))
    rocm3d_hook_tools.report_event(kind="b")

    assert json.loads((tmp_path / "r").read_text()) == {"kind": "b"}
    sys.modules.pop("rocm3d_hook_tools")
