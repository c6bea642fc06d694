from __future__ import annotations

import pytest

RULE = "cxx11_abi"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
SILENT = [
    'flags = ["-D_GLIBCXX_USE_CXX11", "-DUSE_HALF=0"]\n',
    '# flags = ["-D_GLIBCXX_USE_CXX11_ABI=0"]\n',
    'abi = int(torch.compiled_with_cxx11_abi())\nflags = [f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]\n',
    'f = ["-D_GLIBCXX_USE_CXX11_ABI=" + str(int(torch._C._GLIBCXX_USE_CXX11_ABI))]\n',
    'f = "-D_GLIBCXX_USE_CXX11_ABI=1" if torch.compiled_with_cxx11_abi() else "-D_GLIBCXX_USE_CXX11_ABI=0"\n',
    'flags = [f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]\n',
    'define_macros = [("WITH_CUDA", None), ("ABI", "0")]\n',
]
FOUND = [
    ('flags = ["-D_GLIBCXX_USE_CXX11_ABI=0"]\n', [(4, 10)]),
    ('flags = "-O3 -D_GLIBCXX_USE_CXX11_ABI=0"\n', [(4, 14)]),
    ('define_macros = [("_GLIBCXX_USE_CXX11_ABI", "0")]\n', [(4, 18)]),
    ('define_macros = [("_GLIBCXX_USE_CXX11_ABI", 0)]\n', [(4, 18)]),
]


@pytest.mark.parametrize("body", SILENT)
def test_is_not_found_where_nothing_is_to_be_done(places, body):
    assert places(RULE, "setup.py", IMPORT + body) == []


@pytest.mark.parametrize("path", ["a.cu", "setup.cfg", "notes.txt"])
def test_is_not_looked_for_in_other_files(places, path):
    assert places(RULE, path, IMPORT + FOUND[0][0]) == []


@pytest.mark.parametrize(("body", "where"), FOUND)
def test_place(places, body, where):
    assert places(RULE, "setup.py", IMPORT + body) == where


def test_crlf_and_odd_bytes_are_survived(places):
    body, where = FOUND[0]
    text = b"# \xff\xe9\r\n" + (IMPORT + body).replace("\n", "\r\n").encode()

    assert places(RULE, "setup.py", text) == [(line + 1, column) for line, column in where]


@pytest.mark.parametrize("broken", ["(\n", "if\n", "f(", "x = [\n", "def\n", "\u2028\n"])
def test_half_written_code_is_survived(places, broken):
    assert places(RULE, "setup.py", IMPORT + broken) == []


def test_cmake(places):
    assert places(RULE, "CMakeLists.txt", "# x\nadd_definitions(-D_GLIBCXX_USE_CXX11_ABI=0)\n") == [(2, 1)]
    assert places(RULE, "CMakeLists.txt", "# add_definitions(-D_GLIBCXX_USE_CXX11_ABI=0)\n") == []


def test_the_new_abi_is_only_a_note(findings):
    (found,) = findings(RULE, "setup.py", IMPORT + 'f = ["-D_GLIBCXX_USE_CXX11_ABI=1"]\n')

    assert found.severity == "note"


def test_message_names_the_flag(findings):
    (found,) = findings(RULE, "setup.py", IMPORT + 'f = ["-D_GLIBCXX_USE_CXX11_ABI=0"]\n')

    assert (found.code, found.severity) == ("BLD105", "warning")
    assert found.message.startswith("-D_GLIBCXX_USE_CXX11_ABI=0 hard-codes the C++ ABI;")
