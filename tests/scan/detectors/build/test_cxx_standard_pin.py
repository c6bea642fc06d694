from __future__ import annotations

import pytest

RULE = "cxx_standard_pin"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
NOT_MATCHING = [
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
MATCHING = [
    ('flags = ["-O3", "-std=c++14"]\n', [(4, 17)]),
    ('extra = {"cxx": ["-std=c++11"], "nvcc": ["-std=c++14"]}\n', [(4, 18), (4, 42)]),
    ('flags = "-O3 -std=c++14".split()\n', [(4, 14)]),
    ('flags += ["--std=c++14"]\n', [(4, 11)]),
    ('if os.name != "nt":\n    flags = ["-std=c++14"]\n', [(5, 14)]),
    ('if os.name == "nt":\n    pass\nelse:\n    flags = ["-std=c++14"]\n', [(7, 14)]),
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


def test_no_finding_in_a_file_that_builds_no_extension(positions):
    assert positions(RULE, "tool.py", 'flags = ["-std=c++14"]\n') == []


@pytest.mark.parametrize(
    "text",
    [
        "set(CMAKE_CXX_STANDARD 17)\nproject(x LANGUAGES CUDA)\n",
        "set(CMAKE_CXX_STANDARD 14)\nproject(x LANGUAGES CXX)\n",
        "# set(CMAKE_CXX_STANDARD 14)\nproject(x LANGUAGES CUDA)\n",
        "set(MY_CXX_STANDARD 14)\nproject(x LANGUAGES CUDA)\n",
    ],
)
def test_no_finding_in_other_cmake(positions, text):
    assert positions(RULE, "CMakeLists.txt", text) == []


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("project(x LANGUAGES CXX CUDA)\n  set(CMAKE_CXX_STANDARD 14)\n", "error"),
        ("project(x CUDA)\n  add_compile_options(-O3 -std=c++14)\n", "error"),
        ("if(WITH_CUDA)\n  set(CMAKE_CUDA_STANDARD 14)\nendif()\n", "note"),
    ],
)
def test_cmake(findings, text, severity):
    (finding,) = findings(RULE, "CMakeLists.txt", text)

    assert (finding.line, finding.column, finding.severity) == (2, 3, severity)


def test_message_names_flag_and_reason(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'f = ["-std=c++14"]\n')

    assert finding.code == "BLD103"
    assert finding.message == (
        "-std=c++14 pins a C++ standard older than the headers need: torch and rocPRIM need C++17"
    )
