from __future__ import annotations

RULE = "fp8_dtype"
TORCH = "import torch\n"
SAMPLE = TORCH + "x = x.to(torch.float8_e4m3fn)\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 10)]
