from __future__ import annotations

import pytest

RULE = "ignored_compile_key"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
NOT_MATCHING = [
    'e = CUDAExtension(extra_compile_args={"cxx": ["-O3"], "nvcc": ["-O3"]})\n',
    'e = CUDAExtension(extra_compile_args=["-O3"])\n',
    'backends = {"cuda": 1, "hip": 2}\n',
    '# extra_compile_args={"hipcc": []}\n',
    'note = "extra_compile_args={hipcc: []}"\n',
    'table["hip"] = 1\n',
    'keys = extra_compile_args["hip"]\n',
    'extra_compile_args = {**base, key: ["-O3"]}\n',
]
MATCHING = [
    ('e = CUDAExtension(extra_compile_args={"cxx": ["-O3"], "hipcc": ["-O3"]})\n', [(4, 55)]),
    ('args = {"nvcc": [], "hip": []}\n', [(4, 21)]),
    ('extra_compile_args = {"hip-clang": []}\n', [(4, 23)]),
    ('if torch.version.hip:\n    extra_compile_args["hipcc"] = ["-O3"]\n', [(5, 24)]),
    ('extra_compile_args["cuda"] += ["-O3"]\n', [(4, 20)]),
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
    assert positions(RULE, "tool.py", 'extra_compile_args = {"hipcc": []}\n') == []


def test_message_names_the_key(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'extra_compile_args = {"hipcc": []}\n')

    assert finding.code == "BLD106"
    assert finding.message == 'torch does not read the key "hipcc" of extra_compile_args; its flags are lost'
