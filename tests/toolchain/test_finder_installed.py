from __future__ import annotations

import pytest

from rocm3d.toolchain.finder import hip_version, installed_rocm, rocm_roots, system_clang

VERSION = "#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n#define HIP_VERSION_PATCH 25424\n"


@pytest.fixture
def root(tmp_path):
    """A folder laid out as an installed ROCm, with a program in the compiler's place."""

    def make(name="rocm", *, clang="llvm/bin/clang++", version=VERSION):
        rocm_root = tmp_path / name
        if clang:
            (rocm_root / clang).parent.mkdir(parents=True)
            (rocm_root / clang).write_text("#!/bin/sh\n")
        if version is not None:
            (rocm_root / "include" / "hip").mkdir(parents=True)
            (rocm_root / "include" / "hip" / "hip_version.h").write_text(version)
        return rocm_root

    return make


def test_no_rocm(tmp_path):
    assert installed_rocm(iter([tmp_path / "nobody"])) is None


@pytest.mark.parametrize("parts", [{"clang": ""}, {"version": None}, {"version": "nothing"}])
def test_an_incomplete_rocm_is_ignored(root, parts):
    assert installed_rocm(iter([root(**parts)])) is None


@pytest.mark.parametrize("clang", ["llvm/bin/clang++", "lib/llvm/bin/clang++", "bin/amdclang++"])
def test_compiler_and_headers_of_one_root(root, clang):
    rocm_root = root(clang=clang)

    compiler = installed_rocm(iter([rocm_root]))

    assert compiler.command[0] == str(rocm_root / clang)
    assert f"--rocm-path={rocm_root}" in compiler.command
    assert (compiler.about.kind, compiler.about.hip, compiler.about.headers) == ("rocm", "7.1.25424", "real")


def test_roots_are_ordered_by_variables_then_newest_default(tmp_path):
    for name in ("rocm-6.4.3", "rocm-7.1.0"):
        (tmp_path / name).mkdir()

    roots = list(rocm_roots({"ROCM_HOME": "/own", "ROCM_PATH": ""}, tmp_path))

    assert str(roots[0]) == "/own"
    assert [path.name for path in roots[-3:]] == ["rocm", "rocm-7.1.0", "rocm-6.4.3"]


def test_no_version_without_a_header(tmp_path):
    assert hip_version(tmp_path) is None


def test_a_search_path_without_clang(tmp_path):
    assert system_clang("gfx942", str(tmp_path)) is None


def test_a_clang_without_a_device_library_is_ignored(tmp_path):
    clang = tmp_path / "clang++"
    clang.write_text("#!/bin/sh\nexit 1\n")
    clang.chmod(0o755)

    assert system_clang("gfx942", str(tmp_path)) is None
