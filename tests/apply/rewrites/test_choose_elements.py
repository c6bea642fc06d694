from __future__ import annotations

import pytest
from rewriting import PythonEdit, proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.choose_elements import edit

NAMES = {
    "arguments": ["libraries"],
    "cuda": ["cuda", "cudart", "cusparse", "gone"],
    "rocm": ["amdhip64", "amdhip64", "hipsparse", ""],
}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension, load\n"
edited = PythonEdit(edit, NAMES, TOP)


@pytest.mark.parametrize(
    "text",
    [
        'x = f(libraries=["z", "m"])',
        'x = f(topics=["cuda"])',
        'libraries = ["cuda"]',
        "x = f(libraries=names)",
        'x = f(libraries=["hipsparse"] if torch.version.hip is not None else ["cusparse"])',
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x = f(libraries=["cusparse", "z"])', 'libraries=["hipsparse", "z"] if is_rocm else ["cusparse", "z"]'),
        ('x = f(libraries=["cuda", "cudart"])', 'libraries=["amdhip64"] if is_rocm else ["cuda", "cudart"]'),
        ('x = f(libraries=["gone", name])', 'libraries=[name] if is_rocm else ["gone", name]'),
        ('x = f(libraries=("cuda",))', 'libraries=["amdhip64"] if is_rocm else ("cuda",)'),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


@pytest.mark.parametrize(
    "text", ['x = ["-lz", "-l", "m"]', 'x = ["-l", cuda]', 'x = ["-L", "cuda"]', "x = ['-lcudart_static']"]
)
def test_other_linker_flags_stay(text):
    data = f"{TOP}{text}\n".encode()
    assert edit(data, {**NAMES, "link": "-l"}) == data


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x += ["-lcusparse", "-Wl,-s"]', 'x += ["-lhipsparse", "-Wl,-s"] if is_rocm else ["-lcusparse", "-Wl,-s"]'),
        (
            "x = ['-lcusparse', '-l', 'cusparse']",
            "x = [\"-lhipsparse\"] if is_rocm else ['-lcusparse', '-l', 'cusparse']",
        ),
        ('f(["-l", "gone", "-lcuda"])', 'f(["-lamdhip64"] if is_rocm else ["-l", "gone", "-lcuda"])'),
    ],
)
def test_linker_flags_are_chosen_by_backend(text, expected):
    before = f"{TOP}{text}\n".encode()
    after = proven_edit(edit, before, {**NAMES, "link": "-l"}, "setup.py")
    assert expected in after.decode()


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b'# cpp_extension\nimport shutil\ndef f():\n    import torch\nf(libraries=["cuda"])\n', NAMES)
