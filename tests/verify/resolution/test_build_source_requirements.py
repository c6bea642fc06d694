from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.verify.resolution.build_source import BuildFiles, read_build_requirements


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_files_have_build_requirements(pyproject, setup):
    assert read_build_requirements(BuildFiles(pyproject, setup)).lines


def test_the_default_is_setuptools():
    assert [line.name for line in read_build_requirements(BuildFiles(setup=b"import os\n")).lines] == ["setuptools"]


def test_what_the_project_itself_needs_is_not_what_its_build_needs():
    pyproject = b'[build-system]\nrequires = ["hatchling"]\n[project]\ndependencies = ["torch"]\n'

    assert [line.name for line in read_build_requirements(BuildFiles(pyproject)).lines] == ["hatchling"]


def test_both_declarations_are_read():
    pyproject = b'[build-system]\nrequires = ["setuptools>=61", "torch"]\n'
    setup = b"from setuptools import setup\nsetup(setup_requires=['ninja'], install_requires=['x'])\n"

    assert [line.text for line in read_build_requirements(BuildFiles(pyproject, setup)).lines] == [
        "setuptools>=61",
        "torch",
        "ninja",
    ]


@pytest.mark.parametrize("setup", [b"import torch", b"def f():\n    from torch.utils import cpp_extension\n"])
def test_imports_of_setup_count(setup):
    assert (
        read_build_requirements(BuildFiles(setup=setup)).describe_use(["torch"], ["torch"])
        == "its setup.py imports torch"
    )


def test_a_relative_import_is_ignored():
    assert read_build_requirements(BuildFiles(setup=b"from . import torch\n")).describe_use(["torch"], ["torch"]) == ""
