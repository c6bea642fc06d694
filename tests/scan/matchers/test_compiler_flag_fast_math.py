from __future__ import annotations

import pytest

RULE = "fast_math"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
NOT_MATCHING = [
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
MATCHING = [
    ('extra = {"cxx": ["-O3"], "nvcc": ["-O3", "-ffast-math"]}\n', [(4, 42)]),
    ('nvcc_flags.append("-ffast-math")\n', [(4, 19)]),
    ('nvcc_flags = "-O3 -Ofast"\n', [(4, 19)]),
    ('load(extra_cuda_cflags=["-ffinite-math-only"])\n', [(4, 25)]),
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


def test_message_names_the_flag(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'nvcc = ["-ffast-math"]\n')

    assert (finding.code, finding.severity) == ("BLD104", "warning")
    assert finding.message == (
        "-ffast-math changes results under clang: it assumes no NaN and no infinity, and reorders sums"
    )
