from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.ask_torch_for_abi import edit

MACRO = {"macro": "_GLIBCXX_USE_CXX11_ABI"}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension, load\n"
edited = PythonEdit(edit, MACRO, TOP)


@pytest.mark.parametrize(
    "text",
    [
        'x = "-DOTHER=0"',
        "# -D_GLIBCXX_USE_CXX11_ABI=0",
        'x = "a" if torch.version.hip is not None else "-D_GLIBCXX_USE_CXX11_ABI=0"',
        'x = f"-D_GLIBCXX_USE_CXX11_ABI={y}"',
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x = "-D_GLIBCXX_USE_CXX11_ABI=0"', 'if is_rocm else "-D_GLIBCXX_USE_CXX11_ABI=0"'),
        ("x = [\"-O3\", '-D_GLIBCXX_USE_CXX11_ABI=1']", "int(torch.compiled_with_cxx11_abi())"),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b'# cpp_extension\nimport shutil\ndef f():\n    import torch\nx = "-D_GLIBCXX_USE_CXX11_ABI=0"\n', MACRO)
