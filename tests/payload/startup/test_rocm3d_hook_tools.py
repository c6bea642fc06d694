from __future__ import annotations

import json
import sys

import pytest

WATCH_IMPORT = """
from rocm3d_hook_tools import after_import
after_import("{name}", lambda module: print("loaded", module.__name__), lambda name, why: print("missed", name, why))
"""


def test_missing_module_is_reported_and_still_raises(run_with_hooks):
    ended, _ = run_with_hooks(
        WATCH_IMPORT.format(name="nobody_has_this")
        + "try:\n  import nobody_has_this\nexcept ImportError: print('fell back')"
    )

    assert ended.stdout.splitlines() == ["missed nobody_has_this not installed", "fell back"]


def test_failing_module_is_reported_with_its_reason(run_with_hooks):
    program = WATCH_IMPORT.format(name="broken") + "try:\n  import broken\nexcept OSError as e: print('raised', e)"
    ended, _ = run_with_hooks(program, broken="raise OSError('libcudart.so.12: no such file')")

    assert ended.stdout.splitlines() == [
        "missed broken OSError: libcudart.so.12: no such file",
        "raised libcudart.so.12: no such file",
    ]


def test_error_in_a_callback_does_not_stop_the_import(run_with_hooks):
    program = (
        "from rocm3d_hook_tools import after_import\nafter_import('good', lambda m: 1 / 0)\nimport good; print(good.x)"
    )
    ended, _ = run_with_hooks(program, good="x = 1")

    assert ended.stdout == "1\n"
    assert "rocm3d: not recorded: ZeroDivisionError" in ended.stderr


def test_each_callback_is_called_once(run_with_hooks):
    program = WATCH_IMPORT.format(name="good") * 2 + "import good\nimport importlib; importlib.reload(good)"
    ended, _ = run_with_hooks(program, good="x = 1")

    assert ended.stdout.splitlines() == ["loaded good"] * 2


def test_a_module_inside_a_package_can_be_waited_for(run_with_hooks):
    ended, _ = run_with_hooks(WATCH_IMPORT.format(name="json.tool") + "import json.tool")

    assert ended.stdout == "loaded json.tool\n"


def test_callback_for_a_loaded_module_is_called_immediately(run_with_hooks):
    ended, _ = run_with_hooks("import json\n" + WATCH_IMPORT.format(name="json"))

    assert ended.stdout == "loaded json\n"


@pytest.mark.usefixtures("hooks")
def test_without_a_report_file_nothing_is_written(monkeypatch, tmp_path):
    import rocm3d_hook_tools

    monkeypatch.delenv("ROCM3D_RECORD", raising=False)
    rocm3d_hook_tools.report_event(kind="a")
    monkeypatch.setenv("ROCM3D_RECORD", str(tmp_path / "r"))
    rocm3d_hook_tools.report_event(kind="b")

    assert json.loads((tmp_path / "r").read_text()) == {"kind": "b"}
    sys.modules.pop("rocm3d_hook_tools")
