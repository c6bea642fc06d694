from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.toolchain.hipify import Hipify
from rocm3d.toolchain.torch_kit import TorchFlags, TorchKit
from rocm3d.verify.compilation.declared import Declared
from rocm3d.verify.compilation.unit import concerns, hip_flags, hipified_flag, units

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


def declared(**more) -> Declared:
    return Declared("p._C", "setup.py", 1, "", more.pop("sources", ("k.cu",)), **more)


@pytest.mark.parametrize(
    ("flag", "made"),
    [
        ("-O3", "-O3"),
        ("-Icuda/CUDA", "-Icuda/CUDA"),
        ("-DX=CUDA", "-DX=CUDA"),
        ("-D__CUDA_NO_HALF_OPERATORS__", "-D__HIP_NO_HALF_OPERATORS__"),
        ("-DCUDA_CUDA=CUDA", "-DHIP_CUDA=CUDA"),
    ],
)
def test_names_in_flags_are_translated_as_torch_does(flag, made):
    assert hipified_flag(flag) == made


def test_device_sources_get_torchs_flags_and_their_own():
    item = declared(
        device_flags=("-O2", "-DCUDA_X", "--offload-arch=native"), macros=("-DWITH_CUDA",), include_dirs=("csrc",)
    )

    flags = hip_flags(item, TORCH, device=True)

    assert flags[:2] == ("-O3", "-Icsrc")
    assert {"-DWITH_CUDA", "-DUSE_ROCM=1", "-DHIPCC=1", "-DHIP_X", "-std=c++20", "-DTORCH_EXTENSION_NAME=_C"} <= {
        *flags
    }
    assert "--offload-arch=native" not in flags
    assert flags.index("-O3") < flags.index("-O2")


def test_a_standard_that_is_given_is_not_overridden():
    flags = hip_flags(declared(host_flags=("-std=c++17",)), TORCH, device=False)

    assert [flag for flag in flags if flag.startswith("-std")] == ["-std=c++17"]
    assert "-DHIPCC=1" not in flags


def test_without_torch_there_are_only_their_own():
    assert hip_flags(declared(uses_torch=False, macros=("-DX",)), TORCH, device=True) == ("-O3", "-DX")


def test_a_source_that_is_not_there_or_of_another_language_is_no_unit(tmp_path):
    (tmp_path / "a.py").write_text("")

    assert list(units(declared(sources=("gone.cu", "a.py")), tmp_path, {}, TORCH)) == []


def test_only_what_a_port_concerns_is_a_unit(tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k() {}\n")
    (tmp_path / "plain.cpp").write_text("#include <vector>\nint f() { return 0; }\n")
    (tmp_path / "ext.cpp").write_text('#include "own.h"\n')
    (tmp_path / "own.h").write_text("#include <torch/extension.h>\n")

    found = list(units(declared(sources=("k.cu", "plain.cpp", "ext.cpp")), tmp_path, {"k.cu": "k.hip"}, TORCH))

    assert [(unit.source, unit.file, unit.language) for unit in found] == [
        ("k.cu", "k.hip", "hip"),
        ("ext.cpp", "ext.cpp", "c++"),
    ]


def test_headers_that_include_each_other_end(tmp_path):
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n#include "gone.h"\n')

    assert not concerns(tmp_path, "a.h", ["include"])


def test_what_is_loaded_gets_the_flags_of_load():
    """Device sources get the host flags too, and no flag is hipified."""
    item = declared(device_flags=("-DCUDA_X",), host_flags=("-Wall",), include_dirs=("inc",), jit=True)

    device, host = hip_flags(item, TORCH, device=True), hip_flags(item, TORCH, device=False)

    assert {"-DWITH_HIP", "-Wall", "-DUSE_ROCM=1", "-DHIPCC=1", "-DCUDA_X", "-std=c++20", "-Iinc"} <= {*device}
    assert {"-Wall", "-DUSE_ROCM=1", "-std=c++20", "-Iinc"} <= {*host}
    assert not {"-DWITH_HIP", "-DHIPCC=1", "-DCUDA_X"} & {*host}
