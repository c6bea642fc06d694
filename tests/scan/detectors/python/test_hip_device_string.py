from __future__ import annotations

import pytest

RULE = "hip_device_string"
TORCH = "import torch\n"
SAMPLE = TORCH + "d = torch.device('hip')\n"


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
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 18)]),
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
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 18)]


def test_message_names_the_device(findings):
    (finding,) = findings(RULE, "a.py", "import torch\nx.to('rocm:0')\n")

    assert (finding.code, finding.severity) == ("PY204", "error")
    assert finding.message == 'the device string is "rocm:0"; torch uses "cuda" for AMD GPUs'
