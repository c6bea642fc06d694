from __future__ import annotations

import pytest

RULE = "compile_mode"
TORCH = "import torch\n"
SAMPLE = TORCH + 'm = torch.compile(m, mode="reduce-overhead")\n'


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "torch.compile(m)\n",
        TORCH + "torch.compile(m, mode='default')\n",
        TORCH + "torch.compile(m, mode=mode)\n",
        TORCH + "# torch.compile(m, mode='reduce-overhead')\n",
        TORCH + "note = 'torch.compile(m, mode=reduce-overhead)'\n",
        TORCH + "f(m, mode='reduce-overhead')\n",
        TORCH + "mode = 'reduce-overhead'\n",
        TORCH + "torch.compile(m, mode='default' if torch.version.hip else 'reduce-overhead')\n",
        TORCH + "if torch.version.hip is None:\n    torch.compile(m, mode='max-autotune')\n",
        TORCH + "torch.compile(m, mode=\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 27)]),
        (TORCH + "@torch.compile(mode='max-autotune', fullgraph=True)\ndef f():\n    pass\n", [(2, 21)]),
        (TORCH + "m.compile(mode='max-autotune-no-cudagraphs')\r\n", [(2, 16)]),
        ("from torch import compile\ncompile(m, mode='reduce-overhead')\n", [(2, 17)]),
        (TORCH + "s = 'größe 日本'; torch.compile(m, mode='max-autotune')\n", [(2, 39)]),
        (TORCH + "torch.compile(m, mode='reduce-overhead' if fast else None)\n", [(2, 23)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 27)]


def test_message_names_the_mode(findings):
    (finding,) = findings(RULE, "a.py", "import torch\ntorch.compile(m, mode='reduce-overhead')\n")

    assert (finding.code, finding.severity) == ("PY301", "warning")
    assert finding.message.startswith('torch.compile is called with mode "reduce-overhead": uses graphs')
