from __future__ import annotations

import pytest

RULE = "xformers_import"
SAMPLE = "import xformers.ops\n"


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n",
        "# import xformers.ops\n",
        "note = 'import xformers.ops'\n",
        "import xformers_like\n",
        "from . import xformers\n",
        "from .xformers import ops\n",
        "try:\n    import xformers.ops\nexcept ImportError:\n    xformers = None\n",
        "if BACKEND == 'x':\n    import xformers.ops as xops\n",
        "def f():\n    import xformers\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import xformers\n",
        "import contextlib\nwith contextlib.suppress(ImportError):\n    import xformers\n",
        "from diffusers.utils import is_xformers_available\n",
        "import\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(1, 1)]),
        ("from xformers.ops import memory_efficient_attention\n", [(1, 1)]),
        ("import os, xformers as x\r\n", [(1, 1)]),
        ("s = 'größe 日本'; from xformers import ops\n", [(1, 17)]),
        ("import xformers\nimport xformers.ops\n", [(1, 1)]),
        ("class A:\n\timport xformers\n", [(2, 2)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(3, 1)]


def test_no_finding_in_its_own_package(positions):
    assert positions(RULE, "xformers/info.py", "import xformers\n") == []
    assert positions(RULE, "src/latests/a.py", "import xformers\n") == [(1, 1)]


def test_message_names_the_module(findings):
    (finding,) = findings(RULE, "a.py", "from xformers.ops import SwiGLU\n")

    assert (finding.code, finding.severity) == ("PY102", "error")
    assert finding.message == "xformers.ops is imported without a fallback"
