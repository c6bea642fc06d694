from __future__ import annotations

import pytest

RULE = "torch_version_cuda"
TORCH = "import torch\n"
SAMPLE = TORCH + "a = torch.version.cuda.split('.')\n"


@pytest.mark.parametrize(
    "text",
    [
        TORCH + "print(torch.version.cuda)\n",
        TORCH + "print(f'CUDA {torch.version.cuda}')\n",
        TORCH + "if torch.version.cuda is None:\n    pass\n",
        TORCH + "if torch.version.cuda:\n    pass\n",
        TORCH + "# torch.version.cuda.split('.')\n",
        TORCH + "note = 'torch.version.cuda.split()'\n",
        TORCH + "torch.version.hip.split('.')\n",
        TORCH + "torch.version.cuda_like.split('.')\n",
        TORCH + "if torch.version.hip is None:\n    a = torch.version.cuda.split('.')\n",
        TORCH + "a = torch.version.cuda.split('.') if torch.version.hip is None else None\n",
        TORCH + "d = dict(cuda=torch.version.cuda)\n",
        TORCH + "str(torch.version.cuda)\n",
        TORCH + "v = torch.version.cuda\nprint(v)\n",
        TORCH + "torch.version.cuda.\n",
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
        (TORCH + "if torch.version.cuda >= '11':\n    pass\n", [(2, 4)]),
        (TORCH + "int(torch.version.cuda[:2])\n", [(2, 5)]),
        (TORCH + "float(torch.version.cuda)\r\n", [(2, 7)]),
        (TORCH + "p = parse_version(torch.version.cuda)\n", [(2, 19)]),
        ("from packaging import version\nimport torch\nversion.parse(torch.version.cuda)\n", [(3, 15)]),
        (TORCH + "v = torch.version.cuda\nv.replace('.', '')\n", [(3, 1)]),
        ("from torch import version as tv\ntv.cuda.split('.')\n", [(2, 1)]),
        ("from torch.version import cuda\ncuda.split('.')\n", [(2, 1)]),
        (TORCH + "s = 'größe 日本'; ok = '11' in torch.version.cuda\n", [(2, 30)]),
        (TORCH + "if torch.cuda.is_available():\n\ta = torch.version.cuda + 'x'\n", [(3, 6)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 5)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch\nif torch.version.cuda is not None and x:\n    a = torch.version.cuda.split('.')\n", (2, 4)),
        ("import torch\nok = torch.version.cuda and torch.version.cuda.split('.')\n", (2, 6)),
        ("import torch\na = torch.version.cuda.split('.') if torch.version.cuda else None\n", (2, 38)),
        ("import torch\nold = torch.version.cuda == '11.1'\n", (2, 7)),
        ("import torch\nold = torch.version.cuda in ('11.0', '11.1')\n", (2, 7)),
    ],
)
def test_checked_or_harmless_use_is_a_note(findings, text, expected):
    (finding,) = findings(RULE, "a.py", text)

    assert (finding.line, finding.column) == expected
    assert finding.severity == "note"


def test_message_quotes_the_use(findings):
    (finding,) = findings(RULE, "a.py", "import torch\nx = torch.version.cuda.split('.')\n")

    assert (finding.code, finding.severity) == ("PY201", "error")
    assert (
        finding.message == "torch.version.cuda is used as text (torch.version.cuda.split('.')); under ROCm it is None"
    )
