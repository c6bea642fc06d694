from __future__ import annotations

import pytest

RULE = "jit_extension"
LOAD = "from torch.utils.cpp_extension import load\n"
SAMPLE = LOAD + "b = load(name='x', sources=['a.cpp', 'b.cu'])\n"


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
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 5)]),
        ("from torch.utils import cpp_extension as ce\nce.load_inline(name='x', cuda_sources=[s])\r\n", [(2, 1)]),
        ("import torch\ntorch.utils.cpp_extension.load('x', sources)\n", [(2, 1)]),
        ("import cupy\nk = cupy.RawKernel(code, 'f')\n", [(2, 5)]),
        ("import cupy as cp\nk = cp.RawModule(code=c)\n", [(2, 5)]),
        (LOAD + "s = 'größe 日本'; load('x', ['a.cpp'], extra_cuda_cflags=[])\n", [(2, 17)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 5)]


def test_message_names_the_call(findings):
    (finding,) = findings(RULE, "a.py", "from torch.utils.cpp_extension import load\nload('x', sources=files)\n")

    assert (finding.code, finding.severity) == ("PY406", "warning")
    assert finding.message == "torch.utils.cpp_extension.load compiles an extension at run time"
