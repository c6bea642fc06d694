from __future__ import annotations

import pytest

RULE = "cmake_cuda"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "project(x LANGUAGES CXX)\n",
        "project(CUDA)\n",
        "# find_package(CUDA REQUIRED)\n",
        "#[[\nfind_package(CUDA)\n]]\n",
        'message("find_package(CUDA)")\n',
        "message([[\nenable_language(CUDA)\n]])\n",
        "find_package(Torch REQUIRED)\n",
        'option(USE_ROCM "" OFF)\nif(USE_ROCM)\n  enable_language(HIP)\nelse()\n  enable_language(CUDA)\nendif()\n',
        "find_package(CUDA)\nfind_package(hip)\n",
        "project(x LANGUAGES CXX CUDA HIP)\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "CMakeLists.txt", text) == []


@pytest.mark.parametrize("path", ["setup.py", "a.cu", "notes.txt", "Dockerfile"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, "find_package(CUDA REQUIRED)\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("project(x LANGUAGES CXX CUDA)\n", [(1, 1)]),
        ("project(x CUDA CXX)\n", [(1, 1)]),
        ("\n  FIND_PACKAGE(CUDA REQUIRED)\n", [(2, 3)]),
        ("find_package( # why\n  CUDAToolkit 11)\n", [(1, 1)]),
        ("enable_language(CUDA)\r\n\tenable_language(CUDA)\r\n", [(1, 1), (2, 2)]),
        ("include(CheckLanguage)\ncheck_language(CUDA)\n", [(2, 1)]),
        ("cuda_add_library(x a.cu)\n", [(1, 1)]),
        ("# größe 日本\nif(X)\n cuda_add_executable(x a.cu)\nendif()\n", [(3, 2)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "sub/CMakeLists.txt", text) == expected


def test_cmake_module_file(positions):
    assert positions(RULE, "cmake/Cuda.cmake", "find_package(CUDA)\n") == [(1, 1)]


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("find_package(CUDA)\n", "error"),
        ("if(WITH_CUDA)\n  enable_language(CUDA)\nendif()\n", "note"),
        ("if(A)\nelseif(USE_CUDA)\nfind_package(CUDA)\nendif()\n", "note"),
        ("if(WITH_CUDA)\nendif()\nfind_package(CUDA)\n", "error"),
        ("list(APPEND CUDA_NVCC_FLAGS -O3)\n", "note"),
        ("endif()\nfind_package(CUDA)\n", "error"),
    ],
)
def test_optional_cuda_is_a_note(findings, text, severity):
    (finding,) = findings(RULE, "CMakeLists.txt", text)

    assert finding.severity == severity


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "CMakeLists.txt", b"# \xff\xfe\nfind_package(CUDA)\n") == [(2, 1)]


def test_message_quotes_the_command(findings):
    (finding,) = findings(RULE, "CMakeLists.txt", "project(a VERSION 1 LANGUAGES CXX CUDA)\n")

    assert finding.code == "BLD203"
    assert finding.message == "CMake is configured for CUDA (project(a VERSION 1 LANGUAGES ...)): it needs nvcc"
