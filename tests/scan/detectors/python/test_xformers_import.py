from __future__ import annotations

import pytest

RULE = "xformers_import"
FOUND = "import xformers.ops\n"


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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(1, 1)]),
        ("from xformers.ops import memory_efficient_attention\n", [(1, 1)]),
        ("import os, xformers as x\r\n", [(1, 1)]),
        ("s = 'größe 日本'; from xformers import ops\n", [(1, 17)]),
        ("import xformers\nimport xformers.ops\n", [(1, 1)]),
        ("class A:\n\timport xformers\n", [(2, 2)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(3, 1)]


def test_is_not_found_in_its_own_package(places):
    assert places(RULE, "xformers/info.py", "import xformers\n") == []
    assert places(RULE, "src/latests/a.py", "import xformers\n") == [(1, 1)]


def test_message_names_the_module(findings):
    (found,) = findings(RULE, "a.py", "from xformers.ops import SwiGLU\n")

    assert (found.code, found.severity) == ("PY102", "error")
    assert found.message == "xformers.ops is imported without a fallback"
