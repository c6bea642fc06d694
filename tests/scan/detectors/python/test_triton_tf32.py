from __future__ import annotations

import pytest

RULE = "triton_tf32"
TRITON = "import triton\nimport triton.language as tl\n"
SAMPLE = TRITON + 'acc += tl.dot(a, b, input_precision="tf32")\n'


@pytest.mark.parametrize(
    "text",
    [
        "allow_tf32 = True\n",
        "import torch\ntl.dot(a, b, allow_tf32=True)\n",
        TRITON + "tl.dot(a, b)\n",
        TRITON + "tl.dot(a, b, allow_tf32=False)\n",
        TRITON + "tl.dot(a, b, input_precision='ieee')\n",
        TRITON + "# tl.dot(a, b, allow_tf32=True)\n",
        TRITON + "note = 'allow_tf32=True'\n",
        TRITON + "tl.dot(a, b, allow_tf32=allow_tf32)\n",
        TRITON + "torch.backends.cuda.matmul.allow_tf32 = True\n",
        TRITON + "import torch\nallow_tf32 = not torch.version.hip\n",
        TRITON + "import torch\nif torch.version.hip is None:\n    tl.dot(a, b, allow_tf32=True)\n",
        TRITON + "tl.dot(a, b, input_precision='tf32' if flag else 'ieee')\n",
        TRITON + "tl.dot(a, allow_tf32=\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(3, 21)]),
        (TRITON + "tl.dot(a, b, input_precision='tf32x3')\r\n", [(3, 14)]),
        (TRITON + "tl.dot(a, b, allow_tf32=True)\n", [(3, 14)]),
        (TRITON + "allow_tf32 = True\n", [(3, 1)]),
        (TRITON + "def k(x, allow_tf32: tl.constexpr = True):\n    pass\n", [(3, 10)]),
        ("from triton import jit\ns = 'größe 日本'; dot(a, b, allow_tf32=True)\n", [(2, 27)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(5, 21)]


def test_message_quotes_the_argument(findings):
    (finding,) = findings(RULE, "a.py", "import triton.language as tl\ntl.dot(a, b, input_precision='tf32')\n")

    assert (finding.code, finding.severity) == ("PY502", "error")
    assert 'tl.dot requests TF32 (input_precision="tf32")' in finding.message
