from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.verify.resolution.build_needs import build_needs
from rocm3d.verify.resolution.build_source import BuildFiles


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_files_are_survived_and_something_builds_them(pyproject, setup):
    assert build_needs(BuildFiles(pyproject, setup)).lines


def test_without_a_word_it_is_setuptools():
    assert [line.name for line in build_needs(BuildFiles(setup=b"import os\n")).lines] == ["setuptools"]


def test_what_the_project_itself_needs_is_not_what_its_build_needs():
    pyproject = b'[build-system]\nrequires = ["hatchling"]\n[project]\ndependencies = ["torch"]\n'

    assert [line.name for line in build_needs(BuildFiles(pyproject)).lines] == ["hatchling"]


def test_both_ways_to_ask_are_read():
    pyproject = b'[build-system]\nrequires = ["setuptools>=61", "torch"]\n'
    setup = b"from setuptools import setup\nsetup(setup_requires=['ninja'], install_requires=['x'])\n"

    assert [line.text for line in build_needs(BuildFiles(pyproject, setup)).lines] == [
        "setuptools>=61",
        "torch",
        "ninja",
    ]


@pytest.mark.parametrize("setup", [b"import torch", b"def f():\n    from torch.utils import cpp_extension\n"])
def test_imports_of_setup_count(setup):
    assert build_needs(BuildFiles(setup=setup)).wants(["torch"], ["torch"]) == "its setup.py imports torch"


def test_a_folder_of_its_own_is_no_import_of_that_name():
    assert build_needs(BuildFiles(setup=b"from . import torch\n")).wants(["torch"], ["torch"]) == ""
