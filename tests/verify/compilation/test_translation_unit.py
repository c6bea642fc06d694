from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.toolchain.hipify import Hipify
from rocm3d.toolchain.torch_kit import TorchFlags, TorchKit
from rocm3d.verify.compilation.build_script import DeclaredExtension
from rocm3d.verify.compilation.translation_unit import hip_flags, hipify_flag, translation_units, uses_gpu_headers

TORCH = TorchKit(
    version="9.9.0",
    generation=2,
    root=Path("/t"),
    include=(Path("/t/hip"), Path("/t/include")),
    cuda_include=(Path("/t/include"),),
    python_include=Path("/p"),
    hipify=Hipify(None),
    flags=TorchFlags(common=("-DUSE_ROCM=1",), device=("-DHIPCC=1",), cuda=("-DNVCC=1",), standard="c++20"),
)


def make_extension(**more) -> DeclaredExtension:
    return DeclaredExtension("p._C", "setup.py", 1, "", more.pop("sources", ("k.cu",)), **more)


@pytest.mark.parametrize(
    ("flag", "hipified"),
    [
        ("-O3", "-O3"),
        ("-Icuda/CUDA", "-Icuda/CUDA"),
        ("-DX=CUDA", "-DX=CUDA"),
        ("-D__CUDA_NO_HALF_OPERATORS__", "-D__HIP_NO_HALF_OPERATORS__"),
        ("-DCUDA_CUDA=CUDA", "-DHIP_CUDA=CUDA"),
    ],
)
def test_names_in_flags_are_translated_as_torch_does(flag, hipified):
    assert hipify_flag(flag) == hipified


def test_device_sources_get_torchs_flags_and_their_own():
    item = make_extension(
        device_flags=("-O2", "-DCUDA_X", "--offload-arch=native"), macros=("-DWITH_CUDA",), include_dirs=("csrc",)
    )

    flags = hip_flags(item, TORCH, device=True)

    assert flags[:2] == ("-O3", "-Icsrc")
    assert {"-DWITH_CUDA", "-DUSE_ROCM=1", "-DHIPCC=1", "-DHIP_X", "-std=c++20", "-DTORCH_EXTENSION_NAME=_C"} <= {
        *flags
    }
    assert "--offload-arch=native" not in flags
    assert flags.index("-O3") < flags.index("-O2")


def test_a_standard_of_the_script_is_not_overridden():
    flags = hip_flags(make_extension(host_flags=("-std=c++17",)), TORCH, device=False)

    assert [flag for flag in flags if flag.startswith("-std")] == ["-std=c++17"]
    assert "-DHIPCC=1" not in flags


def test_without_torch_there_are_only_own_flags():
    assert hip_flags(make_extension(uses_torch=False, macros=("-DX",)), TORCH, device=True) == ("-O3", "-DX")


def test_missing_and_other_sources_are_no_units(tmp_path):
    (tmp_path / "a.py").write_text("")

    assert list(translation_units(make_extension(sources=("gone.cu", "a.py")), tmp_path, {}, TORCH)) == []


def test_only_sources_with_gpu_headers_are_units(tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k() {}\n")
    (tmp_path / "plain.cpp").write_text("#include <vector>\nint f() { return 0; }\n")
    (tmp_path / "ext.cpp").write_text('#include "own.h"\n')
    (tmp_path / "own.h").write_text("#include <torch/extension.h>\n")

    result = list(
        translation_units(make_extension(sources=("k.cu", "plain.cpp", "ext.cpp")), tmp_path, {"k.cu": "k.hip"}, TORCH)
    )

    assert [(unit.source, unit.file, unit.language) for unit in result] == [
        ("k.cu", "k.hip", "hip"),
        ("ext.cpp", "ext.cpp", "c++"),
    ]


def test_headers_that_include_each_other_end(tmp_path):
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n#include "gone.h"\n')

    assert not uses_gpu_headers(tmp_path, "a.h", ["include"])


def test_jit_extensions_get_the_flags_of_load():
    """Device sources get the host flags too, and no flag is hipified."""
    item = make_extension(device_flags=("-DCUDA_X",), host_flags=("-Wall",), include_dirs=("inc",), jit=True)

    device, host = hip_flags(item, TORCH, device=True), hip_flags(item, TORCH, device=False)

    assert {"-DWITH_HIP", "-Wall", "-DUSE_ROCM=1", "-DHIPCC=1", "-DCUDA_X", "-std=c++20", "-Iinc"} <= {*device}
    assert {"-Wall", "-DUSE_ROCM=1", "-std=c++20", "-Iinc"} <= {*host}
    assert not {"-DWITH_HIP", "-DHIPCC=1", "-DCUDA_X"} & {*host}
