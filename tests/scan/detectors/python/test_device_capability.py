from __future__ import annotations

import pytest

RULE = "device_capability"
TORCH = "import torch\n"
SAMPLE = TORCH + "if torch.cuda.get_device_capability()[0] >= 9:\n    pass\n"


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "print(torch.cuda.get_device_capability())\n",
        TORCH + "# torch.cuda.get_device_capability() >= (8, 0)\n",
        TORCH + "note = 'get_device_capability() >= (8, 0)'\n",
        TORCH + "cap = torch.cuda.get_device_capability()\nif other >= 8:\n    pass\n",
        TORCH + "if torch.version.hip is None and torch.cuda.get_device_capability()[0] >= 9:\n    pass\n",
        TORCH + "is_hip = torch.version.hip\nif not is_hip:\n    x = torch.cuda.get_device_capability() >= (9, 0)\n",
        TORCH + "p = torch.cuda.get_device_properties(0)\nif p.total_memory > 8:\n    pass\n",
        TORCH + "if torch.cuda.get_device_capability() == wanted:\n    pass\n",
        TORCH + "self.n = 1 if torch.cuda.get_device_capability() == x else 2\nif len(self.images) == 0:\n    pass\n",
        TORCH + "x = f'GPU {n} is sm_{torch.cuda.get_device_capability()[0]}'\n",
        TORCH + "a = get_device_capability() >=\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 4)]),
        (TORCH + "ok = torch.cuda.get_device_capability() >= (9, 0)\r\n", [(2, 6)]),
        (TORCH + "major, minor = torch.cuda.get_device_capability(0)\nif major > 8 or minor:\n    pass\n", [(3, 4)]),
        (TORCH + "cap = torch.cuda.get_device_capability()\nif cap[0] * 10 + cap[1] >= 90:\n    pass\n", [(3, 4)]),
        (TORCH + "p = torch.cuda.get_device_properties(0)\nif (p.major, p.minor) < (7, 0):\n    pass\n", [(3, 4)]),
        (TORCH + "ok = torch.cuda.get_device_properties(0).major >= 8\n", [(2, 6)]),
        (TORCH + "s = 'größe 日本'; ok = 8 <= torch.cuda.get_device_capability()[0]\n", [(2, 22)]),
        (TORCH + "c = torch.cuda.get_device_capability()\narch = f'-arch=sm_{c[0]}{c[1]}'\n", [(3, 8)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 4)]


def test_choice_of_bfloat16_is_a_note(findings):
    text = "import torch\nd = torch.bfloat16 if torch.cuda.get_device_capability()[0] >= 8 else torch.float16\n"
    (finding,) = findings(RULE, "a.py", text)

    assert (finding.line, finding.column, finding.severity) == (2, 23, "note")


def test_message_quotes_the_comparison(findings):
    (finding,) = findings(RULE, "a.py", "import torch\nx = torch.cuda.get_device_capability() >= (\n    9, 0)\n")

    assert (finding.code, finding.severity) == ("PY203", "warning")
    assert "(torch.cuda.get_device_capability() >= ( 9, 0))" in finding.message
