from __future__ import annotations

import pytest

RULE = "arch_list"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
NOT_MATCHING = [
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
MATCHING = [
    ('os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0"\n', [(4, 1)]),
    ('archs = os.environ["TORCH_CUDA_ARCH_LIST"].split()\n', [(4, 9)]),
    ('os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "8.0")\n', [(4, 1)]),
    ('flags = ["--offload-arch=gfx942"]\n', [(4, 10)]),
    ('if torch.version.hip:\n    flags = ["-O3", "--offload-arch=gfx942"]\n', [(5, 21)]),
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
def test_no_finding_in_other_unaffected_files(positions, path, text):
    assert positions(RULE, path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("CMakeLists.txt", "\n  set(CMAKE_CUDA_ARCHITECTURES 80 86)\n", (2, 3)),
        ("CMakeLists.txt", "set_target_properties(a PROPERTIES CUDA_ARCHITECTURES 80)\n", (1, 1)),
        ("Dockerfile", "FROM x\nENV A=b TORCH_CUDA_ARCH_LIST='8.0 8.6'\n", (2, 1)),
        ("Dockerfile", "FROM x\nENV TORCH_CUDA_ARCH_LIST 8.0\n", (2, 1)),
        ("Dockerfile", "FROM x\nRUN TORCH_CUDA_ARCH_LIST=8.0 pip install .\n", (2, 5)),
        ("Dockerfile", "FROM x\nRUN a && export TORCH_CUDA_ARCH_LIST=8.0\n", (2, 10)),
    ],
)
def test_note_in_other_files(findings, path, text, expected):
    (finding,) = findings(RULE, path, text)

    assert (finding.line, finding.column, finding.severity) == (*expected, "note")


def test_message_names_the_variable(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0"\n')

    assert (finding.code, finding.severity) == ("BLD102", "warning")
    assert finding.message == (
        "TORCH_CUDA_ARCH_LIST hard-codes the build architectures: "
        "it selects NVIDIA architectures; PYTORCH_ROCM_ARCH selects AMD ones"
    )
