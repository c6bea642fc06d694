from __future__ import annotations

import pytest

RULE = "fast_math"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
SILENT = [
    'flags = ["-O3", "-fno-fast-math", "--use_fast_math", "-ffast-mathx"]\n',
    '# flags = ["-ffast-math"]\n',
    'note = "use -ffast-math"\n',
    'flags = ["-O3", "-ffast-math"] if torch.version.hip else ["-O3"]\n',
    'is_rocm = torch.version.hip is not None\nif is_rocm:\n    flags = ["-ffast-math"]\n',
    'extra = {"cxx": ["-O3", "-ffast-math"], "nvcc": ["-O3"]}\n',
    'extra["cxx"] += ["-ffast-math"]\n',
    'load(extra_cflags=["-ffast-math"])\n',
    'cxx_flags = ["-ffast-math"]\n',
]
FOUND = [
    ('extra = {"cxx": ["-O3"], "nvcc": ["-O3", "-ffast-math"]}\n', [(4, 42)]),
    ('nvcc_flags.append("-ffast-math")\n', [(4, 19)]),
    ('nvcc_flags = "-O3 -Ofast"\n', [(4, 19)]),
    ('load(extra_cuda_cflags=["-ffinite-math-only"])\n', [(4, 25)]),
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


def test_message_names_the_flag(findings):
    (found,) = findings(RULE, "setup.py", IMPORT + 'nvcc = ["-ffast-math"]\n')

    assert (found.code, found.severity) == ("BLD104", "warning")
    assert found.message == (
        "-ffast-math changes results under clang: it assumes no NaN and no infinity, and reorders sums"
    )
