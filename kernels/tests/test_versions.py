from __future__ import annotations

import sys
from types import ModuleType

import pytest

from rocm3d_kernels import versions


@pytest.fixture
def installed(monkeypatch):
    """Installs a fake torch of a version; None: no torch."""

    def put(version):
        versions.require.cache_clear()
        module = ModuleType("torch")
        module.__version__ = version
        monkeypatch.setitem(sys.modules, "torch", module if version else None)

    yield put
    versions.require.cache_clear()


def test_a_missing_torch_is_one_clear_line(installed):
    installed(None)

    with pytest.raises(
        versions.MissingRequirementError, match=r"^rocm3d-kernels needs torch >= 2\.11: .*installs neither"
    ):
        versions.require("torch")


@pytest.mark.parametrize("version", ["2.10.3", "1.13", "unknown"])
def test_an_old_version_is_refused(installed, version):
    installed(version)

    with pytest.raises(versions.MissingRequirementError, match=f"found {version}"):
        versions.require("torch")


def test_a_newer_version_gives_a_warning(installed):
    installed("2.14.0+rocm8")

    with pytest.warns(UserWarning, match=r"tested with torch 2\.11 to 2\.13, found 2\.14\.0"):
        assert versions.require("torch").__version__ == "2.14.0+rocm8"
    assert versions.require("torch")  # warns once


@pytest.mark.parametrize("version", ["2.11.0", "2.13.0+cpu", "2.12.1a0+git1"])
def test_tested_versions_give_no_warning(installed, version):
    installed(version)

    assert versions.require("torch").__version__ == version


def test_the_package_itself_imports_neither(python):
    imported = python("import rocm3d_kernels.dropin.finder, sys; print(sorted({'torch', 'triton'} & set(sys.modules)))")

    assert imported == "[]"
