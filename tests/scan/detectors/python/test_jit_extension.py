from __future__ import annotations

import pytest

RULE = "jit_extension"
LOAD = "from torch.utils.cpp_extension import load\n"
FOUND = LOAD + "b = load(name='x', sources=['a.cpp', 'b.cu'])\n"


@pytest.mark.parametrize(
    "text",
    [
        "json.load(f)\n",
        "from json import load\nload(f)\n",
        LOAD + "# load(name='x')\n",
        LOAD + "note = 'load()'\n",
        LOAD + "f = load\n",
        LOAD + "load(name='a', sources=['a.cpp'])\n",
        LOAD + "import torch\nif torch.version.hip is None:\n    load(name='a', sources=['a.cu'])\n",
        "torch.load(p)\n",
        LOAD + "load\n",
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(2, 5)]),
        ("from torch.utils import cpp_extension as ce\nce.load_inline(name='x', cuda_sources=[s])\r\n", [(2, 1)]),
        ("import torch\ntorch.utils.cpp_extension.load('x', sources)\n", [(2, 1)]),
        ("import cupy\nk = cupy.RawKernel(code, 'f')\n", [(2, 5)]),
        ("import cupy as cp\nk = cp.RawModule(code=c)\n", [(2, 5)]),
        (LOAD + "s = 'größe 日本'; load('x', ['a.cpp'], extra_cuda_cflags=[])\n", [(2, 17)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(4, 5)]


def test_message_names_the_call(findings):
    (found,) = findings(RULE, "a.py", "from torch.utils.cpp_extension import load\nload('x', sources=files)\n")

    assert (found.code, found.severity) == ("PY406", "warning")
    assert found.message == "torch.utils.cpp_extension.load compiles an extension at run time"
