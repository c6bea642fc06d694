from __future__ import annotations

import pytest

RULE = "arch_list"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
SILENT = [
    'archs = os.environ.get("TORCH_CUDA_ARCH_LIST", "")\n',
    'archs = os.getenv("TORCH_CUDA_ARCH_LIST")\n',
    'if "TORCH_CUDA_ARCH_LIST" in os.environ:\n    archs = os.environ["TORCH_CUDA_ARCH_LIST"]\n',
    'os.environ["TORCH_CUDA_ARCH_LIST"] = ""\n',
    '# os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0"\n',
    'note = "set TORCH_CUDA_ARCH_LIST"\n',
    'if torch.version.hip is None:\n    os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0"\n',
    'table["TORCH_CUDA_ARCH_LIST"] = "8.0"\n',
    'os.environ["PYTORCH_ROCM_ARCH"] = "gfx942"\n',
    'flags = [f"--offload-arch={arch}" for arch in archs]\n',
    'flags = ["--offload-arch=%s" % arch]\n',
    'flags = ["--offload-arch=" + arch]\n',
]
FOUND = [
    ('os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0"\n', [(4, 1)]),
    ('archs = os.environ["TORCH_CUDA_ARCH_LIST"].split()\n', [(4, 9)]),
    ('os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "8.0")\n', [(4, 1)]),
    ('flags = ["--offload-arch=gfx942"]\n', [(4, 10)]),
    ('if torch.version.hip:\n    flags = ["-O3", "--offload-arch=gfx942"]\n', [(5, 21)]),
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
    ("path", "text"),
    [
        ("CMakeLists.txt", "# set(CMAKE_CUDA_ARCHITECTURES 80)\n"),
        ("CMakeLists.txt", "message(CMAKE_CUDA_ARCHITECTURES)\n"),
        ("CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES 80)\nset(CMAKE_HIP_ARCHITECTURES gfx942)\n"),
        ("CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES)\n"),
        ("Dockerfile", "FROM x\nRUN echo TORCH_CUDA_ARCH_LIST=8.0\n"),
        ("Dockerfile", "FROM rocm/pytorch\nENV TORCH_CUDA_ARCH_LIST=8.0\n"),
    ],
)
def test_is_not_found_in_other_files_where_nothing_is_to_be_done(places, path, text):
    assert places(RULE, path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "where"),
    [
        ("CMakeLists.txt", "\n  set(CMAKE_CUDA_ARCHITECTURES 80 86)\n", (2, 3)),
        ("CMakeLists.txt", "set_target_properties(a PROPERTIES CUDA_ARCHITECTURES 80)\n", (1, 1)),
        ("Dockerfile", "FROM x\nENV A=b TORCH_CUDA_ARCH_LIST='8.0 8.6'\n", (2, 1)),
        ("Dockerfile", "FROM x\nENV TORCH_CUDA_ARCH_LIST 8.0\n", (2, 1)),
        ("Dockerfile", "FROM x\nRUN TORCH_CUDA_ARCH_LIST=8.0 pip install .\n", (2, 5)),
        ("Dockerfile", "FROM x\nRUN a && export TORCH_CUDA_ARCH_LIST=8.0\n", (2, 10)),
    ],
)
def test_in_other_files_it_is_a_note(findings, path, text, where):
    (found,) = findings(RULE, path, text)

    assert (found.line, found.column, found.severity) == (*where, "note")


def test_message_names_the_variable(findings):
    (found,) = findings(RULE, "setup.py", IMPORT + 'os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0"\n')

    assert (found.code, found.severity) == ("BLD102", "warning")
    assert found.message == (
        "TORCH_CUDA_ARCH_LIST hard-codes the build architectures: "
        "it selects NVIDIA architectures; PYTORCH_ROCM_ARCH selects AMD ones"
    )
