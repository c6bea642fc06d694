from __future__ import annotations

import pytest

RULE = "hip_device_string"
TORCH = "import torch\n"
FOUND = TORCH + "d = torch.device('hip')\n"


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "d = torch.device('cuda')\n",
        TORCH + "# torch.device('hip')\n",
        TORCH + "note = 'hip'\n",
        TORCH + "backend = 'rocm'\n",
        TORCH + "if device == 'hip':\n    device = 'cuda'\n",
        TORCH + "x = names['hip']\n",
        TORCH + "f(backend='hip')\n",
        TORCH + "print('hip')\n",
        TORCH + "device = kinds['hip']\n",
        TORCH + "device = 'ship'\n",
        TORCH + "hasattr(torch.version, 'hip')\n",
        TORCH + "torch.device(\n",
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(2, 18)]),
        (TORCH + "x.to('hip:0')\n", [(2, 6)]),
        (TORCH + "x = torch.zeros(2, device='rocm')\r\n", [(2, 27)]),
        (TORCH + "device = 'hip' if torch.version.hip else 'cuda'\n", [(2, 10)]),
        (TORCH + "d = torch.device('hip' if torch.version.hip else 'cuda')\n", [(2, 18)]),
        (TORCH + 'def f(device="rocm", n=1):\n    pass\n', [(2, 14)]),
        (TORCH + "def f(device: str = 'hip'):\n    pass\n", [(2, 21)]),
        (TORCH + "s = 'größe 日本'; self.device = 'hip'\n", [(2, 31)]),
        (TORCH + "if torch.version.hip:\n    torch.set_default_device('hip')\n", [(3, 30)]),
        (TORCH + "with torch.autocast(device_type='hip'):\n    pass\n", [(2, 33)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(4, 18)]


def test_message_names_the_device(findings):
    (found,) = findings(RULE, "a.py", "import torch\nx.to('rocm:0')\n")

    assert (found.code, found.severity) == ("PY204", "error")
    assert found.message == 'the device string is "rocm:0"; torch uses "cuda" for AMD GPUs'
