from __future__ import annotations

import pytest

RULE = "link_cuda_library"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
NOT_MATCHING = [
    'args = ["-lhipsparse", "-lm", "-lcudartx", "-L/usr/lib"]\n',
    '# args = ["-lcusparse"]\n',
    'if torch.version.hip:\n    args = ["-lhipsparse"]\nelse:\n    args = ["-lcusparse"]\n',
    'if os.name == "nt":\n    args = ["-lcusparse"]\n',
    'print("-lcuda")\n',
    'e = CUDAExtension(libraries=["m", "hipblas"], device="cuda")\n',
    'e = CUDAExtension(libraries=["hipblas"] if torch.version.hip else ["cublas"])\n',
    'names = ["cuda", "cublas"]\n',
]
MATCHING = [
    ('args = ["-s", "-lcusparse"]\n', [(4, 15)]),
    ('args += ["-lcuda", "-lnvrtc"]\n', [(4, 10), (4, 20)]),
    ('args = "-L/x -lcublas"\n', [(4, 14)]),
    ('e = CUDAExtension(libraries=["m", "cublas"])\n', [(4, 35)]),
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


@pytest.mark.parametrize(
    "text",
    [
        "project(x CUDA)\n# target_link_libraries(x CUDA::cudart)\n",
        "project(x CUDA)\ntarget_link_libraries(cuda m)\n",
        "project(x)\nif(USE_ROCM)\nendif()\ntarget_link_libraries(x CUDA::cudart)\n",
        "project(x)\nmessage(cublas)\n",
    ],
)
def test_no_finding_in_unaffected_cmake(positions, text):
    assert positions(RULE, "CMakeLists.txt", text) == []


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("project(x CUDA)\n target_link_libraries(x PUBLIC CUDA::cudart_static)\n", "error"),
        ("project(x CUDA)\n link_libraries(cublas)\n", "error"),
        ("add_library(x a.cu)\n target_link_libraries(x cusparse)\n", "note"),
    ],
)
def test_cmake(findings, text, severity):
    (finding,) = findings(RULE, "CMakeLists.txt", text)

    assert (finding.line, finding.column, finding.severity) == (2, 2, severity)


def test_message_names_flag_and_counterpart(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'a = ["-lcusparse"]\n')

    assert (finding.code, finding.message) == ("BLD305", "-lcusparse links a library of the CUDA toolkit: libhipsparse")
