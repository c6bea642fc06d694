from __future__ import annotations

import pytest

RULE = "fp8_dtype"
TORCH = "import torch\n"
SAMPLE = TORCH + "x = x.to(torch.float8_e4m3fn)\n"


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "x.to(torch.float16)\n",
        TORCH + "# torch.float8_e4m3fn\n",
        TORCH + "note = 'torch.float8_e4m3fn'\n",
        TORCH + "if x.dtype == torch.float8_e4m3fn:\n    pass\n",
        TORCH + "KNOWN = (torch.float8_e4m3fn, torch.half)\n",
        TORCH + "BITS = {torch.float8_e4m3fn: 8}\n",
        TORCH + "if x.dtype in [torch.float8_e5m2]:\n    pass\n",
        TORCH + "hip = torch.version.hip\nd = torch.float8_e4m3fnuz if hip else torch.float8_e4m3fn\n",
        TORCH + "if torch.version.hip is None:\n    x.to(torch.float8_e4m3fn)\n",
        TORCH + "hasattr(torch, 'float8_e4m3fn')\n",
        TORCH + "torch.float8_e8m0fnu\n",
        TORCH + "torch.float8_\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 10)]),
        (TORCH + "d = torch.float8_e5m2\r\n", [(2, 5)]),
        ("import triton.language as tl\ny = x.to(tl.float8e4nv)\n", [(2, 10)]),
        (TORCH + "a(torch.float8_e4m3fn)\nb(torch.float8_e4m3fn)\nc(torch.float8_e5m2)\n", [(2, 3), (4, 3)]),
        (TORCH + "s = 'größe 日本'; x.view(dtype=torch.float8_e4m3fnuz)\n", [(2, 30)]),
        (TORCH + "t = (f(torch.float8_e4m3fn), 1)\n", [(2, 8)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 10)]


def test_message_names_the_type(findings):
    (finding,) = findings(RULE, "a.py", "import torch\nx.to(torch.float8_e4m3fn)\n")

    assert (finding.code, finding.severity) == ("PY205", "warning")
    assert finding.message.startswith("torch.float8_e4m3fn is used for every target; OCP; ")
