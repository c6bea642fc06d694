from __future__ import annotations

from types import SimpleNamespace

import libcst as cst
import pytest

from rocm3d.apply.package_use import ReplacedPackage
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.add_sdpa_path import (
    _catches_import_error,
    _guarded_definitions,
    _ImportsEdit,
    _try_import_on_rocm,
)

PACKAGE = ReplacedPackage("flash_attn", ("flash_attn_func",), ())


def rewrite_function(text: str):
    module = cst.parse_module(text)
    imports = _ImportsEdit(module, PACKAGE)
    statement, functions = imports._edited_statement(module.body[0])
    return SimpleNamespace(statement=statement, functions=functions, refused=imports.refusals), module


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        ("except OSError:", False),
        ("except (OSError, ValueError):", False),
        ("except:", True),
        ("except ImportError as error:", True),
        ("except (OSError, ModuleNotFoundError):", True),
        ("except Exception:", True),
    ],
)
def test_a_handler_that_expects_a_failed_import(handler, expected):
    block = cst.parse_statement(f"try:\n    a\n{handler}\n    b\n")

    assert _catches_import_error(block.handlers[0]) is expected


@pytest.mark.parametrize("name", ["flash_attn_func", "_sdpa", "_torch_attention"])
def test_a_name_that_the_module_uses_is_refused(name):
    with pytest.raises(RewriteRefusedError, match=f"already defines {name}"):
        _guarded_definitions(cst.parse_module(f"import torch\nfor {name} in x:\n    pass\n"), {"flash_attn_func"})


def test_refused_imports_are_unchanged_and_reported():
    result, module = rewrite_function(
        "def f():\n    from flash_attn import other\n    from flash_attn.layers import x\n"
    )

    assert result.statement is module.body[0]
    assert [str(reason) for reason in result.refused] == [
        "flash_attn: no replacement for other",
        "imports more of flash_attn than the functions that have a replacement",
    ]


def test_a_function_without_the_import_stays():
    result, module = rewrite_function("def f():\n    import os\n")

    assert (result.statement, result.functions, result.refused) == (module.body[0], set(), [])


def test_the_names_are_those_of_all_imports():
    result, _ = rewrite_function("def f():\n    import flash_attn as fa\n    return fa.flash_attn_func\n")

    assert result.functions == {"flash_attn_func"}
    assert "            fa = _torch_attention\n" in cst.Module([result.statement]).code


def test_comments_stay_above_the_branch_once():
    line = cst.parse_module("x\n# why\nimport flash_attn  # noqa\n").body[1]

    assert cst.Module([_try_import_on_rocm(line, [cst.parse_statement("x = 1")])]).code == (
        "# why\nif torch.version.hip is not None:\n    try:\n        import flash_attn  # noqa\n"
        "    except ImportError:\n        x = 1\nelse:\n    import flash_attn  # noqa\n"
    )
