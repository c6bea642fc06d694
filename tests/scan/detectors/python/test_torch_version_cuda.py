from __future__ import annotations

RULE = "torch_version_cuda"
TORCH = "import torch\n"
SAMPLE = TORCH + "a = torch.version.cuda.split('.')\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 5)]
