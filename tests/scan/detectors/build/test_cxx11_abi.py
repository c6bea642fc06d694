from __future__ import annotations

import pytest

RULE = "cxx11_abi"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
NOT_MATCHING = [
    'flags = ["-D_GLIBCXX_USE_CXX11", "-DUSE_HALF=0"]\n',
    '# flags = ["-D_GLIBCXX_USE_CXX11_ABI=0"]\n',
    'abi = int(torch.compiled_with_cxx11_abi())\nflags = [f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]\n',
    'f = ["-D_GLIBCXX_USE_CXX11_ABI=" + str(int(torch._C._GLIBCXX_USE_CXX11_ABI))]\n',
    'f = "-D_GLIBCXX_USE_CXX11_ABI=1" if torch.compiled_with_cxx11_abi() else "-D_GLIBCXX_USE_CXX11_ABI=0"\n',
    'flags = [f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]\n',
    'define_macros = [("WITH_CUDA", None), ("ABI", "0")]\n',
]
MATCHING = [
    ('flags = ["-D_GLIBCXX_USE_CXX11_ABI=0"]\n', [(4, 10)]),
    ('flags = "-O3 -D_GLIBCXX_USE_CXX11_ABI=0"\n', [(4, 14)]),
    ('define_macros = [("_GLIBCXX_USE_CXX11_ABI", "0")]\n', [(4, 18)]),
    ('define_macros = [("_GLIBCXX_USE_CXX11_ABI", 0)]\n', [(4, 18)]),
]


@pytest.mark.parametrize("body", NOT_MATCHING)
def test_no_finding_in_unaffected_code(positions, body):
    assert positions(RULE, "setup.py", IMPORT + body) == []


@pytest.mark.parametrize("path", ["a.cu", "setup.cfg", "notes.txt"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, IMPORT + MATCHING[0][0]) == []


@pytest.mark.parametrize(("body", "expected"), MATCHING)
def test_positions(positions, body, expected):
    assert positions(RULE, "setup.py", IMPORT + body) == expected


def test_crlf_and_invalid_utf8(positions):
    body, expected = MATCHING[0]
    text = b"# \xff\xe9\r\n" + (IMPORT + body).replace("\n", "\r\n").encode()

    assert positions(RULE, "setup.py", text) == [(line + 1, column) for line, column in expected]


@pytest.mark.parametrize("broken", ["(\n", "if\n", "f(", "x = [\n", "def\n", "\u2028\n"])
def test_incomplete_code_does_not_crash(positions, broken):
    assert positions(RULE, "setup.py", IMPORT + broken) == []


def test_cmake(positions):
    assert positions(RULE, "CMakeLists.txt", "# x\nadd_definitions(-D_GLIBCXX_USE_CXX11_ABI=0)\n") == [(2, 1)]
    assert positions(RULE, "CMakeLists.txt", "# add_definitions(-D_GLIBCXX_USE_CXX11_ABI=0)\n") == []


def test_new_abi_is_a_note(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'f = ["-D_GLIBCXX_USE_CXX11_ABI=1"]\n')

    assert finding.severity == "note"


def test_message_names_the_flag(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'f = ["-D_GLIBCXX_USE_CXX11_ABI=0"]\n')

    assert (finding.code, finding.severity) == ("BLD105", "warning")
    assert finding.message.startswith("-D_GLIBCXX_USE_CXX11_ABI=0 hard-codes the C++ ABI;")
