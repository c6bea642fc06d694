from __future__ import annotations

import pytest

RULE = "cuda_home_gate"
IMPORT = "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME, CUDAExtension\n"


@pytest.mark.parametrize(
    "body",
    [
        "print(CUDA_HOME)\n",
        "if MY_CUDA_HOME is None:\n    pass\n",
        "if CUDA_HOME_OLD is None:\n    pass\n",
        "if CUDA_HOME is other:\n    pass\n",
        "# if CUDA_HOME is None:\n",
        'note = "CUDA_HOME is None"\n',
        '"""CUDA_HOME is None"""\n',
        "if CUDA_HOME is not None or torch.version.hip is not None:\n    pass\n",
        "if not (CUDA_HOME is not None or torch.version.hip):\n    raise RuntimeError\n",
        "if torch.version.hip is None:\n    gate = CUDA_HOME is not None\n",
        "is_rocm = torch.version.hip is not None\nif CUDA_HOME is None and not is_rocm:\n    pass\n",
        "is_rocm = torch.version.hip is not None\ngate = True if is_rocm else CUDA_HOME is not None\n",
        "from torch.utils.cpp_extension import ROCM_HOME\nif CUDA_HOME is None and ROCM_HOME is None:\n    pass\n",
        "if torch.version.hip:\n    pass\nelif CUDA_HOME is None:\n    pass\n",
        "if CUDA_HOME is not None and torch.version.cuda is not None:\n    a()\nelif torch.version.hip:\n    b()\n",
        "path = os.path.join(CUDA_HOME, 'bin')\n",
        "if CUDA_HOME == path:\n    pass\n",
        "if CUDA_HOME or torch.version.hip:\n    pass\n",
        "if os.path.exists(CUDA_HOME):\n    pass\n",
        "x = a if torch.version.hip else CUDA_HOME\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, body):
    assert positions(RULE, "setup.py", IMPORT + body) == []


def test_no_finding_in_a_file_that_builds_no_extension(positions):
    assert positions(RULE, "config.py", "CUDA_HOME = None\nif CUDA_HOME is None:\n    pass\n") == []


@pytest.mark.parametrize("path", ["setup.cu", "setup.txt", "requirements.txt"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, IMPORT + "if CUDA_HOME is None:\n    pass\n") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if CUDA_HOME is None:\n    pass\n", [(3, 4)]),
        ("if torch.cuda.is_available() and CUDA_HOME is not None:\n    pass\n", [(3, 34)]),
        ("with_cuda = torch.utils.cpp_extension.CUDA_HOME is not None\n", [(3, 13)]),
        ("if x:\n\tif CUDA_HOME  is   not None:\n\t\tpass\n", [(4, 5)]),
        ("s = 'größe 日本'; ok = CUDA_HOME is None\n", [(3, 22)]),
        ("if torch.version.cuda and CUDA_HOME is None:\n    pass\n", [(3, 27)]),
        ("if CUDA_HOME:\n    pass\n", [(3, 4)]),
        ("if not CUDA_HOME:\n    raise RuntimeError\n", [(3, 8)]),
        ("if (CUDA_HOME):\n    pass\n", [(3, 5)]),
        ("home = CUDA_HOME or '/usr/local/cuda'\n", [(3, 8)]),
        ("ok = torch.cuda.is_available() and CUDA_HOME\n", [(3, 36)]),
        ("ok = bool(cpp_extension.CUDA_HOME)\n", [(3, 11)]),
        ("e = A if CUDA_HOME else B\n", [(3, 10)]),
        ("assert CUDA_HOME, 'no toolkit'\n", [(3, 8)]),
        ("if x:\n    pass\nelif CUDA_HOME != None:\n    pass\n", [(5, 6)]),
    ],
)
def test_positions(positions, body, expected):
    assert positions(RULE, "setup.py", IMPORT + body) == expected


def test_crlf(positions):
    assert positions(RULE, "setup.py", (IMPORT + "if CUDA_HOME is None:\n    pass\n").replace("\n", "\r\n")) == [(3, 4)]


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + IMPORT.encode() + b"if CUDA_HOME is None:\n    pass\n"

    assert positions(RULE, "setup.py", text) == [(5, 4)]


def test_message_quotes_the_gate(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + "if CUDA_HOME is not None:\n    pass\n")

    assert finding.code == "BLD201"
    assert "`CUDA_HOME is not None`" in finding.message
    assert finding.recipe == "cuda-home-gate-accepts-rocm"


@pytest.mark.parametrize(
    ("body", "gate"),
    [("if not CUDA_HOME:\n    pass\n", "not CUDA_HOME"), ("ok = x and CUDA_HOME\n", "CUDA_HOME")],
)
def test_message_quotes_a_gate_without_none(findings, body, gate):
    (finding,) = findings(RULE, "setup.py", IMPORT + body)

    assert f"`{gate}`" in finding.message


@pytest.mark.parametrize(
    "body",
    [
        "if CUDA_HOME is not None and torch.version.cuda is not None:\n    a()\n",  # no ROCm branch
        "if CUDA_HOME is not None:\n    a()\nelif torch.version.hip:\n    b()\n",  # a CUDA toolkit next to a ROCm torch
    ],
)
def test_cuda_check_and_rocm_branch_are_both_needed(positions, body):
    assert positions(RULE, "setup.py", IMPORT + body) == [(3, 4)]
