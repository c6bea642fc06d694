from __future__ import annotations

import libcst as cst
import pytest

from rocm3d.apply.lazy_import import catches, definitions, lazy, tried_on_rocm
from rocm3d.apply.package_use import Package
from rocm3d.apply.rewrite import Refuse

PACKAGE = Package("flash_attn", ("flash_attn_func",), ())


def looked_at(text: str):
    module = cst.parse_module(text)
    return lazy(module.body[0], module, PACKAGE), module


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

    assert catches(block.handlers[0]) is expected


@pytest.mark.parametrize("name", ["flash_attn_func", "_sdpa", "_torch_attention"])
def test_a_name_that_the_module_has_is_not_taken(name):
    with pytest.raises(Refuse, match=f"already defines {name}"):
        definitions(cst.parse_module(f"import torch\nfor {name} in x:\n    pass\n"), {"flash_attn_func"})


def test_what_is_refused_is_left_and_told():
    found, module = looked_at("def f():\n    from flash_attn import other\n    from flash_attn.layers import x\n")

    assert found.statement is module.body[0]
    assert [str(reason) for reason in found.refused] == [
        "flash_attn: no replacement for other",
        "imports more of flash_attn than the functions that have a replacement",
    ]


def test_a_function_without_the_import_stays():
    found, module = looked_at("def f():\n    import os\n")

    assert (found.statement, found.names, found.refused) == (module.body[0], frozenset(), ())


def test_the_names_are_those_of_all_imports():
    found, _ = looked_at("def f():\n    import flash_attn as fa\n    return fa.flash_attn_func\n")

    assert found.names == {"flash_attn_func"}
    assert "            fa = _torch_attention\n" in cst.Module([found.statement]).code


def test_comments_stand_above_the_choice_once():
    line = cst.parse_module("x\n# why\nimport flash_attn  # noqa\n").body[1]

    assert cst.Module([tried_on_rocm(line, [cst.parse_statement("x = 1")])]).code == (
        "# why\nif torch.version.hip is not None:\n    try:\n        import flash_attn  # noqa\n"
        "    except ImportError:\n        x = 1\nelse:\n    import flash_attn  # noqa\n"
    )
