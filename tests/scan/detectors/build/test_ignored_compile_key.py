from __future__ import annotations

import pytest

RULE = "ignored_compile_key"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
SILENT = [
    'e = CUDAExtension(extra_compile_args={"cxx": ["-O3"], "nvcc": ["-O3"]})\n',
    'e = CUDAExtension(extra_compile_args=["-O3"])\n',
    'backends = {"cuda": 1, "hip": 2}\n',
    '# extra_compile_args={"hipcc": []}\n',
    'note = "extra_compile_args={hipcc: []}"\n',
    'table["hip"] = 1\n',
    'keys = extra_compile_args["hip"]\n',
    'extra_compile_args = {**base, key: ["-O3"]}\n',
]
FOUND = [
    ('e = CUDAExtension(extra_compile_args={"cxx": ["-O3"], "hipcc": ["-O3"]})\n', [(4, 55)]),
    ('args = {"nvcc": [], "hip": []}\n', [(4, 21)]),
    ('extra_compile_args = {"hip-clang": []}\n', [(4, 23)]),
    ('if torch.version.hip:\n    extra_compile_args["hipcc"] = ["-O3"]\n', [(5, 24)]),
    ('extra_compile_args["cuda"] += ["-O3"]\n', [(4, 20)]),
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
    assert places(RULE, "tool.py", 'extra_compile_args = {"hipcc": []}\n') == []


def test_message_names_the_key(findings):
    (found,) = findings(RULE, "setup.py", IMPORT + 'extra_compile_args = {"hipcc": []}\n')

    assert found.code == "BLD106"
    assert found.message == 'torch does not read the key "hipcc" of extra_compile_args; its flags are lost'
