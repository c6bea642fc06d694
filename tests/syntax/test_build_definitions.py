from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.build_definitions import build_definitions, runs_on_nvidia, source_flags


def settings(path: str, text: str) -> list[str]:
    return [str(item) for item in build_definitions(path, text.encode())]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("setup.py", "x = os.environ.get('USE_ROCM')\n"),
        ("setup.py", "'''Pass -DUSE_ROCM for AMD.'''\n"),
        ("setup.py", "undef_macros=['USE_ROCM']\n"),
        ("setup.py", "if IS_HIP_EXTENSION and x:\n    flags = ['-DUSE_ROCM']\n"),
        ("setup.py", "flags = [] if torch.version.hip is None else ['-DUSE_ROCM']\n"),
        ("setup.py", "if backend == 'rocm':\n    f('-D__HIP_PLATFORM_AMD__=1')\n"),
        ("setup.py", "f('-UUSE_ROCM', '-DUSE_ROCM_TYPES', '--no-DUSE_ROCM')\n"),
        ("CMakeLists.txt", "if(X AND HIP_FOUND)\nadd_definitions(-DUSE_ROCM)\nendif()\n"),
        ("CMakeLists.txt", "if(NOT USE_ROCM)\nelse()\nset(USE_ROCM ON)\nendif()\n"),
        ("CMakeLists.txt", "message(STATUS USE_ROCM)\nunset(USE_ROCM)\nset(USE_ROCM OFF)\n"),
        ("Makefile", "# CXXFLAGS += -DUSE_ROCM\n"),
        ("Makefile", "ifeq ($(GPU),hip)\nCXXFLAGS += -DUSE_ROCM\nendif\n"),
        ("b.sh", 'case "$1" in\n  rocm)\n  export CFLAGS=-DUSE_ROCM\n  ;;\nesac\n'),
        ("Dockerfile.rocm", "ENV CXXFLAGS=-DUSE_ROCM\n"),
        ("README.md", "nvcc -DUSE_ROCM\n"),
    ],
)
def test_rocm_only_and_other_text_defines_nothing(path, text):
    assert settings(path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("setup.py", "if not is_rocm:\n    f('-DUSE_ROCM')\n", "setup.py:2 defines USE_ROCM"),
        ("setup.py", "if torch.version.hip is None:\n    f('-DUSE_ROCM')\n", "setup.py:2 defines USE_ROCM"),
        ("setup.py", "if hasattr(torch.version, 'hip'):\n    f('-DUSE_ROCM')\n", "setup.py:2 defines USE_ROCM"),
        ("setup.py", "define_macros.append(('USE_ROCM', '0'))\n", "setup.py:1 defines USE_ROCM"),
        ("setup.py", "defines = {'USE_ROCM': 1}\n", "setup.py:1 defines USE_ROCM"),
        ("setup.py", "print 'python 2', '-DUSE_ROCM'\n", "setup.py:1 defines USE_ROCM"),
        ("a.cmake", "f(k $<$<COMPILE_LANGUAGE:CUDA>:-DUSE_ROCM>)\n", "a.cmake:1 defines USE_ROCM"),
        ("a.cmake", "if(NOT HIP_FOUND)\nset(USE_ROCM ON)\nendif()\n", "a.cmake:2 sets USE_ROCM"),
        ("a.cmake", "foreach(USE_ROCM a b)\nendforeach()\n", "a.cmake:1 sets USE_ROCM"),
        ("b.sh", "if [ $x ]; then\n  export CFLAGS='-O2 -DUSE_ROCM'\nfi\n", "b.sh:2 defines USE_ROCM"),
        ("Dockerfile", "ENV CXXFLAGS=-D__HIP_PLATFORM_AMD__\n", "Dockerfile:1 defines __HIP_PLATFORM_AMD__"),
        ("pyproject.toml", '[tool.scikit-build.cmake.define]\nUSE_ROCM = "ON"\n', "pyproject.toml:2 sets USE_ROCM"),
    ],
)  # fmt: skip
def test_a_definition_for_nvidia_is_listed(path, text, expected):
    assert settings(path, text) == [expected]


def test_flags_in_a_string_of_a_source():
    assert [str(item) for item in source_flags("a.cpp", b'\nf("-DUSE_ROCM");\n')] == ["a.cpp:2 defines USE_ROCM"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("is_rocm", False),
        ("not is_rocm", True),
        ("torch.version.hip is not None", False),
        ("torch.version.hip == None", True),
        ("ROCM_HOME", False),
        ("x", None),
        ("x and use_hip", False),
        ("x or use_hip", None),
        ("x or not use_hip", True),
        ("ship", None),
        ("hip_a < hip_b < 3", None),
    ],
)
def test_condition_on_nvidia(condition, expected):
    assert runs_on_nvidia(ast.parse(condition, mode="eval").body) is expected


@given(
    st.sampled_from(["setup.py", "CMakeLists.txt", "b.sh", "CMakePresets.json"]),
    st.lists(st.sampled_from(["USE_ROCM", "-D", "if", "(", ")", "\n", "fi", "else", ":", "'", "[", "${", "=", " "])),
)
def test_any_text_is_read(path, parts):
    settings(path, "".join(parts))
