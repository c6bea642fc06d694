from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.notebook import read, reader

CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": ["!pip install markdown\n"]},
    {
        "cell_type": "code",
        "metadata": {"source": ["!pip install metadata"]},
        "outputs": [{"text": ["!pip install output\n"]}],
        "source": ["import torch\n", "!pip install gsplat \\\n", "  xformers\n", "x = '!pip install string'\n"],
    },
    {"cell_type": "code", "source": '%pip install "größe"\n%%time\n!ls'},
    {"cell_type": "code", "source": ["%%bash\n", "pip install flash-attn\n"]},
    {"cell_type": "code", "source": "!{sys.executable} -m pip install natten\n"},
]


def mention_positions(text: str | bytes):
    data = text.encode() if isinstance(text, str) else text
    return [(entry.name, entry.line, entry.column) for entry in read("a.ipynb", data).mentions]


def test_install_lines_of_code_cells_only():
    assert [name for name, _, _ in mention_positions(json.dumps({"cells": CELLS}))] == [
        "gsplat",
        "xformers",
        "größe",
        "flash-attn",
        "natten",
    ]


def test_positions_in_the_file():
    text = json.dumps({"cells": CELLS}, indent=1, ensure_ascii=False)
    lines = text.split("\n")
    result = {name: (line, column) for name, line, column in mention_positions(text)}
    for name in ("gsplat", "xformers", "flash-attn"):
        line, column = result[name]
        assert lines[line - 1][column - 1 :].startswith(name)


def test_unusual_order_of_keys():
    assert mention_positions('{"cells": [{"source": ["!pip install torch"], "cell_type": "code"}]}') == [
        ("torch", 1, 38)
    ]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cells": 1}', '{"cells": {"a": "!pip install torch"}}', "null"])
def test_other_json_is_ignored(text):
    assert mention_positions(text) == []


def test_is_a_notebook_by_its_suffix():
    assert reader.matches("a/b.ipynb")
    assert not reader.matches("a.json")


@pytest.mark.parametrize(
    "bomb", ["[" * 200_000, '{"cells": [' * 50_000, '"\\' * 100_000, '{"cells": [{"source": "' + "\\" * 99_999]
)
def test_bombs_do_not_raise(bomb):
    assert mention_positions(bomb) == []


@given(st.binary(max_size=300))
def test_random_bytes_do_not_raise(data):
    result = mention_positions(b'{"cells": [{"cell_type": "code", "source": ["!pip install ' + data + b'"]}]}')
    assert all(line >= 1 and column >= 1 for _, line, column in result)


SOURCES = st.lists(
    st.sampled_from(["!pip install torch\n", "x = 1\n", "\u20ac = 'é'\n", "%matplotlib inline\n"]), max_size=6
)


@given(st.lists(SOURCES, max_size=4), st.sampled_from([None, 1, 4]), st.booleans())
def test_round_trip(sources, indent, ascii_only):
    cells = [{"cell_type": "code", "source": source} for source in sources]
    text = json.dumps({"cells": cells}, indent=indent, ensure_ascii=ascii_only)
    result = mention_positions(text)
    assert len(result) == sum(line.startswith("!pip") for source in sources for line in source)
    assert all(text.split("\n")[line - 1][column - 1 :].startswith("torch") for _, line, column in result)
