from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.scan.imported import needed, owner
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.python_names import imports


def unit(path: str, text: str) -> PythonUnit:
    return PythonUnit(path, text.encode())


def test_a_package_does_not_need_itself():
    assert [item.module for item in needed(unit("a/b.py", "import a.c\nimport b\n"))] == ["b"]


@pytest.mark.parametrize("path", ["x.py", "src/latest/x.py", "tests/x.py"])
def test_a_file_needs_its_imports_wherever_it_stands(path):
    assert [item.module for item in needed(unit(path, "import a\n"))] == ["a"]


@pytest.mark.parametrize(
    ("text", "owned"),
    [
        ("import other\n", None),
        ("import one\n", None),
        ("import one.twofold\n", None),
        ("import one.two\n", ("one.two", "dotted")),
        ("from one import two\n", ("one.two", "dotted")),
        ("from one.two.three import f\n", ("one.two.three", "dotted")),
        ("import plain\n", ("plain", "plain")),
        ("import plain.part\n", ("plain.part", "part")),
    ],
)
def test_owner(known, make_package, text, owned):
    names = {"dotted": "one.two", "part": "plain.part", "plain": "plain"}
    packages = {key: make_package(key, key).model_copy(update={"imports": (name,)}) for key, name in names.items()}
    found = owner(replace(known, packages=packages), next(imports(unit("x.py", text))))

    assert (found and (found[0], found[1].id)) == owned
