from __future__ import annotations

RULE = "ort_cuda_provider"
SAMPLE = "s = ort.InferenceSession(p, providers=['CUDAExecutionProvider', 'CPUExecutionProvider'])\n"


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(3, 40)]
