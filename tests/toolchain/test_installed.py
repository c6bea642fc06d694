from __future__ import annotations

import pytest

from rocm3d.toolchain.installed import hip_version, installed_rocm, rocm_roots, system_clang

VERSION = "#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n#define HIP_VERSION_PATCH 25424\n"


@pytest.fixture
def root(tmp_path):
    """A folder laid out as an installed ROCm, with a program in the compiler's place."""

    def make(name="rocm", *, clang="llvm/bin/clang++", version=VERSION):
        place = tmp_path / name
        if clang:
            (place / clang).parent.mkdir(parents=True)
            (place / clang).write_text("#!/bin/sh\n")
        if version is not None:
            (place / "include" / "hip").mkdir(parents=True)
            (place / "include" / "hip" / "hip_version.h").write_text(version)
        return place

    return make


def test_no_rocm(tmp_path):
    assert installed_rocm(iter([tmp_path / "nobody"])) is None


@pytest.mark.parametrize("parts", [{"clang": ""}, {"version": None}, {"version": "nothing"}])
def test_half_a_rocm_is_none(root, parts):
    assert installed_rocm(iter([root(**parts)])) is None


@pytest.mark.parametrize("clang", ["llvm/bin/clang++", "lib/llvm/bin/clang++", "bin/amdclang++"])
def test_compiler_and_headers_of_one_root(root, clang):
    place = root(clang=clang)

    found = installed_rocm(iter([place]))

    assert found.command[0] == str(place / clang)
    assert f"--rocm-path={place}" in found.command
    assert (found.about.kind, found.about.hip, found.about.headers) == ("rocm", "7.1.25424", "real")


def test_what_the_user_says_comes_first_then_the_usual_place_newest_first(tmp_path):
    for name in ("rocm-6.4.3", "rocm-7.1.0"):
        (tmp_path / name).mkdir()

    roots = list(rocm_roots({"ROCM_HOME": "/own", "ROCM_PATH": ""}, tmp_path))

    assert str(roots[0]) == "/own"
    assert [path.name for path in roots[-3:]] == ["rocm", "rocm-7.1.0", "rocm-6.4.3"]


def test_version_of_nothing(tmp_path):
    assert hip_version(tmp_path) is None


def test_a_search_path_without_clang(tmp_path):
    assert system_clang("gfx942", str(tmp_path)) is None


def test_a_clang_that_finds_no_device_library_is_none(tmp_path):
    clang = tmp_path / "clang++"
    clang.write_text("#!/bin/sh\nexit 1\n")
    clang.chmod(0o755)

    assert system_clang("gfx942", str(tmp_path)) is None
