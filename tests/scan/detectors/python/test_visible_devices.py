from __future__ import annotations

RULE = "visible_devices"
OS = "import os\n"
SAMPLE = OS + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 1)]
