from __future__ import annotations

import pytest

RULE = "cuda_available_gate"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
NOT_MATCHING = [
    "print(torch.cuda.is_available())\n",
    "# if torch.cuda.is_available():\n",
    'note = "if torch.cuda.is_available():"\n',
    'device = "cuda" if torch.cuda.is_available() else "cpu"\n',
    "if torch.cuda.is_available() or torch.version.hip:\n    pass\n",
    "if torch.version.hip is None:\n    ok = torch.cuda.is_available()\n",
    "if other.cuda.is_available():\n    pass\n",
    "if torch.backends.mps.is_available():\n    pass\n",
]
MATCHING = [
    ("if torch.cuda.is_available() and CUDA_HOME is not None:\n    pass\n", [(4, 4)]),
    ("WITH_CUDA = torch.cuda.is_available() and CUDA_HOME\n", [(4, 13)]),
    ("ok = torch.cuda.is_available()\n", [(4, 6)]),
    ("if not x:\n\tpass\nelif torch.cuda.device_count() > 0:\n\tpass\n", [(6, 6)]),
    ("exts = [e] if torch.cuda.is_available() else []\n", [(4, 15)]),
    ("assert torch.cuda.is_available()\n", [(4, 8)]),
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


def test_no_finding_where_nothing_is_packaged(positions):
    text = "import torch\nfrom torch.utils.cpp_extension import load\nif torch.cuda.is_available():\n    load('x')\n"

    assert positions(RULE, "backend.py", text) == []


def test_force_cuda_makes_it_a_note(findings):
    text = IMPORT + "if torch.cuda.is_available() or os.getenv('FORCE_CUDA') == '1':\n    pass\n"
    (finding,) = findings(RULE, "setup.py", text)

    assert finding.severity == "note"


def test_message_quotes_the_gate(findings):
    (finding,) = findings(RULE, "setup.py", IMPORT + "if torch.cuda.is_available():\n    pass\n")

    assert (finding.code, finding.severity) == ("BLD202", "warning")
    assert "`torch.cuda.is_available()`" in finding.message
