from __future__ import annotations

import pytest

RULE = "triton_inline_asm"
TRITON = "import triton\nimport triton.language as tl\n"
SAMPLE = TRITON + "y = tl.inline_asm_elementwise('tanh.approx.f32 $0, $1;', '=f,f', [x])\n"


@pytest.mark.parametrize(
    "text",
    [
        "tl.inline_asm_elementwise('x')\n",
        TRITON + "tl.dot(a, b)\n",
        TRITON + "# tl.inline_asm_elementwise('x')\n",
        TRITON + "note = 'inline_asm_elementwise'\n",
        TRITON + "from triton.language.extra import libdevice\nlibdevice.tanh(x)\n",
        TRITON + "tl.math.tanh(x)\n",
        TRITON + "from triton.language.extra.hip import libdevice\n",
        TRITON + "import torch\nif torch.version.hip is None:\n    from triton.language.extra.cuda import libdevice\n",
        TRITON + "f = tl.inline_asm_elementwise\n",
        TRITON + "tl.inline_asm_elementwise(\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(3, 5)]),
        (TRITON + "from triton.language.extra.cuda import libdevice\nlibdevice.tanh(x)\r\n", [(3, 1)]),
        (TRITON + "from triton.language.extra.cuda.libdevice import rsqrt, tanh\n", [(3, 1)]),
        (TRITON + "y = tl.extra.cuda.libdevice.tanh(x)\n", [(3, 5)]),
        ("import triton.language as tl\ns = 'größe 日本'; tl._experimental_descriptor_load(d, o, s, t)\n", [(2, 17)]),
        (
            TRITON + "try:\n    import triton.language.extra.cuda.libdevice as ld\nexcept ImportError:\n    pass\n",
            [(4, 5)],
        ),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(5, 5)]


def test_message_names_the_call(findings):
    (finding,) = findings(RULE, "a.py", "import triton.language as tl\ntl.inline_asm_elementwise('x')\n")

    assert (finding.code, finding.severity) == ("PY503", "error")
    assert finding.message == "a Triton kernel uses tl.inline_asm_elementwise, which is NVIDIA-only: the text is PTX"
