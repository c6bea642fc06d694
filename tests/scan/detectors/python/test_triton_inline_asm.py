from __future__ import annotations

RULE = "triton_inline_asm"
TRITON = "import triton\nimport triton.language as tl\n"
SAMPLE = TRITON + "y = tl.inline_asm_elementwise('tanh.approx.f32 $0, $1;', '=f,f', [x])\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(5, 5)]
