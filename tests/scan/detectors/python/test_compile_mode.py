from __future__ import annotations

import pytest

RULE = "compile_mode"
TORCH = "import torch\n"
FOUND = TORCH + 'm = torch.compile(m, mode="reduce-overhead")\n'


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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(2, 27)]),
        (TORCH + "@torch.compile(mode='max-autotune', fullgraph=True)\ndef f():\n    pass\n", [(2, 21)]),
        (TORCH + "m.compile(mode='max-autotune-no-cudagraphs')\r\n", [(2, 16)]),
        ("from torch import compile\ncompile(m, mode='reduce-overhead')\n", [(2, 17)]),
        (TORCH + "s = 'größe 日本'; torch.compile(m, mode='max-autotune')\n", [(2, 39)]),
        (TORCH + "torch.compile(m, mode='reduce-overhead' if fast else None)\n", [(2, 23)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(4, 27)]


def test_message_names_the_mode(findings):
    (found,) = findings(RULE, "a.py", "import torch\ntorch.compile(m, mode='reduce-overhead')\n")

    assert (found.code, found.severity) == ("PY301", "warning")
    assert found.message.startswith('torch.compile is called with mode "reduce-overhead": uses graphs')
