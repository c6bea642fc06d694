from __future__ import annotations

import pytest

RULE = "visible_devices"
OS = "import os\n"
SAMPLE = OS + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n"


@pytest.mark.parametrize(
    "text",
    [
        OS + "x = os.environ['CUDA_VISIBLE_DEVICES']\n",
        OS + "os.environ.get('CUDA_VISIBLE_DEVICES')\n",
        OS + "# os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
        OS + "note = 'CUDA_VISIBLE_DEVICES=0'\n",
        OS + "os.environ['OTHER'] = '0'\n",
        OS + "table['CUDA_VISIBLE_DEVICES'] = '0'\n",
        OS + "os.system('CUDA_VISIBLE_DEVICES=0 python a.py')\n",
        OS + "import torch\nif torch.version.hip is None:\n    os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
        OS + "os.environ['CUDA_VISIBLE_DEVICES'] =\n",
        OS + "os.environ[f'{x}_VISIBLE_DEVICES'] = '0'\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 1)]),
        (OS + "os.environ['CUDA_VISIBLE_DEVICES'] = a\nos.environ['CUDA_VISIBLE_DEVICES'] = b\n", [(2, 1)]),
        (OS + "os.environ.setdefault(\"HIP_VISIBLE_DEVICES\", '0')\r\n", [(2, 1)]),
        (OS + "s = 'größe 日本'; env['ROCR_VISIBLE_DEVICES'] = str(1)\n", [(2, 17)]),
        (OS + "def f():\n\tos.putenv('CUDA_VISIBLE_DEVICES', '0')\n", [(3, 2)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 1)]


def test_one_mask_is_a_note_and_two_are_a_warning(findings):
    one_mask = "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"
    two = one_mask + "os.environ['HIP_VISIBLE_DEVICES'] = '0'\n"

    assert [finding.severity for finding in findings(RULE, "a.py", one_mask)] == ["note"]
    assert [finding.severity for finding in findings(RULE, "a.py", two)] == ["warning", "warning"]


def test_message_names_the_variable(findings):
    (finding,) = findings(RULE, "a.py", "import os\nos.environ['ROCR_VISIBLE_DEVICES'] = '0'\n")

    assert finding.code == "PY206"
    assert finding.message == "the program sets ROCR_VISIBLE_DEVICES: the lower level; Ray rejects it"
