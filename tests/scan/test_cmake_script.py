from __future__ import annotations

import pytest

from rocm3d.manifest.cmake import read
from rocm3d.scan.cmake_script import handles_rocm, turns_cuda_on, with_optional


def cmake(text: str):
    return read("CMakeLists.txt", text.encode())


@pytest.mark.parametrize(
    "text",
    ["", "# if(USE_ROCM)\n", "project(chip)\n", "find_package(Microchip)\n", "message(hip)\n", "if(SHIP)\nendif()\n"],
)
def test_knows_nothing_of_rocm(text):
    assert not handles_rocm(cmake(text))


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
def test_knows_of_rocm(text):
    assert handles_rocm(cmake(text))


def test_what_stands_under_a_condition_on_cuda_is_optional():
    text = "a()\nif(X)\nb()\nif(USE_CUDA)\nc()\nelse()\nd()\nendif()\ne()\nendif()\nendif()\nf()\n"
    found = {command.name: optional for command, optional in with_optional(cmake(text))}

    assert found == {"a": False, "b": False, "c": True, "else": True, "d": True, "e": False, "f": False}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("project(x CXX)\n", False),
        ("if(WITH_CUDA)\nenable_language(CUDA)\nendif()\n", False),
        ("project(x LANGUAGES CUDA)\n", True),
        ("find_package(CUDAToolkit REQUIRED)\n", True),
    ],
)
def test_turns_cuda_on(text, expected):
    assert bool(turns_cuda_on(cmake(text))) is expected
