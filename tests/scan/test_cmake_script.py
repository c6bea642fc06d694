from __future__ import annotations

import pytest

from rocm3d.manifest.cmake import read
from rocm3d.scan.cmake_script import commands_with_cuda_optional, mentions_rocm, requires_cuda


def read_cmake(text: str):
    return read("CMakeLists.txt", text.encode())


@pytest.mark.parametrize(
    "text",
    ["", "# if(USE_ROCM)\n", "project(chip)\n", "find_package(Microchip)\n", "message(hip)\n", "if(SHIP)\nendif()\n"],
)
def test_does_not_mention_rocm(text):
    assert not mentions_rocm(read_cmake(text))


@pytest.mark.parametrize(
    "text",
    [
        "if(USE_ROCM)\nendif()\n",
        "if(NOT with_hip)\nendif()\n",
        "find_package(hip REQUIRED)\n",
        "find_package(HIP)\n",
        "enable_language(HIP)\n",
        "project(x LANGUAGES HIP)\n",
        "option(ENABLE_ROCM x)\n",
        "if(HIP_FOUND)\nendif()\n",
    ],
)
def test_mentions_rocm(text):
    assert mentions_rocm(read_cmake(text))


def test_commands_inside_cuda_condition_are_optional():
    text = "a()\nif(X)\nb()\nif(USE_CUDA)\nc()\nelse()\nd()\nendif()\ne()\nendif()\nendif()\nf()\n"
    result = {command.name: optional for command, optional in commands_with_cuda_optional(read_cmake(text))}

    assert result == {"a": False, "b": False, "c": True, "else": True, "d": True, "e": False, "f": False}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("project(x CXX)\n", False),
        ("if(WITH_CUDA)\nenable_language(CUDA)\nendif()\n", False),
        ("project(x LANGUAGES CUDA)\n", True),
        ("find_package(CUDAToolkit REQUIRED)\n", True),
    ],
)
def test_requires_cuda(text, expected):
    assert bool(requires_cuda(read_cmake(text))) is expected
