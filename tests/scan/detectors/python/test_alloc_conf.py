from __future__ import annotations

RULE = "alloc_conf"
CONF = "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = "
SAMPLE = CONF + "'expandable_segments:True'\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 41)]
