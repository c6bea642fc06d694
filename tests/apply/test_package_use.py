from __future__ import annotations

import libcst as cst
import pytest

from rocm3d.apply.package_use import ReplacedPackage
from rocm3d.apply.rewrite import RewriteRefusedError

PACKAGE = ReplacedPackage("flash_attn", ("flash_attn_func",), ("window_size",))


def imported_names(text: str):
    module = cst.parse_module(text)
    chosen = next(result for result in map(PACKAGE.find_import, module.body) if result)
    return PACKAGE.imported_functions(module, chosen)


@pytest.mark.parametrize("line", ["import os", "from .flash_attn import f", "import flash_attn_interface", "x = 1"])
def test_other_lines_are_no_import_of_the_package(line):
    assert PACKAGE.find_import(cst.parse_module(line).body[0]) is None


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
    with pytest.raises(RewriteRefusedError):
        imported_names(text)


@pytest.mark.parametrize("value", ["(4, 4)", "[1, -1]", "window()", "5"])
def test_call_with_an_unsupported_option_is_refused(value):
    with pytest.raises(RewriteRefusedError, match="window_size"):
        PACKAGE.check_calls(cst.parse_module(f"flash_attn_func(q, k, v, window_size={value})"))


@pytest.mark.parametrize("value", ["(-1, -1)", "[-1, -1]", "None", "window", "self.window", "a if b else c"])
def test_option_that_is_off_or_unknown_is_accepted(value):
    PACKAGE.check_calls(cst.parse_module(f"flash_attn_func(q, k, v, window_size={value})"))


def test_an_import_is_bound_under_its_own_name():
    names = imported_names("import flash_attn as fa\nfa.flash_attn_func(q, k, v)\nassert fa is not None\n")

    assert names.functions == ("flash_attn_func",)
    assert names.bindings.splitlines()[-1] == "fa = SimpleNamespace(flash_attn_func=flash_attn_func)"
