from __future__ import annotations

RULE = "triton_tf32"
TRITON = "import triton\nimport triton.language as tl\n"
SAMPLE = TRITON + 'acc += tl.dot(a, b, input_precision="tf32")\n'


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(5, 21)]
