from __future__ import annotations

import pytest

RULE = "triton_num_stages"
TRITON = "import triton\nimport triton.language as tl\n"
SAMPLE = TRITON + "k[g](x, num_warps=8, num_stages=4)\n"


@pytest.mark.parametrize(
    "text",
    [
        "f(num_stages=4)\n",
        TRITON + "k[g](x, num_stages=2)\n",
        TRITON + "k[g](x, num_stages=1, num_warps=16)\n",
        TRITON + "k[g](x, num_stages=n)\n",
        TRITON + "# k[g](x, num_stages=4)\n",
        TRITON + "note = 'num_stages=4'\n",
        TRITON + "num_stages = 4\n",
        TRITON + "k[g](x, num_ctas=1)\n",
        TRITON + "tl.range(n, warp_specialize=False)\n",
        TRITON + "import torch\nif torch.version.hip is None:\n    k[g](x, num_stages=4)\n",
        TRITON + "import torch\nk[g](x, num_stages=2 if torch.version.hip else 4)\n",
        TRITON + "k[g](num_stages=\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(3, 22)]),
        (SAMPLE.replace("=4", "=" + "9" * 5000), [(3, 22)]),
        (TRITON + "k[g](x, num_stages=4)\nk[g](x, num_stages=5)\r\n", [(3, 9)]),
        (TRITON + "c = [triton.Config({}, num_stages=3), triton.Config({}, num_stages=4)]\n", [(3, 24)]),
        (TRITON + "c = triton.Config({}, num_stages=3)\nk[g](x, num_stages=4)\n", [(4, 9)]),
        (TRITON + "s = 'größe 日本'; k[g](x, num_ctas=2, maxnreg=128)\n", [(3, 25), (3, 37)]),
        ("from triton import language as tl\nfor i in tl.range(n, warp_specialize=True):\n    pass\n", [(2, 22)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(5, 22)]


def test_autotune_configuration_is_a_note(findings):
    launch = "import triton\nk[g](x, num_stages=4)\n"
    choice = "import triton\nc = [triton.Config({}, num_stages=4)]\n"

    assert [finding.severity for finding in findings(RULE, "a.py", launch)] == ["warning"]
    assert [finding.severity for finding in findings(RULE, "a.py", choice)] == ["note"]


def test_message_names_option_and_value(findings):
    (finding,) = findings(RULE, "a.py", "import triton\nk[g](x, num_stages=4)\n")

    assert finding.code == "PY501"
    assert finding.message == "a Triton kernel sets num_stages=4, tuned for NVIDIA GPUs"
