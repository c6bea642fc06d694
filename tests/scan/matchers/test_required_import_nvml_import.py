from __future__ import annotations

import pytest

RULE = "nvml_import"
SAMPLE = "import pynvml\n"


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n",
        "# import pynvml\n",
        "note = 'import pynvml'\n",
        "import pynvml_like\n",
        "from . import pynvml\n",
        "try:\n    import pynvml\nexcept ImportError:\n    pynvml = None\n",
        "def f():\n    import pynvml\n",
        "if x:\n    import pynvml\n",
        "import\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(1, 1)]),
        ("from pynvml import *\n", [(1, 1)]),
        ("import os, pynvml as nv\r\n", [(1, 1)]),
        ("import pynvml\nfrom pynvml import nvmlInit\nimport GPUtil\n", [(1, 1), (3, 1)]),
        ("s = 'größe 日本'; from pynvml.smi import nvidia_smi\n", [(1, 17)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(3, 1)]


def test_message_names_the_module(findings):
    (finding,) = findings(RULE, "a.py", "from pynvml.smi import nvidia_smi\n")

    assert (finding.code, finding.severity, finding.package) == ("PY401", "error", None)
    assert finding.message == "pynvml is imported at module level; it needs NVIDIA's management library"
