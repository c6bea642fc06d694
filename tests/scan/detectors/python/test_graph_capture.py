from __future__ import annotations

import pytest

RULE = "graph_capture"
TORCH = "import torch\n"
FOUND = TORCH + "with torch.cuda.graph(g):\n    pass\n"


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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(2, 6)]),
        (TORCH + "g = torch.cuda.CUDAGraph()\r\n", [(2, 5)]),
        (TORCH + "g = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    pass\n", [(3, 6)]),
        (TORCH + "f = torch.cuda.make_graphed_callables(f, (x,))\n", [(2, 5)]),
        ("from torch.cuda import graph\nwith graph(g):\n    pass\n", [(2, 6)]),
        (TORCH + "s = 'größe 日本'; g.capture_begin()\n", [(2, 17)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(4, 6)]


def test_message_names_the_call(findings):
    (found,) = findings(RULE, "a.py", "from torch.cuda import graph\nwith graph(g):\n    pass\n")

    assert (found.code, found.severity) == ("PY303", "warning")
    assert found.message.startswith("torch.cuda.graph captures a graph; ")
