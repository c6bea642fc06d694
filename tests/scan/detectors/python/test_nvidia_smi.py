from __future__ import annotations

import pytest

RULE = "nvidia_smi"
SUBPROCESS = "import subprocess\n"
FOUND = SUBPROCESS + "subprocess.check_output(['nvidia-smi', '-L'])\n"


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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.py", text) == []


def test_is_not_looked_for_in_other_files(places):
    assert places(RULE, "a.cu", FOUND) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (FOUND, [(2, 1)]),
        ("import os\nos.system('nvidia-smi | grep MiB')\r\n", [(2, 1)]),
        ("from subprocess import check_output as co\nx = co('nvcc --version', shell=True)\n", [(2, 5)]),
        (SUBPROCESS + "subprocess.run([home + '/bin/nvcc', '-V'])\n", [(2, 1)]),
        (SUBPROCESS + "subprocess.Popen(args=f'nvidia-smi -i {n}')\n", [(2, 1)]),
        (SUBPROCESS + "s = 'größe 日本'; subprocess.run(['/usr/bin/nvidia-smi'])\n", [(2, 17)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.py", text) == where


def test_odd_bytes_and_syntax_errors_before_the_hit_are_survived(places):
    text = b"# \xff\xe9\nprint 'two'\n" + FOUND.encode()

    assert places(RULE, "a.py", text) == [(4, 1)]


def test_where_its_absence_is_provided_for_it_is_a_note(findings):
    text = "import subprocess\ntry:\n    subprocess.run(['nvidia-smi'])\nexcept OSError:\n    pass\n"
    (found,) = findings(RULE, "a.py", text)

    assert (found.line, found.column, found.severity) == (3, 5, "note")


def test_message_names_the_command(findings):
    (found,) = findings(RULE, "a.py", "import os\nos.popen('nvidia-smi -q')\n")

    assert (found.code, found.severity) == ("PY402", "error")
    assert found.message == "the program runs nvidia-smi, which a ROCm system does not have"
