from __future__ import annotations

import pytest

from rocm3d.workspace.tree import TreeLimits

RULE = "object_name_collision"


CHANGED = "#include <c10/cuda/CUDAGuard.h>\n"


@pytest.fixture
def collide(scanned):
    def run(*paths: str, text: str = CHANGED):
        return scanned({path: "" if path.endswith(".py") else text for path in paths}, RULE).findings

    return run


@pytest.mark.parametrize(
    "paths",
    [
        ("setup.py", "a.cpp", "a_kernel.cu"),
        ("setup.py", "a.cpp", "a.cu"),  # collides under CUDA already, so it does not occur
        ("setup.py", "a_cuda.cpp", "a_cuda_kernel.cu"),
        ("setup.py", "a.cpp", "cuda/a_cuda.cu"),
        ("setup.py", "a.cpp", "a_hip.cpp"),  # output of hipify
        ("setup.py", "a.h", "a_cuda.cu"),
        ("setup.py", "a.cpp", "a_cuda.cuh"),
        ("setup.py", "a.cpp", "a_cuda.cpp"),  # without a .cu file no pair is reported
        ("CMakeLists.txt", "a.cpp", "a_cuda.cu"),  # no torch, no hipify
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(collide, paths):
    assert collide(*paths) == ()


def test_what_hipify_does_not_change_keeps_its_name(collide, scanned):
    assert collide("setup.py", "a.cpp", "a_cuda.cu", text="int a;\n") == ()
    assert collide("setup.py", "a.cpp", "a_cuda.cu", text='#include "other.h"\n') == ()


@pytest.mark.parametrize(
    ("first", "second", "made"),
    [
        ("ops/ball.cpp", "ops/ball_cuda.cu", "ops/ball_hip.o"),
        ("ball.cc", "ball_cuda.cu", "ball_hip.o"),
        ("cuda/a.cu", "hip/a.cu", "hip/a.o"),
    ],
)
def test_pair(collide, first, second, made):
    (found,) = collide("setup.py", first, second)

    assert (found.path, found.line, found.column) == (first, 1, 1)
    assert (found.code, found.severity) == ("CU508", "error")
    assert found.message == f"{first} and {second} get the same object file after hipify ({made})"


def test_a_source_is_changed_by_the_headers_beside_it(scanned):
    files = {
        "setup.py": "",
        "src/a_cuda.cu": "",
        "src/a.cpp": '#include "a.h"\n',
        "src/a.h": '#include "../b.h"\n',
        "b.h": CHANGED + '#include "src/a.h"\n',
    }

    assert [found.path for found in scanned(files, RULE).findings] == ["src/a.cpp"]


def test_what_cannot_be_read_is_a_warning(scanned):
    files = {"setup.py": "", "a_cuda.cu": "", "a.cpp": CHANGED + "// long\n" * 200}
    (found,) = scanned(files, RULE, limits=TreeLimits(file_bytes=1000)).findings

    assert found.severity == "warning"
