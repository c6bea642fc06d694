from __future__ import annotations

import pytest

RULE = "triton_num_stages"
TRITON = "import triton\nimport triton.language as tl\n"
FOUND = TRITON + "k[g](x, num_warps=8, num_stages=4)\n"


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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(3, 22)]),
        (FOUND.replace("=4", "=" + "9" * 5000), [(3, 22)]),
        (TRITON + "k[g](x, num_stages=4)\nk[g](x, num_stages=5)\r\n", [(3, 9)]),
        (TRITON + "c = [triton.Config({}, num_stages=3), triton.Config({}, num_stages=4)]\n", [(3, 24)]),
        (TRITON + "c = triton.Config({}, num_stages=3)\nk[g](x, num_stages=4)\n", [(4, 9)]),
        (TRITON + "s = 'größe 日本'; k[g](x, num_ctas=2, maxnreg=128)\n", [(3, 25), (3, 37)]),
        ("from triton import language as tl\nfor i in tl.range(n, warp_specialize=True):\n    pass\n", [(2, 22)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(5, 22)]


def test_one_of_many_configurations_is_a_note(findings):
    launch = "import triton\nk[g](x, num_stages=4)\n"
    choice = "import triton\nc = [triton.Config({}, num_stages=4)]\n"

    assert [found.severity for found in findings(RULE, "a.py", launch)] == ["warning"]
    assert [found.severity for found in findings(RULE, "a.py", choice)] == ["note"]


def test_message_names_option_and_value(findings):
    (found,) = findings(RULE, "a.py", "import triton\nk[g](x, num_stages=4)\n")

    assert found.code == "PY501"
    assert found.message == "a Triton kernel sets num_stages=4, tuned for NVIDIA GPUs"
