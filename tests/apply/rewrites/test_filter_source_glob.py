from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.filter_source_glob import edit

PARAMETERS = {"parts": ["_hip.", "/hip/"]}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "x = glob.glob('weights/*.pt')",
        "x = [p for p in glob.glob('csrc/*.cpp') if '_hip' not in p and not p.endswith('.hip')]",
        "x = glob.glob('csrc/*.cu')",
        "x = glob.glob(pattern)",
        "x = [] if torch.version.hip is not None else glob.glob('csrc/*.cpp')",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        "for root, _, names in os.walk('csrc'):\n    pass",
    ],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(f"{TOP}{text}\n".encode(), PARAMETERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "x = glob.glob('csrc/*.cpp')",
            '[path for path in glob.glob(\'csrc/*.cpp\') if not any(part in path for part in ("_hip.", "/hip/"))] if',
        ),
        (
            "x = list(Path('csrc').rglob('*.c*'))",
            "[path for path in Path('csrc').rglob('*.c*') if not any(part in str(path) for part in",
        ),
        (
            "x = ['a'] + glob.glob(osp.join(root, '*.cc'))",
            "['a'] + ([path for path in glob.glob(osp.join(root, '*.cc'))",
        ),
        (
            "x = glob.glob(f'{root}/*.cpp', recursive=True)",
            "if is_rocm else glob.glob(f'{root}/*.cpp', recursive=True)",
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"# cpp_extension\nx = glob.glob('csrc/*.cpp')\n", PARAMETERS)
