from __future__ import annotations

import pytest

from rocm3d.manifest.manifest import read_manifests
from rocm3d.scan.python_ranges import python_versions


def ranges(path: str, text: str) -> list[tuple[str, bool, int]]:
    units = read_manifests(path, lambda _: text.encode())
    return [(item.specifier, item.required, item.location.line) for unit in units for item in python_versions(unit)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("packages/client/pyproject.toml", '[project]\nrequires-python = ">=3.7"\n'),
        ("a/b/Dockerfile", "FROM python:3.9\n"),
        ("tests/.python-version", "3.9\n"),
        ("examples/Dockerfile", "FROM python:3.9\n"),
        (".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: conda create -n x python=3.9\n"),
        ("pyproject.toml", "[project]\nrequires-python = 3\n"),
        ("pyproject.toml", '[project]\nrequires-python = "newest"\n'),
        ("setup.py", "from setuptools import setup\nsetup(python_requires=VERSION)\n"),
        ("setup.cfg", "[options]\npython_requires = yes\n"),
        ("Dockerfile", "FROM nvidia/cuda:12.1.0-devel-ubuntu22.04\nFROM my-python:3.10x\n"),
        ("requirements.txt", "numpy ; python_version < '3.11'\n"),
    ],
)
def test_nothing_is_named_for_the_repository(path, text):
    assert ranges(path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "specifier"),
    [
        ("pyproject.toml", '[project]\nrequires-python = ">=3.8,<3.13"\n', "<3.13,>=3.8"),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.10"\n', ">=3.10,<4"),
        ("setup.py", "from setuptools import setup\nsetup(python_requires='>=3.9')\n", ">=3.9"),
        ("setup.cfg", "[options]\npython_requires = >=3.9\n", ">=3.9"),
    ],
)
def test_what_an_installer_refuses_is_required(path, text, specifier):
    assert ranges(path, text) == [(specifier, True, 2)]


@pytest.mark.parametrize(
    ("path", "text", "specifier"),
    [
        ("environment.yml", "dependencies:\n  - python=3.10\n", "==3.10.*"),
        ("environment.yml", "dependencies:\n  - python>=3.8, <3.11\n", "<3.11,>=3.8"),
        ("README.md", "```bash\nconda create -n x python=3.10 -y\n```\n", "==3.10.*"),
        ("setup.sh", "set -e\nconda create -n x python=3.10\n", "==3.10.*"),
        ("docker/Dockerfile", "# base\nFROM python:3.10-slim\n", "==3.10.*"),
        ("Dockerfile", "# base\nFROM rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.3.0\n", "==3.10.*"),
        ("pixi.toml", '[dependencies]\npython = ">=3.8,<3.11"\n', "<3.11,>=3.8"),
        ("Pipfile", '[requires]\npython_version = "3.10"\n', "==3.10.*"),
        (".python-version", "\n3.10\n", "==3.10.*"),
    ],
)
def test_an_environment_states_its_python(path, text, specifier):
    assert ranges(path, text) == [(specifier, False, 2)]


def test_a_scan_has_all_of_them_in_order(scanned):
    files = {"pyproject.toml": '[project]\nrequires-python = ">=3.8"\n', ".python-version": "3.10\n"}

    inventory = scanned(files).inventory

    assert [(item.specifier, item.location.path) for item in inventory.pythons] == [
        ("==3.10.*", ".python-version"),
        (">=3.8", "pyproject.toml"),
    ]


def test_dependencies_of_extras_are_optional(scanned):
    text = '[project]\ndependencies = ["numpy"]\n[project.optional-dependencies]\ndev = ["pytest"]\n'

    dependencies = scanned({"pyproject.toml": text}).inventory.dependencies

    assert {item.name: item.optional for item in dependencies} == {"numpy": False, "pytest": True}
