from __future__ import annotations

RULE = "jit_extension"
LOAD = "from torch.utils.cpp_extension import load\n"
SAMPLE = LOAD + "b = load(name='x', sources=['a.cpp', 'b.cu'])\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 5)]
