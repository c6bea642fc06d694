from __future__ import annotations

import pytest

from rocm3d.syntax.python import (
    ImportedNames,
    PythonUnit,
    imports,
    keyword_argument,
    positional_arguments,
    unconditional_imports,
)  # fmt: skip


def python_unit(text: str) -> PythonUnit:
    return PythonUnit("a.py", text.encode())


@pytest.mark.parametrize("text", ["", "import\n", "from\n", "from . import a\n", "from .a import b\n", "# import a\n"])
def test_relative_and_incomplete_imports_are_left_out(text):
    assert list(imports(python_unit(text))) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a.b\n", [("a.b", "a.b", "a")]),
        ("import a.b as c, d\n", [("a.b", "a.b", "c"), ("d", "d", "d")]),
        ("from a.b import c, d as e\n", [("a.b", "a.b.c", "c"), ("a.b", "a.b.d", "e")]),
        ("from a import *\n", [("a", "a.*", "")]),
        ("from a import (\n    b,\n)\n", [("a", "a.b", "b")]),
        ("def f():\n    import a\n", [("a", "a", "a")]),
    ],
)
def test_imports(text, expected):
    assert [(entry.module, entry.name, entry.bound) for entry in imports(python_unit(text))] == expected


@pytest.mark.parametrize(
    "around",
    [
        "def f():\n    {}\n",
        "if x:\n    {}\n",
        "if x:\n    pass\nelse:\n    {}\n",
        "try:\n    {}\nexcept ImportError:\n    pass\n",
        "with contextlib.suppress(ImportError):\n    {}\n",
        "match x:\n    case 1:\n        {}\n",
    ],
)
def test_conditional_imports(around):
    assert list(unconditional_imports(python_unit(around.format("import a")))) == []


@pytest.mark.parametrize("around", ["{}\n", "class A:\n    {}\n", "with x:\n    {}\n", "for i in x:\n    {}\n"])
def test_unconditional_imports(around):
    assert [entry.module for entry in unconditional_imports(python_unit(around.format("import a")))] == ["a"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("f()\n", "f"),
        ("import a\na.b.f()\n", "a.b.f"),
        ("import a.b as c\nc.f()\n", "a.b.f"),
        ("from a.b import f\nf()\n", "a.b.f"),
        ("from a import b as c\nc . f()\n", "a.b.f"),
        ("f[0]()\n", ""),
        ("f()()\n", ""),
    ],
)
def test_full_name_of_call(text, name):
    assert next(result for result, _ in ImportedNames(python_unit(text)).calls()) == name


def test_arguments_and_keywords_of_a_call():
    file = python_unit("f(1, # why\n  g(x), a='b' + 'c', **more)\n")
    call = next(file.nodes("call"))
    value = keyword_argument(file, call, "a")

    assert [file.slice(entry) for entry in positional_arguments(call)] == ["1", "g(x)", "**more"]
    assert value is not None
    assert file.slice(value) == "'b' + 'c'"
    assert keyword_argument(file, call, "b") is None
