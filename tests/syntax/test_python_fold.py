from __future__ import annotations

import ast

import pytest

from rocm3d.syntax.python_fold import ROCM_FLAG, ROCM_GUARD, PythonFoldError, folded_dump, imports_torch


@pytest.mark.parametrize("source", [b"if:\n", b"print 'x'\n", b"x = 1\0", b"\xff = 1\n", b"(" * 10_000])
def test_invalid_source_is_unfoldable(source):
    with pytest.raises(PythonFoldError, match="does not parse"):
        folded_dump(source, b"")


def test_invalid_original_is_unfoldable():
    with pytest.raises(PythonFoldError):
        folded_dump(b"x = 1\n", b"if:\n")


@pytest.mark.parametrize("code", ["is_rocm = 1", "def f(is_rocm): pass", "del is_rocm", "import is_rocm"])
def test_misused_flag_is_unfoldable(code):
    source = f"import torch\n{ROCM_FLAG} = {ROCM_GUARD}\n{code}\n".encode()
    with pytest.raises(PythonFoldError, match="for something else"):
        folded_dump(source, b"import torch\n")


def test_deep_expression_is_unfoldable():
    """It parses, but walking the tree exceeds Python's recursion limit."""
    source = ("import torch\nx = " + "+".join(["1"] * 3000) + "\n").encode()
    with pytest.raises(PythonFoldError):
        folded_dump(source, source)


def test_other_names_are_not_folded():
    source = b"import torch\nx = 1 if is_rocm else 2\n"
    assert "is_rocm" in folded_dump(source, source)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1 if is_rocm else 2", "x = 2"),
        ("x = is_rocm", "x = False"),
        ("x = not is_rocm", "x = True"),
        ("x = is_rocm and f()", "x = False"),
        ("x = a and is_rocm and f()", "x = a and False"),
        ("x = f() and is_rocm", "x = f() and False"),
        ("x = not is_rocm or f()", "x = True"),
        ("x = a or is_rocm or b", "x = a or b"),
        ("x = a or is_rocm", "x = a or False"),
        ("x = [y for y in z if is_rocm or y]", "x = [y for y in z if y]"),
        ("def f(x=3 if is_rocm else 4): pass", "def f(x=4): pass"),
        ("if a:\n    if is_rocm:\n        b\n    c", "if a:\n    c"),
        ("x = lambda: 1 if is_rocm else 2", "x = lambda: 2"),
        ("f(*[1] if is_rocm else [2])", "f(*[2])"),
        ("x = f'{1 if is_rocm else 2}'", "x = f'{2}'"),
    ],
)
def test_folded_code(code, expected):
    before = f"import torch\n{expected}\n".encode()
    after = f"import torch\n{ROCM_FLAG} = {ROCM_GUARD}\n{code}\n".encode()
    assert folded_dump(after, before) == ast.dump(ast.parse(before))


@pytest.mark.parametrize(
    "code",
    [
        "",
        "import numpy",
        "import torchvision",
        "from torchvision import x",
        "from . import torch",
        "from .torch import x",
        "def f():\n    import torch",
        "try:\n    import torch\nexcept E:\n    pass",
        "if a:\n    import torch",
        "with a:\n    import torch",
        "class A:\n    import torch",
    ],
)
def test_does_not_always_import_torch(code):
    assert not imports_torch(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "import torch",
        "import a, torch",
        "import torch as th",
        "import torch.nn",
        "from torch import nn",
        "from torch.utils.cpp_extension import load",
        "x = 1\nimport torch",
    ],
)
def test_always_imports_torch(code):
    assert imports_torch(ast.parse(code))
