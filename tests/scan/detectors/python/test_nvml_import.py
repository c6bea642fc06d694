from __future__ import annotations

import pytest

RULE = "nvml_import"
FOUND = "import pynvml\n"


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n",
        "# import pynvml\n",
        "note = 'import pynvml'\n",
        "import pynvml_like\n",
        "from . import pynvml\n",
        "try:\n    import pynvml\nexcept ImportError:\n    pynvml = None\n",
        "def f():\n    import pynvml\n",
        "if x:\n    import pynvml\n",
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
        ("from pynvml import *\n", [(1, 1)]),
        ("import os, pynvml as nv\r\n", [(1, 1)]),
        ("import pynvml\nfrom pynvml import nvmlInit\nimport GPUtil\n", [(1, 1), (3, 1)]),
        ("s = 'größe 日本'; from pynvml.smi import nvidia_smi\n", [(1, 17)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(3, 1)]


def test_message_names_the_module(findings):
    (found,) = findings(RULE, "a.py", "from pynvml.smi import nvidia_smi\n")

    assert (found.code, found.severity, found.package) == ("PY401", "error", None)
    assert found.message == "pynvml is imported at module level; it needs NVIDIA's management library"
