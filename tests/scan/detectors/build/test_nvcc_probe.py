from __future__ import annotations

import pytest

RULE = "nvcc_probe"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
NOT_MATCHING = [
    'extra_compile_args = {"cxx": [], "nvcc": []}\n',
    'extra_compile_args["nvcc"] = ["-O3"]\n',
    'print("nvcc")\n',
    '# shutil.which("nvcc")\n',
    'note = "run nvcc --version"\n',
    'shutil.which("hipcc")\n',
    'subprocess.check_output(["git", "nvcc"][0])\n'.replace('"nvcc"', '"nvccx"'),
    'if torch.version.hip is None:\n    shutil.which("nvcc")\n',
    'os.path.join("nvcc_stuff", "a")\n',
    "def get_cuda_bare_metal_version(d):\n    return 1\nget_cuda_bare_metal_version(CUDA_HOME)\n",
]
MATCHING = [
    ('subprocess.check_output(["nvcc", "--version"])\n', [(4, 1)]),
    ('x = shutil.which("nvcc")\n', [(4, 5)]),
    ('os.system("nvcc --version")\n', [(4, 1)]),
    ('subprocess.check_output([CUDA_HOME + "/bin/nvcc", "-V"])\n', [(4, 1)]),
    ('run([os.path.join(CUDA_HOME, "bin", "nvcc")])\n', [(4, 1)]),
    ('out = subprocess.run(f"{CUDA_HOME}/bin/nvcc -V")\n', [(4, 7)]),
    ("get_cuda_bare_metal_version(CUDA_HOME)\n", [(4, 1)]),
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


def test_no_finding_in_a_program_that_builds_nothing(positions):
    assert positions(RULE, "collect_env.py", 'subprocess.run(["nvcc", "-V"])\n') == []


def test_setup_script_without_torch_is_searched(positions):
    assert positions(RULE, "sub/setup.py", 'subprocess.run(["nvcc", "-V"])\n') == [(1, 1)]


def test_dockerfile(findings):
    (finding,) = findings(RULE, "Dockerfile", "FROM x\nRUN a && \\\n  /usr/local/cuda/bin/nvcc --version\n")

    assert (finding.line, finding.column, finding.severity) == (3, 3, "warning")


def test_dockerfile_without_an_nvcc_call(positions):
    assert positions(RULE, "Dockerfile", "FROM x\n# RUN nvcc -V\nRUN echo nvcc\nENV NVCC=nvcc\n") == []


def test_message_quotes_the_call(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'shutil.which("nvcc")\n')

    assert (finding.code, finding.message) == (
        "BLD204",
        'the build looks for nvcc (shutil.which("nvcc")); a ROCm system has none',
    )
