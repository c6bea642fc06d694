from __future__ import annotations

import libcst as cst
import pytest

from rocm3d.apply.package_use import Package
from rocm3d.apply.rewrite import Refuse

PACKAGE = Package("flash_attn", ("flash_attn_func",), ("window_size",))


def used(text: str):
    module = cst.parse_module(text)
    taken = next(found for found in map(PACKAGE.imports, module.body) if found)
    return PACKAGE.use(module, taken)


@pytest.mark.parametrize("line", ["import os", "from .flash_attn import f", "import flash_attn_interface", "x = 1"])
def test_other_lines_are_no_import_of_the_package(line):
    assert PACKAGE.imports(cst.parse_module(line).body[0]) is None


@pytest.mark.parametrize(
    "text",
    [
        "from flash_attn import other",
        "from flash_attn.layers import flash_attn_func",
        "import flash_attn\nprint(flash_attn)",
        "import flash_attn\nflash_attn.__version__",
    ],
)
def test_more_than_the_known_functions_is_refused(text):
    with pytest.raises(Refuse):
        used(text)


@pytest.mark.parametrize("value", ["(4, 4)", "[1, -1]", "window()", "5"])
def test_a_call_that_asks_for_what_is_missing_is_refused(value):
    with pytest.raises(Refuse, match="window_size"):
        PACKAGE.check_calls(cst.parse_module(f"flash_attn_func(q, k, v, window_size={value})"))


@pytest.mark.parametrize("value", ["(-1, -1)", "[-1, -1]", "None", "window", "self.window", "a if b else c"])
def test_a_value_that_is_off_or_only_known_at_run_time_is_left_to_the_function(value):
    PACKAGE.check_calls(cst.parse_module(f"flash_attn_func(q, k, v, window_size={value})"))


def test_an_import_is_bound_under_its_own_name():
    names = used("import flash_attn as fa\nfa.flash_attn_func(q, k, v)\nassert fa is not None\n")

    assert names.functions == ("flash_attn_func",)
    assert names.instead.splitlines()[-1] == "fa = SimpleNamespace(flash_attn_func=flash_attn_func)"
