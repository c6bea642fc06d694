from __future__ import annotations

import pytest

RULE = "triton_tf32"
TRITON = "import triton\nimport triton.language as tl\n"
FOUND = TRITON + 'acc += tl.dot(a, b, input_precision="tf32")\n'


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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(3, 21)]),
        (TRITON + "tl.dot(a, b, input_precision='tf32x3')\r\n", [(3, 14)]),
        (TRITON + "tl.dot(a, b, allow_tf32=True)\n", [(3, 14)]),
        (TRITON + "allow_tf32 = True\n", [(3, 1)]),
        (TRITON + "def k(x, allow_tf32: tl.constexpr = True):\n    pass\n", [(3, 10)]),
        ("from triton import jit\ns = 'größe 日本'; dot(a, b, allow_tf32=True)\n", [(2, 27)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(5, 21)]


def test_message_quotes_the_argument(findings):
    (found,) = findings(RULE, "a.py", "import triton.language as tl\ntl.dot(a, b, input_precision='tf32')\n")

    assert (found.code, found.severity) == ("PY502", "error")
    assert 'tl.dot requests TF32 (input_precision="tf32")' in found.message
