from __future__ import annotations

RULE = "triton_num_stages"
TRITON = "import triton\nimport triton.language as tl\n"
SAMPLE = TRITON + "k[g](x, num_warps=8, num_stages=4)\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(5, 22)]
