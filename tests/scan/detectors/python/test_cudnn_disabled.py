from __future__ import annotations

RULE = "cudnn_disabled"
TORCH = "import torch\n"
SAMPLE = TORCH + "torch.backends.cudnn.enabled = False\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 1)]
