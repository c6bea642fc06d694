from __future__ import annotations

import pytest

RULE = "cxx_standard_pin"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
SILENT = [
    'flags = ["-std=c++17", "-std=c++20", "-std=gnu++17"]\n',
    '# flags = ["-std=c++14"]\n',
    '"""-std=c++14"""\n',
    'note = "we used -std=c++14"\n',
    'print("-std=c++14")\n',
    'if "-std=c++14" in flags:\n    flags.remove("-std=c++14")\n',
    'if torch.version.hip is None:\n    flags = ["-std=c++14"]\n',
    'flags = ["/std:c++14"]\n',
    'if os.name == "nt":\n    flags = ["-std=c++14"]\n',
    'flags = ["-std=c++14x"]\n',
]
FOUND = [
    ('flags = ["-O3", "-std=c++14"]\n', [(4, 17)]),
    ('extra = {"cxx": ["-std=c++11"], "nvcc": ["-std=c++14"]}\n', [(4, 18), (4, 42)]),
    ('flags = "-O3 -std=c++14".split()\n', [(4, 14)]),
    ('flags += ["--std=c++14"]\n', [(4, 11)]),
    ('if os.name != "nt":\n    flags = ["-std=c++14"]\n', [(5, 14)]),
    ('if os.name == "nt":\n    pass\nelse:\n    flags = ["-std=c++14"]\n', [(7, 14)]),
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


def test_is_not_found_in_a_file_that_builds_no_extension(places):
    assert places(RULE, "tool.py", 'flags = ["-std=c++14"]\n') == []


@pytest.mark.parametrize(
    "text",
    [
        "set(CMAKE_CXX_STANDARD 17)\nproject(x LANGUAGES CUDA)\n",
        "set(CMAKE_CXX_STANDARD 14)\nproject(x LANGUAGES CXX)\n",
        "# set(CMAKE_CXX_STANDARD 14)\nproject(x LANGUAGES CUDA)\n",
        "set(MY_CXX_STANDARD 14)\nproject(x LANGUAGES CUDA)\n",
    ],
)
def test_is_not_found_in_other_cmake(places, text):
    assert places(RULE, "CMakeLists.txt", text) == []


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("project(x LANGUAGES CXX CUDA)\n  set(CMAKE_CXX_STANDARD 14)\n", "error"),
        ("project(x CUDA)\n  add_compile_options(-O3 -std=c++14)\n", "error"),
        ("if(WITH_CUDA)\n  set(CMAKE_CUDA_STANDARD 14)\nendif()\n", "note"),
    ],
)
def test_cmake(findings, text, severity):
    (found,) = findings(RULE, "CMakeLists.txt", text)

    assert (found.line, found.column, found.severity) == (2, 3, severity)


def test_message_names_flag_and_reason(findings):
    (found,) = findings(RULE, "setup.py", IMPORT + 'f = ["-std=c++14"]\n')

    assert found.code == "BLD103"
    assert found.message == ("-std=c++14 pins a C++ standard older than the headers need: torch and rocPRIM need C++17")
