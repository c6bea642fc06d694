from __future__ import annotations

import subprocess
import sys

import pytest

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter, load_rewrite, rewrite_names


def test_a_refusal_carries_its_reason():
    with pytest.raises(RewriteRefusedError, match="not sure"):
        raise RewriteRefusedError("not sure")


def test_rewrites_are_found_by_their_module_names():
    assert {"add_header", "guard_include", "split_compile_flags"} <= rewrite_names()
    assert all(load_rewrite(name).__module__ == f"rocm3d.apply.rewrites.{name}" for name in rewrite_names())


def test_only_the_rewrite_that_is_needed_is_imported():
    program = (
        "import sys; from rocm3d.apply.rewrite import load_rewrite, rewrite_names; rewrite_names()\n"
        "load_rewrite('guard_include')\n"
        "print(*(name for name in sys.modules if 'rewrites.' in name or name.startswith('libcst')))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ended.stdout.split() == ["rocm3d.apply.rewrites.guard_include"]


@pytest.mark.parametrize(
    ("arguments", "expected"), [({}, ()), ({"k": ["a", "b"]}, ("a", "b")), ({"k": "a"}, ("a",)), ({"k": []}, ())]
)
def test_list_parameter(arguments, expected):
    assert list_parameter(arguments, "k") == expected
