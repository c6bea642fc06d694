from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.scan.package_imports import package_of_import, required_imports
from rocm3d.syntax.python import PythonUnit, imports


def python_unit(path: str, text: str) -> PythonUnit:
    return PythonUnit(path, text.encode())


def test_package_does_not_require_itself():
    assert [entry.module for entry in required_imports(python_unit("a/b.py", "import a.c\nimport b\n"))] == ["b"]


@pytest.mark.parametrize("path", ["x.py", "src/latest/x.py", "tests/x.py"])
def test_imports_are_required_in_any_folder(path):
    assert [entry.module for entry in required_imports(python_unit(path, "import a\n"))] == ["a"]


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
def test_package_of_import(known, make_package, text, owned):
    names = {"dotted": "one.two", "part": "plain.part", "plain": "plain"}
    packages = {key: make_package(key, key).model_copy(update={"imports": (name,)}) for key, name in names.items()}
    result = package_of_import(replace(known, packages=packages), next(imports(python_unit("x.py", text))))

    assert (result and (result[0], result[1].id)) == owned
