from __future__ import annotations

RULE = "checkpoint_layout"
SPCONV = "import spconv.pytorch as spconv\n"
SAMPLE = SPCONV + "m.load_state_dict(torch.load(p), strict=False)\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 1)]
