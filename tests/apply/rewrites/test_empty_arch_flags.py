from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.empty_arch_flags import edit

PREFIXES = {"prefixes": ["-gencode", "-arch="]}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension, load\n"
edited = PythonEdit(edit, PREFIXES, TOP)


@pytest.mark.parametrize(
    "text",
    [
        'x = [f"sm_{a}" for a in b]',
        "x = [a for a in b]",
        'x = [] if torch.version.hip is not None else [f"-gencode={a}" for a in b]',
        'x = [f"{a}-gencode" for a in b]',
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x = [f"-gencode=arch={a}" for a in b]', 'x = [] if is_rocm else [f"-gencode=arch={a}" for a in b]'),
        ('x = y + ["-arch=sm_80" for a in b]', 'x = y + ([] if is_rocm else ["-arch=sm_80" for a in b])'),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(
            b'# cpp_extension\nimport shutil\ndef f():\n    import torch\nx = [f"-gencode={a}" for a in b]\n', PREFIXES
        )
