from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.split_alloc_conf import edit

PARAMETERS = {"variables": ["PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"], "option": "expandable_segments"}

TOP = "import os\nimport torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "os.environ['OTHER'] = 'expandable_segments:True'",
        "os.environ['PYTORCH_ALLOC_CONF'] = 'expandable_segments:False'",
        "os.environ['PYTORCH_ALLOC_CONF'] = 'max_split_size_mb:64'",
        "x['PYTORCH_ALLOC_CONF'] = 'expandable_segments:True'",
        "if torch.version.hip is None:\n    os.environ['PYTORCH_ALLOC_CONF'] = 'expandable_segments:True'",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "os.environ['PYTORCH_ALLOC_CONF'] = 'expandable_segments:True'",
            "= \"expandable_segments:False\" if is_rocm else 'expandable_segments:True'",
        ),
        (
            "os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'max_split_size_mb:64,expandable_segments: True'",
            '"max_split_size_mb:64,expandable_segments: False" if is_rocm',
        ),
        (
            "os.environ.setdefault('PYTORCH_ALLOC_CONF', 'expandable_segments:True')",
            "setdefault('PYTORCH_ALLOC_CONF', \"expandable_segments:False\" if is_rocm else",
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"import os\nos.environ['PYTORCH_ALLOC_CONF'] = 'expandable_segments:True'\nimport torch\n", PARAMETERS)
