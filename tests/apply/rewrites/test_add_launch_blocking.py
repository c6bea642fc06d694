from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.add_launch_blocking import edit

PARAMETERS = {"old": "CUDA_LAUNCH_BLOCKING", "new": "HIP_LAUNCH_BLOCKING"}

TOP = "import os\nimport torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "x = os.environ.get('CUDA_LAUNCH_BLOCKING')",
        "os.environ['OTHER'] = 'CUDA_LAUNCH_BLOCKING'",
        "os.environ['CUDA_LAUNCH_BLOCKING'] = os.environ['HIP_LAUNCH_BLOCKING'] = '1'",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "os.environ['CUDA_LAUNCH_BLOCKING'] = '1'",
            "os.environ['CUDA_LAUNCH_BLOCKING'] = '1'\nif is_rocm:\n    os.environ[\"HIP_LAUNCH_BLOCKING\"] = '1'\n",
        ),
        (
            "def f(x):\n    # wait\n    os.environ['CUDA_LAUNCH_BLOCKING'] = x  # now",
            '  # now\n    if is_rocm:\n        os.environ["HIP_LAUNCH_BLOCKING"] = x\n',
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"import os\nos.environ['CUDA_LAUNCH_BLOCKING'] = '1'\nimport torch\n", PARAMETERS)
