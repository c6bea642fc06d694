"""Real files: a public wheel with CPU, CUDA and ROCm libraries, and files that the tests compile."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile

import pytest

from rocm3d.model.errors import UserError
from rocm3d.toolchain.inspect import inspect

PUBLIC_WHEEL = "bitsandbytes==0.50.2"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--platform", "manylinux_2_24_x86_64", "--python-version", "3.12", "--dest", str(folder), PUBLIC_WHEEL]
    subprocess.run(command, check=True, capture_output=True)
    (result,) = folder.glob("*.whl")
    return result


@pytest.fixture(scope="session")
def libraries(wheel, tmp_path_factory):
    """Four of its libraries, named by their backend."""
    folder = tmp_path_factory.mktemp("libraries")
    with zipfile.ZipFile(wheel) as archive:
        for kind in ("cpu", "cuda130", "rocm64", "rocm72"):
            with archive.open(f"bitsandbytes/libbitsandbytes_{kind}.so") as source:
                (folder / f"{kind}.so").write_bytes(source.read())
    return folder


def test_no_file(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        inspect(tmp_path)


@pytest.mark.parametrize("data", [b"", b"text", b"\x7fELF", b"MZ" + b"\0" * 100])
def test_other_files_are_refused(tmp_path, data):
    path = tmp_path / "x.so"
    path.write_bytes(data)

    with pytest.raises(UserError, match="neither an ELF file nor a wheel"):
        inspect(path)


def test_a_wheel_without_binaries_has_no_device_code(tmp_path):
    path = tmp_path / "pure-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "pure-1.dist-info/METADATA", "Name: pure\nVersion: 1\nRequires-Dist: torch>=2\n\nRequires-Dist: not this\n"
        )
        archive.writestr("pure/broken.so", "no ELF")

    result = inspect(path)

    assert (result.device, result.binaries, result.distribution, result.requires) == (
        "none",
        (),
        "pure 1",
        ("torch>=2",),
    )


def test_a_cpu_library(libraries):
    (result,) = inspect(libraries / "cpu.so").binaries

    assert (result.device, result.targets, result.cuda) == ("none", (), ())
    assert "libc.so.6" in result.libraries


def test_a_cuda_library(libraries):
    (result,) = inspect(libraries / "cuda130.so").binaries

    assert (result.device, result.targets) == ("cuda", ())
    assert {"sm_80", "sm_90"} <= set(result.cuda)
    assert any(name.startswith("libcudart") for name in result.libraries)


@pytest.mark.parametrize("kind", ["rocm64", "rocm72"], ids=["compressed form 2", "compressed form 3"])
def test_a_library_for_many_amd_targets(libraries, knowledge, kind):
    result = inspect(libraries / f"{kind}.so")

    assert result.device == "amd"
    assert {"gfx90a", "gfx942", "gfx1100", "gfx1201"} <= set(result.gfx)
    (binary,) = result.binaries
    assert len({target.kernels for target in binary.targets}) == 1
    for target in binary.targets:
        assert target.kernels > 100
        assert target.wave_sizes == (knowledge.targets[target.gfx].wave_size,)


def test_the_whole_wheel(wheel):
    result = inspect(wheel)

    assert result.device == "amd and cuda"
    assert result.distribution == "bitsandbytes 0.50.2"
    assert len(result.binaries) > 10


@pytest.mark.parametrize("at", [8, 60, 1000, 200_000])
def test_a_truncated_library_is_refused_or_read(libraries, tmp_path, at):
    path = tmp_path / "cut.so"
    path.write_bytes((libraries / "rocm72.so").read_bytes()[:at])

    with pytest.raises(UserError, match="neither"):
        inspect(path)


def test_damaged_device_code_is_unknown_and_not_none(libraries, tmp_path):
    data = (libraries / "rocm72.so").read_bytes()
    at = data.index(b"CCOB")
    path = tmp_path / "damaged.so"
    path.write_bytes(data[: at + 40] + b"\xff" * 4000 + data[at + 4040 :])

    (result,) = inspect(path).binaries

    assert result.device == "unknown"
    assert "cannot read device code" in result.notes[0]


def test_a_compiled_code_object_and_host_object(toolchain, tmp_path):
    source = tmp_path / "k.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n__global__ void k(int* x) { x[0] = 1; }\nvoid go(int* x) { k<<<1, 1>>>(x); }\n"
    )
    device = toolchain.compile_device(source, "gfx1100", tmp_path / "k.hsaco", ["-O2"]).output
    host = toolchain.compile_host(source, tmp_path / "k.o").output

    assert inspect(device).gfx == ("gfx1100",)
    assert inspect(host).device == "none"


def test_on_the_command_line(rocm3d, libraries, tmp_path):
    shown = rocm3d("inspect", libraries / "rocm72.so", "--expect", "gfx942")
    missing = rocm3d("inspect", libraries / "cuda130.so", "--expect", "gfx942")
    shutil.copy(libraries / "cpu.so", tmp_path / "built.cpython-312-x86_64-linux-gnu.so")
    silent = rocm3d("inspect", tmp_path / "built.cpython-312-x86_64-linux-gnu.so")
    refused = rocm3d("inspect", tmp_path / "nobody.so")

    assert (shown.code, missing.code, silent.code, refused.code) == (0, 1, 0, 2)
    assert "gfx942" in shown.out
    assert "missing targets: gfx942" in missing.err
    assert "CUDA device code only" in missing.out
    assert "no device code: CPU only" in silent.out
    assert "Python 3.12" in silent.out
