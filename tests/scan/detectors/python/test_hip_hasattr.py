from __future__ import annotations

import pytest

RULE = "hip_hasattr"
TORCH = "import torch\n"
FOUND = TORCH + "ok = hasattr(torch.version, 'hip')\n"


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "ok = torch.version.hip is not None\n",
        TORCH + "ok = hasattr(torch.version, 'cuda')\n",
        TORCH + "ok = hasattr(torch, 'hip')\n",
        TORCH + "# hasattr(torch.version, 'hip')\n",
        TORCH + "note = \"hasattr(torch.version, 'hip')\"\n",
        TORCH + "ok = hasattr(torch.version, 'hip') and torch.version.hip is not None\n",
        TORCH + "ok = getattr(torch.version, 'hip', None)\n",
        TORCH + "ok = hasattr(torch.version, name)\n",
        TORCH + "hasattr(torch.version)\n",
        TORCH + "hasattr(\n",
        TORCH + "if torch.version.hip:\n    assert hasattr(torch.version, 'hip')\n",
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
        (TORCH + 'if hasattr(torch.version, "hip"):\n    pass\n', [(2, 4)]),
        ("from torch import version\nx = hasattr(version, 'hip')\r\n", [(2, 5)]),
        (TORCH + "s = 'größe 日本'; ok = not hasattr(torch . version, 'hip')\n", [(2, 26)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(4, 6)]


def test_message_quotes_the_test(findings):
    (found,) = findings(RULE, "a.py", "import torch\nx = hasattr(torch.version, 'hip')\n")

    assert (found.code, found.severity) == ("PY202", "warning")
    assert found.message == "`hasattr(torch.version, 'hip')` is true for every build of torch, so it proves nothing"
