from __future__ import annotations

import pytest

RULE = "nvcc_probe"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
SILENT = [
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
FOUND = [
    ('subprocess.check_output(["nvcc", "--version"])\n', [(4, 1)]),
    ('x = shutil.which("nvcc")\n', [(4, 5)]),
    ('os.system("nvcc --version")\n', [(4, 1)]),
    ('subprocess.check_output([CUDA_HOME + "/bin/nvcc", "-V"])\n', [(4, 1)]),
    ('run([os.path.join(CUDA_HOME, "bin", "nvcc")])\n', [(4, 1)]),
    ('out = subprocess.run(f"{CUDA_HOME}/bin/nvcc -V")\n', [(4, 7)]),
    ("get_cuda_bare_metal_version(CUDA_HOME)\n", [(4, 1)]),
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


def test_is_not_found_in_a_program_that_builds_nothing(places):
    assert places(RULE, "collect_env.py", 'subprocess.run(["nvcc", "-V"])\n') == []


def test_a_setup_script_without_torch_is_looked_at_too(places):
    assert places(RULE, "sub/setup.py", 'subprocess.run(["nvcc", "-V"])\n') == [(1, 1)]


def test_dockerfile(findings):
    (found,) = findings(RULE, "Dockerfile", "FROM x\nRUN a && \\\n  /usr/local/cuda/bin/nvcc --version\n")

    assert (found.line, found.column, found.severity) == (3, 3, "warning")


def test_dockerfile_that_only_speaks_of_it(places):
    assert places(RULE, "Dockerfile", "FROM x\n# RUN nvcc -V\nRUN echo nvcc\nENV NVCC=nvcc\n") == []


def test_message_quotes_the_call(findings):
    (found,) = findings(RULE, "setup.py", IMPORT + 'shutil.which("nvcc")\n')

    assert (found.code, found.message) == (
        "BLD204",
        'the build looks for nvcc (shutil.which("nvcc")); a ROCm system has none',
    )
