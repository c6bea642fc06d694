"""The device texts run on an NVIDIA GPU, with HIP's intrinsics spelt in CUDA, against CUDA's functions and PTX."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rocm3d.apply import guarded_lines

pytestmark = pytest.mark.engines
SOURCE = Path(__file__).parent / "emulated" / "on_cuda.cu"
NAMES = sorted(
    path.stem for path in Path(guarded_lines.__file__).with_name("device").glob("*.h") if path.stem != "syncwarp"
)


def has_gpu() -> bool:
    requested = shutil.which("nvidia-smi")
    return requested is not None and subprocess.run(
        [requested, "-L"], capture_output=True, check=False
    ).stdout.startswith(b"GPU")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc on this machine")
    folder = tmp_path_factory.mktemp("cuda")
    (folder / "device_texts.h").write_text("#define __HIP__\n" + guarded_lines.helper_sources(NAMES))
    command = [nvcc, "-std=c++17", "-arch=sm_80", "-I", str(folder), str(SOURCE), "-o", str(folder / "all")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if "cooperative_groups.h: No such file" in built.stderr:
        pytest.skip("nvcc is here without the toolkit's headers")
    assert built.returncode == 0, built.stderr[-4000:]
    return folder / "all"


def test_every_helper_compiles_as_cuda_and_is_called(program):
    text = SOURCE.read_text()

    assert program.is_file()
    assert [name for name in NAMES if f"rocm3d_{name}(" not in text] == ["bit_and", "bit_or", "bit_xor", "wave_peers"]


@pytest.mark.skipif(not has_gpu(), reason="no NVIDIA GPU on this machine")
def test_every_thread_gets_the_same_result(program):
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stdout) == (0, "0 differences\n")
