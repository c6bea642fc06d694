from __future__ import annotations

import pytest

RULE = "visible_devices"
OS = "import os\n"
FOUND = OS + "os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n"


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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(2, 1)]),
        (OS + "os.environ['CUDA_VISIBLE_DEVICES'] = a\nos.environ['CUDA_VISIBLE_DEVICES'] = b\n", [(2, 1)]),
        (OS + "os.environ.setdefault(\"HIP_VISIBLE_DEVICES\", '0')\r\n", [(2, 1)]),
        (OS + "s = 'größe 日本'; env['ROCR_VISIBLE_DEVICES'] = str(1)\n", [(2, 17)]),
        (OS + "def f():\n\tos.putenv('CUDA_VISIBLE_DEVICES', '0')\n", [(3, 2)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(4, 1)]


def test_one_mask_is_a_note_and_two_are_a_warning(findings):
    one = "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"
    two = one + "os.environ['HIP_VISIBLE_DEVICES'] = '0'\n"

    assert [found.severity for found in findings(RULE, "a.py", one)] == ["note"]
    assert [found.severity for found in findings(RULE, "a.py", two)] == ["warning", "warning"]


def test_message_names_the_variable(findings):
    (found,) = findings(RULE, "a.py", "import os\nos.environ['ROCR_VISIBLE_DEVICES'] = '0'\n")

    assert found.code == "PY206"
    assert found.message == "the program sets ROCR_VISIBLE_DEVICES: the lower level; Ray rejects it"
