from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.guard_cuda_version import edit

NO_PARAMETERS: dict[str, str] = {}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension, load\n"
edited = PythonEdit(edit, NO_PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "print(torch.version.cuda)",
        "x = torch.version.cuda is None",
        'x = torch.version.cuda == "12.1"',
        'x = torch.version.cuda is not None and int(torch.version.cuda.split(".")[0]) > 11',
        'x = torch.version.cuda and torch.version.cuda > "11"',
        'x = "a" if torch.version.cuda and torch.version.cuda >= "12" else "b"',
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('assert torch.version.cuda >= "11.8"', 'assert is_rocm or torch.version.cuda >= "11.8"'),
        (
            'x = int(torch.version.cuda.split(".")[0]) >= 12',
            'x = not is_rocm and int(torch.version.cuda.split(".")[0]) >= 12',
        ),
        ('if torch.version.cuda < "12":\n    pass', 'if not is_rocm and torch.version.cuda < "12":'),
        ('x = y or torch.version.cuda[:2] == "12"', 'x = y or (not is_rocm and torch.version.cuda[:2] == "12")'),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(
            b'# cpp_extension\nimport shutil\ndef f():\n    import torch\nx = torch.version.cuda > "11"\n',
            NO_PARAMETERS,
        )
