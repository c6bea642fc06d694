from __future__ import annotations

RULE = "inductor_config"
TORCH = "import torch\n"
SAMPLE = TORCH + "torch._inductor.config.triton.cudagraphs = True\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 1)]
