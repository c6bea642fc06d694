from __future__ import annotations

import pytest

RULE = "cuda_available_gate"
IMPORT = "import os\nimport torch\nfrom torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n"
SILENT = [
    "print(torch.cuda.is_available())\n",
    "# if torch.cuda.is_available():\n",
    'note = "if torch.cuda.is_available():"\n',
    'device = "cuda" if torch.cuda.is_available() else "cpu"\n',
    "if torch.cuda.is_available() or torch.version.hip:\n    pass\n",
    "if torch.version.hip is None:\n    ok = torch.cuda.is_available()\n",
    "if other.cuda.is_available():\n    pass\n",
    "if torch.backends.mps.is_available():\n    pass\n",
]
FOUND = [
    ("if torch.cuda.is_available() and CUDA_HOME is not None:\n    pass\n", [(4, 4)]),
    ("WITH_CUDA = torch.cuda.is_available() and CUDA_HOME\n", [(4, 13)]),
    ("ok = torch.cuda.is_available()\n", [(4, 6)]),
    ("if not x:\n\tpass\nelif torch.cuda.device_count() > 0:\n\tpass\n", [(6, 6)]),
    ("exts = [e] if torch.cuda.is_available() else []\n", [(4, 15)]),
    ("assert torch.cuda.is_available()\n", [(4, 8)]),
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


def test_is_not_found_where_nothing_is_packaged(places):
    text = "import torch\nfrom torch.utils.cpp_extension import load\nif torch.cuda.is_available():\n    load('x')\n"

    assert places(RULE, "backend.py", text) == []


def test_a_build_that_can_be_told_otherwise_gets_a_note(findings):
    text = IMPORT + "if torch.cuda.is_available() or os.getenv('FORCE_CUDA') == '1':\n    pass\n"
    (found,) = findings(RULE, "setup.py", text)

    assert found.severity == "note"


def test_message_quotes_the_gate(findings):
    (found,) = findings(RULE, "setup.py", IMPORT + "if torch.cuda.is_available():\n    pass\n")

    assert (found.code, found.severity) == ("BLD202", "warning")
    assert "`torch.cuda.is_available()`" in found.message
