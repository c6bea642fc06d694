from __future__ import annotations

import pytest

from rocm3d.workspace.tree import TreeLimits

RULE = "object_name_collision"


CHANGED = "#include <c10/cuda/CUDAGuard.h>\n"


@pytest.fixture
def collisions(scanned):
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
def test_no_finding_in_unaffected_code(collisions, paths):
    assert collisions(*paths) == ()


def test_unchanged_source_keeps_its_object_name(collisions, scanned):
    assert collisions("setup.py", "a.cpp", "a_cuda.cu", text="int a;\n") == ()
    assert collisions("setup.py", "a.cpp", "a_cuda.cu", text='#include "other.h"\n') == ()


@pytest.mark.parametrize(
    ("first", "second", "object_name"),
    [
        ("ops/ball.cpp", "ops/ball_cuda.cu", "ops/ball_hip.o"),
        ("ball.cc", "ball_cuda.cu", "ball_hip.o"),
        ("cuda/a.cu", "hip/a.cu", "hip/a.o"),
    ],
)
def test_colliding_pair(collisions, first, second, object_name):
    (finding,) = collisions("setup.py", first, second)

    assert (finding.path, finding.line, finding.column) == (first, 1, 1)
    assert (finding.code, finding.severity) == ("CU508", "error")
    assert finding.message == f"{first} and {second} get the same object file after hipify ({object_name})"


def test_source_changes_if_its_headers_change(scanned):
    files = {
        "setup.py": "",
        "src/a_cuda.cu": "",
        "src/a.cpp": '#include "a.h"\n',
        "src/a.h": '#include "../b.h"\n',
        "b.h": CHANGED + '#include "src/a.h"\n',
    }

    assert [finding.path for finding in scanned(files, RULE).findings] == ["src/a.cpp"]


def test_unreadable_source_is_a_warning(scanned):
    files = {"setup.py": "", "a_cuda.cu": "", "a.cpp": CHANGED + "// long\n" * 200}
    (finding,) = scanned(files, RULE, limits=TreeLimits(file_bytes=1000)).findings

    assert finding.severity == "warning"
