from __future__ import annotations

import pytest

RULE = "nvidia_smi"
SUBPROCESS = "import subprocess\n"
SAMPLE = SUBPROCESS + "subprocess.check_output(['nvidia-smi', '-L'])\n"


@pytest.mark.parametrize(
    "text",
    [
        SUBPROCESS + "subprocess.run(['ls', 'nvidia-smi'])\n",
        SUBPROCESS + "# subprocess.run(['nvidia-smi'])\n",
        SUBPROCESS + "note = 'nvidia-smi -L'\n",
        SUBPROCESS + "print('nvidia-smi')\n",
        SUBPROCESS + "subprocess.run(['nvidia-smi-like'])\n",
        SUBPROCESS + "subprocess.run('echo nvidia-smi', shell=True)\n",
        "import shutil\nshutil.which('nvcc')\n",
        SUBPROCESS + "import torch\nif torch.version.hip is None:\n    subprocess.run(['nvidia-smi'])\n",
        SUBPROCESS + "run(['nvidia-smi'])\n",
        SUBPROCESS + "subprocess.run()\nx = 'nvcc'\n",
        SUBPROCESS + "subprocess.run([])\nx = 'nvcc'\n",
        SUBPROCESS + "subprocess.run(\n",
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
        ("import os\nos.system('nvidia-smi | grep MiB')\r\n", [(2, 1)]),
        ("from subprocess import check_output as co\nx = co('nvcc --version', shell=True)\n", [(2, 5)]),
        (SUBPROCESS + "subprocess.run([home + '/bin/nvcc', '-V'])\n", [(2, 1)]),
        (SUBPROCESS + "subprocess.Popen(args=f'nvidia-smi -i {n}')\n", [(2, 1)]),
        (SUBPROCESS + "s = 'größe 日本'; subprocess.run(['/usr/bin/nvidia-smi'])\n", [(2, 17)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.py", text) == expected


def test_invalid_utf8_and_syntax_errors_before_the_match(positions):
    text = b"# \xff\xe9\nprint 'two'\n" + SAMPLE.encode()

    assert positions(RULE, "a.py", text) == [(4, 1)]


def test_call_inside_try_is_a_note(findings):
    text = "import subprocess\ntry:\n    subprocess.run(['nvidia-smi'])\nexcept OSError:\n    pass\n"
    (finding,) = findings(RULE, "a.py", text)

    assert (finding.line, finding.column, finding.severity) == (3, 5, "note")


def test_message_names_the_command(findings):
    (finding,) = findings(RULE, "a.py", "import os\nos.popen('nvidia-smi -q')\n")

    assert (finding.code, finding.severity) == ("PY402", "error")
    assert finding.message == "the program runs nvidia-smi, which a ROCm system does not have"
