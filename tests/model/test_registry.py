from __future__ import annotations

import sys

import pytest

from rocm3d.model.registry import load_module, load_modules, module_names


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with two modules and a module in a subpackage."""
    for path in (
        "walked/__init__.py",
        "walked/two.py",
        "walked/one.py",
        "walked/inner/__init__.py",
        "walked/inner/three.py",
    ):
        (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / path).write_text(f"NAME = {path!r}\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "walked"
    module_names.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "walked"]:
        del sys.modules[name]


def test_a_module_that_does_not_exist_is_refused(package):
    with pytest.raises(ModuleNotFoundError, match="walked"):
        load_module("walked", "four")


def test_two_modules_of_one_name_are_refused(package):
    (package / "inner" / "one.py").write_text("")

    with pytest.raises(AssertionError, match="two modules of walked have the same name"):
        module_names("walked")


def test_names_are_found_without_an_import(package):
    assert module_names("walked") == {"three": "walked.inner.three", "one": "walked.one", "two": "walked.two"}
    assert "walked.one" not in sys.modules


def test_one_module_is_loaded_without_the_others(package):
    assert load_module("walked", "three").NAME == "walked/inner/three.py"
    assert "walked.two" not in sys.modules


def test_all_modules_are_loaded_in_order(package):
    assert [module.NAME for module in load_modules("walked")] == [
        "walked/inner/three.py",
        "walked/one.py",
        "walked/two.py",
    ]
