from __future__ import annotations

import pytest

RULE = "cudnn_disabled"
TORCH = "import torch\n"
FOUND = TORCH + "torch.backends.cudnn.enabled = False\n"


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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(2, 1)]),
        ("import torch.backends.cudnn as cudnn\ncudnn.enabled = False\r\n", [(2, 1)]),
        ("from torch.backends import cudnn\ncudnn.enabled = False\n", [(2, 1)]),
        (TORCH + "s = 'größe 日本'; torch.backends.cudnn.enabled=False\n", [(2, 17)]),
        (TORCH + "def f():\n\ttorch.backends.cudnn.enabled = False\n", [(3, 2)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(4, 1)]


def test_message(findings):
    (found,) = findings(RULE, "a.py", "import torch\ntorch.backends.cudnn.enabled = False\n")

    assert (found.code, found.severity) == ("PY208", "warning")
    assert found.message == "cuDNN is disabled, and with it MIOpen on ROCm"
