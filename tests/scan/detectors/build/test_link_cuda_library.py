from __future__ import annotations

import pytest

RULE = "link_cuda_library"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
SILENT = [
    'args = ["-lhipsparse", "-lm", "-lcudartx", "-L/usr/lib"]\n',
    '# args = ["-lcusparse"]\n',
    'if torch.version.hip:\n    args = ["-lhipsparse"]\nelse:\n    args = ["-lcusparse"]\n',
    'if os.name == "nt":\n    args = ["-lcusparse"]\n',
    'print("-lcuda")\n',
    'e = CUDAExtension(libraries=["m", "hipblas"], device="cuda")\n',
    'e = CUDAExtension(libraries=["hipblas"] if torch.version.hip else ["cublas"])\n',
    'names = ["cuda", "cublas"]\n',
]
FOUND = [
    ('args = ["-s", "-lcusparse"]\n', [(4, 15)]),
    ('args += ["-lcuda", "-lnvrtc"]\n', [(4, 10), (4, 20)]),
    ('args = "-L/x -lcublas"\n', [(4, 14)]),
    ('e = CUDAExtension(libraries=["m", "cublas"])\n', [(4, 35)]),
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


@pytest.mark.parametrize(
    "text",
    [
        "project(x CUDA)\n# target_link_libraries(x CUDA::cudart)\n",
        "project(x CUDA)\ntarget_link_libraries(cuda m)\n",
        "project(x)\nif(USE_ROCM)\nendif()\ntarget_link_libraries(x CUDA::cudart)\n",
        "project(x)\nmessage(cublas)\n",
    ],
)
def test_is_not_found_in_cmake_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "CMakeLists.txt", text) == []


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("project(x CUDA)\n target_link_libraries(x PUBLIC CUDA::cudart_static)\n", "error"),
        ("project(x CUDA)\n link_libraries(cublas)\n", "error"),
        ("add_library(x a.cu)\n target_link_libraries(x cusparse)\n", "note"),
    ],
)
def test_cmake(findings, text, severity):
    (found,) = findings(RULE, "CMakeLists.txt", text)

    assert (found.line, found.column, found.severity) == (2, 2, severity)


def test_message_names_flag_and_counterpart(findings):
    (found,) = findings(RULE, "setup.py", IMPORT + 'a = ["-lcusparse"]\n')

    assert (found.code, found.message) == ("BLD305", "-lcusparse links a library of the CUDA toolkit: libhipsparse")
