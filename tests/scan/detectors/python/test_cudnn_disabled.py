from __future__ import annotations

import pytest

RULE = "cudnn_disabled"
TORCH = "import torch\n"
SAMPLE = TORCH + "torch.backends.cudnn.enabled = False\n"


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "torch.backends.cudnn.enabled = True\n",
        TORCH + "torch.backends.cudnn.benchmark = False\n",
        TORCH + "# torch.backends.cudnn.enabled = False\n",
        TORCH + "note = 'torch.backends.cudnn.enabled = False'\n",
        TORCH + "with torch.backends.cudnn.flags(enabled=False):\n    pass\n",
        TORCH + "config.enabled = False\n",
        TORCH + "torch.backends.cudnn.enabled == False\n",
        TORCH + "if torch.version.hip is None:\n    torch.backends.cudnn.enabled = False\n",
        TORCH + "torch.backends.cudnn.enabled =\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 1)]),
        ("import torch.backends.cudnn as cudnn\ncudnn.enabled = False\r\n", [(2, 1)]),
        ("from torch.backends import cudnn\ncudnn.enabled = False\n", [(2, 1)]),
        (TORCH + "s = 'größe 日本'; torch.backends.cudnn.enabled=False\n", [(2, 17)]),
        (TORCH + "def f():\n\ttorch.backends.cudnn.enabled = False\n", [(3, 2)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 1)]


def test_message(findings):
    (finding,) = findings(RULE, "a.py", "import torch\ntorch.backends.cudnn.enabled = False\n")

    assert (finding.code, finding.severity) == ("PY208", "warning")
    assert finding.message == "cuDNN is disabled, and with it MIOpen on ROCm"
