from __future__ import annotations

import pytest

RULE = "alloc_conf"
CONF = "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = "
OS = "import os\n"
SAMPLE = CONF + "'expandable_segments:True'\n"


@pytest.mark.parametrize(
    "text",
    [
        CONF + "'max_split_size_mb:128'\n",
        CONF + "'expandable_segments:False'\n",
        OS + "# os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'\n",
        OS + "note = 'expandable_segments:True'\n",
        OS + "os.environ['OTHER'] = 'expandable_segments:True'\n",
        OS + "x = os.environ['PYTORCH_CUDA_ALLOC_CONF'] == 'expandable_segments:True'\n",
        OS + "if torch.version.hip is None:\n    os.environ['PYTORCH_ALLOC_CONF'] = 'expandable_segments:True'\n",
        CONF + "\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.py", text) == []


def test_other_files_are_not_searched(positions):
    assert positions(RULE, "a.cu", SAMPLE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SAMPLE, [(2, 41)]),
        (CONF + "'max_split_size_mb:128,expandable_segments:True'\r\n", [(2, 41)]),
        (OS + "os.environ.setdefault('PYTORCH_ALLOC_CONF', 'expandable_segments:True')\n", [(2, 45)]),
        (OS + "s = 'größe 日本'; os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'backend:cudaMallocAsync'\n", [(2, 57)]),
        ("import torch\ntorch.cuda.memory._set_allocator_settings('expandable_segments:True')\n", [(2, 43)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 41)]


def test_message_quotes_the_setting(findings):
    text = "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'\n"
    (finding,) = findings(RULE, "a.py", text)

    assert (finding.code, finding.severity) == ("PY207", "warning")
    assert finding.message == "the allocator is set to expandable_segments:True: silent zeros or NaN on gfx1201"
