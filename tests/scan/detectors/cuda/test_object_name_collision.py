from __future__ import annotations

import pytest

RULE = "object_name_collision"


@pytest.fixture
def collide(scanned):
    def run(*paths: str):
        return scanned(dict.fromkeys(paths, "x = 1\n"), RULE).findings

    return run


@pytest.mark.parametrize(
    "paths",
    [
        ("setup.py", "a.cpp", "a_kernel.cu"),
        ("setup.py", "a.cpp", "a.cu"),  # collides for CUDA already, so nobody has it
        ("setup.py", "a_cuda.cpp", "a_cuda_kernel.cu"),
        ("setup.py", "a.cpp", "cuda/a_cuda.cu"),
        ("setup.py", "a.cpp", "a_hip.cpp"),  # output of hipify
        ("setup.py", "a.h", "a_cuda.cu"),
        ("setup.py", "a.cpp", "a_cuda.cuh"),
        ("setup.py", "a.cpp", "a_cuda.cpp"),  # host code alone keeps its names unless it is changed
        ("CMakeLists.txt", "a.cpp", "a_cuda.cu"),  # no torch, no hipify
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(collide, paths):
    assert collide(*paths) == ()


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
    assert (found.code, found.severity) == ("CU508", "warning")
    assert found.message == f"{first} and {second} get the same object file after hipify ({made})"
