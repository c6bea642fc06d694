from __future__ import annotations

import pytest

RULE = "nvcc_flag"
IMPORT = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"


@pytest.mark.parametrize(
    "body",
    [
        'flags = ["-O3", "-std=c++17", "-DUSE_HALF", "-v"]\n',
        '# flags = ["--use_fast_math"]\n',
        'note = "we pass --use_fast_math to nvcc"\n',
        'is_rocm = torch.version.hip is not None\nflags = ["-O3"] if is_rocm else ["--use_fast_math"]\n',
        'flags = ["-O3"] if torch.version.hip else ["--use_fast_math"]\n',
        'if torch.version.hip is None:\n    flags = ["-lineinfo"]\n',
        'if torch.version.hip:\n    flags = []\nelse:\n    flags = ["-lineinfo"]\n',
        'if "-lineinfo" in flags:\n    flags.remove("-lineinfo")\n',
        'print("-lineinfo")\n',
        'if sys.platform == "win32":\n    flags = ["-Xcompiler", "/MD"]\n',
        'flags = ["-Xcompiler=/std:c++17"]\n',
        'flags = ["-arch", "arm64"]\n',
        'flags = [f"-D{name}", f"-{x}", f"-I{root}/include"]\n',
        'flags = ["-U__CUDA_NO_HALF_OPERATORS__", "-U__HIP_NO_HALF_OPERATORS__"]\n',
        'flags = ["-D__CUDA_NO_HALF_OPERATORS__"]\n',
    ],
)
def test_no_finding_in_unaffected_code(positions, body):
    assert positions(RULE, "setup.py", IMPORT + body) == []


def test_no_finding_in_a_docstring(positions):
    """A docstring is not passed to a compiler."""
    text = f'"""--use_fast_math is not for us."""\n{IMPORT}def f():\n    """-gencode is set elsewhere."""\n'

    assert positions(RULE, "setup.py", text) == []


def test_no_finding_in_a_file_that_builds_no_extension(positions):
    assert positions(RULE, "tool.py", 'flags = ["--use_fast_math"]\n') == []


@pytest.mark.parametrize("path", ["a.cu", "CMakeLists.txt", "setup.cfg"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, IMPORT + 'flags = ["--use_fast_math"]\n') == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('flags = ["-O3", "--use_fast_math"]\n', [(3, 17)]),
        ("flags = [\n\t'-gencode=arch=compute_86,code=sm_86',\n]\n", [(4, 2)]),
        ('flags = ["-Xptxas", "-v", "--expt-relaxed-constexpr"]\n', [(3, 10), (3, 27)]),
        ('flags.append("-lineinfo")\n', [(3, 14)]),
        ('flags += ["-lineinfo"]\n', [(3, 11)]),
        ('flags = [f"-gencode=arch=compute_{cc},code=sm_{cc}"]\n', [(3, 10)]),
        ('flags.append(f"-arch={arch}")\n', [(3, 14)]),
        ('flags.append("-arch=" + arch)\n', [(3, 14)]),
        ('flags.append("-arch=%s" % arch)\n', [(3, 14)]),
        ('os.environ["NVCC_FLAGS"] = "-O3 -lineinfo --use_fast_math"\n', [(3, 33), (3, 43)]),
        ('f = f"-O3 -I{größe} -lineinfo"\n', [(3, 21)]),
        ('if os.name != "nt":\n    flags = ["-Xcompiler", "-fPIC"]\n', [(4, 14)]),
        ('flags = ["-O3", "-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__"]\n', [(3, 17)]),
        ('s = "größe 日本"; flags = ["-lineinfo"]\n', [(3, 26)]),
        ('if torch.version.cuda:\n    flags = ["-lineinfo"]\n', [(4, 14)]),
        ('is_rocm = other()\nflags = ["-O3"] if is_rocm else ["-lineinfo"]\n', [(4, 34)]),
    ],
)
def test_positions(positions, body, expected):
    """The position is that of the opening quote. Columns count characters, not bytes."""
    assert positions(RULE, "setup.py", IMPORT + body) == expected


def test_crlf(positions):
    assert positions(RULE, "setup.py", (IMPORT + 'f = ["-lineinfo"]\n').replace("\n", "\r\n")) == [(3, 6)]


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "setup.py", b"# \xff\n" + IMPORT.encode() + b'f = ["-lineinfo"]\n') == [(4, 6)]


def test_message_names_the_whole_flag_and_the_reason_of_its_longest_term(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'f = ["-gencode=arch=compute_86,code=sm_86"]\n')

    assert finding.code == "BLD101"
    assert finding.message == (
        "-gencode=arch=compute_86,code=sm_86 is an nvcc-only flag: "
        "it selects NVIDIA architectures; PYTORCH_ROCM_ARCH selects AMD ones"
    )
    assert finding.recipe == "nvcc-flags-by-backend"


def test_undefined_cuda_macro_is_a_warning(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + 'f = ["-U__CUDA_NO_HALF_OPERATORS__"]\n')

    assert finding.severity == "warning"
    assert "__HIP_NO_HALF_OPERATORS__" in finding.message
