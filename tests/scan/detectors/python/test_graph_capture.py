from __future__ import annotations

import pytest

RULE = "graph_capture"
TORCH = "import torch\n"
SAMPLE = TORCH + "with torch.cuda.graph(g):\n    pass\n"


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "torch.fx.Graph()\n",
        TORCH + "# torch.cuda.graph(g)\n",
        TORCH + "note = 'torch.cuda.graph(g)'\n",
        TORCH + "graph(g)\n",
        TORCH + "nx.graph(g)\n",
        TORCH + "torch.cuda.graph_pool_handle()\n",
        TORCH + "x = torch.cuda.graph\n",
        TORCH + "if torch.version.hip is None:\n    torch.cuda.make_graphed_callables(f, x)\n",
        TORCH + "torch.cuda.graph(\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 6)]),
        (TORCH + "g = torch.cuda.CUDAGraph()\r\n", [(2, 5)]),
        (TORCH + "g = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    pass\n", [(3, 6)]),
        (TORCH + "f = torch.cuda.make_graphed_callables(f, (x,))\n", [(2, 5)]),
        ("from torch.cuda import graph\nwith graph(g):\n    pass\n", [(2, 6)]),
        (TORCH + "s = 'größe 日本'; g.capture_begin()\n", [(2, 17)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 6)]


def test_message_names_the_call(findings):
    (finding,) = findings(RULE, "a.py", "from torch.cuda import graph\nwith graph(g):\n    pass\n")

    assert (finding.code, finding.severity) == ("PY303", "warning")
    assert finding.message.startswith("torch.cuda.graph captures a graph; ")
