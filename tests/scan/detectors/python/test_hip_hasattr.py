from __future__ import annotations

import pytest

RULE = "hip_hasattr"
TORCH = "import torch\n"
SAMPLE = TORCH + "ok = hasattr(torch.version, 'hip')\n"


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "ok = torch.version.hip is not None\n",
        TORCH + "ok = hasattr(torch.version, 'cuda')\n",
        TORCH + "ok = hasattr(torch, 'hip')\n",
        TORCH + "# hasattr(torch.version, 'hip')\n",
        TORCH + "note = \"hasattr(torch.version, 'hip')\"\n",
        TORCH + "ok = hasattr(torch.version, 'hip') and torch.version.hip is not None\n",
        TORCH + "ok = getattr(torch.version, 'hip', None)\n",
        TORCH + "ok = hasattr(torch.version, name)\n",
        TORCH + "hasattr(torch.version)\n",
        TORCH + "hasattr(\n",
        TORCH + "if torch.version.hip:\n    assert hasattr(torch.version, 'hip')\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 6)]),
        (TORCH + 'if hasattr(torch.version, "hip"):\n    pass\n', [(2, 4)]),
        ("from torch import version\nx = hasattr(version, 'hip')\r\n", [(2, 5)]),
        (TORCH + "s = 'größe 日本'; ok = not hasattr(torch . version, 'hip')\n", [(2, 26)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 6)]


def test_message_quotes_the_test(findings):
    (finding,) = findings(RULE, "a.py", "import torch\nx = hasattr(torch.version, 'hip')\n")

    assert (finding.code, finding.severity) == ("PY202", "warning")
    assert finding.message == "`hasattr(torch.version, 'hip')` is true for every build of torch, so it proves nothing"
