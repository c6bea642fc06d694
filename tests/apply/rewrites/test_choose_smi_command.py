from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.choose_smi_command import edit

PARAMETERS = {"old": ["nvidia-smi", "nvidia-smi -L"], "new": ["amd-smi static", "amd-smi list"]}

TOP = "import os, subprocess\nimport torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "print('nvidia-smi')",
        "subprocess.run(['nvcc'])",
        "if torch.version.hip is None:\n    subprocess.run(['nvidia-smi'])",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        "out = subprocess.run(['nvidia-smi'])",
        "subprocess.check_output(['nvidia-smi'])",
        "subprocess.run(['nvidia-smi', '--query-gpu=name'])",
        "subprocess.run(['nvidia-smi'], capture_output=True)",
        "x = os.popen('nvidia-smi')",
    ],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(f"{TOP}{text}\n".encode(), PARAMETERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "subprocess.run(['nvidia-smi'], check=True)",
            'subprocess.run(["amd-smi", "static"] if is_rocm else [\'nvidia-smi\'], check=True)',
        ),
        ("os.system('nvidia-smi -L')", "os.system(\"amd-smi list\" if is_rocm else 'nvidia-smi -L')"),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"def f():\n    import torch\nsubprocess.run(['nvidia-smi'], check=True)\n", PARAMETERS)
