from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.split_compile_flags import edit
from rocm3d.syntax.isolation import prove_isolation

FLAGS = {"nvcc_only": ["--use_fast_math", "-gencode", "-Xptxas", "-arch=sm_"], "takes_value": ["-gencode", "-Xptxas"]}
HEAD = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"
FLAG = "\nis_rocm = torch.version.hip is not None\n"


@pytest.mark.parametrize(
    "code",
    [
        "x = ['-O3', '-DNDEBUG']\n",
        "x = []\n",
        "x = '--use_fast_math'\n",
        "x = ('--use_fast_math',)\n",
        "x = [b'--use_fast_math', 3, y]\n",
        "x = ['-O3'] if is_rocm else ['-O3', '--use_fast_math']\nis_rocm = torch.version.hip is not None\n",
        "if torch.version.hip is None:\n    x = ['--use_fast_math']\n",
        "x = [f'-a{y}', f'-std={y}', f'{y}', f'', '-arch=']\n",
        "x.append('-O3')\n",
        "x.append(f'{y}--use_fast_math')\n",
        "x.append('-Xptxas')\nx.append('-v')\n",
        "x.append(*['-O3'])\n",
        "y = x.append('--use_fast_math')\n",
        "x.append('--use_fast_math'); y = 1\n",
        "if torch.version.hip is None:\n    x.append('--use_fast_math')\n",
        "# x = ['--use_fast_math']\n",
    ],
)
def test_stays_untouched(code):
    data = (HEAD + code).encode()
    assert edit(data, FLAGS) == data


def test_a_module_without_extensions_stays_untouched():
    data = b"import torch\nx = ['--use_fast_math']\n"
    assert edit(data, FLAGS) == data


@pytest.mark.parametrize(
    "data",
    [
        b"# cpp_extension\nx = ['--use_fast_math']\n",
        b"def f():\n    from torch.utils import cpp_extension\nx = ['--use_fast_math']\n",
        b"x = ['--use_fast_math']\nfrom torch.utils import cpp_extension\n",
        b"from torch.utils import cpp_extension\nis_rocm = False\nx = ['--use_fast_math']\n",
        b"from torch.utils import cpp_extension\nx = ['--use_fast_math'\n",
        b"import torch.utils.cpp_extension\nx = ['--use_fast_math']\nis_rocm = torch.version.hip is not None\n",
    ],
)
def test_unsupported_code_is_refused(data):
    with pytest.raises(RewriteRefusedError):
        edit(data, FLAGS)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = ['-O3', '--use_fast_math']\n", "x = ['-O3'] if is_rocm else ['-O3', '--use_fast_math']\n"),
        ("x = ['--use_fast_math']\n", "x = [] if is_rocm else ['--use_fast_math']\n"),
        ("x += ['-gencode', 'arch=1']\n", "x += [] if is_rocm else ['-gencode', 'arch=1']\n"),
        ("x = ['-gencode=arch=1', y]\n", "x = [y] if is_rocm else ['-gencode=arch=1', y]\n"),
        ("x = ['-gencode']\n", "x = [] if is_rocm else ['-gencode']\n"),
        ("x = y + ['-Xptxas', '-v', '-O3']\n", "x = y + (['-O3'] if is_rocm else ['-Xptxas', '-v', '-O3'])\n"),
        ("f(['-arch=sm_80'])\n", "f([] if is_rocm else ['-arch=sm_80'])\n"),
        ("f(a={'nvcc': ['-arch=sm_80']})\n", "f(a={'nvcc': [] if is_rocm else ['-arch=sm_80']})\n"),
        ("x.extend(['-O3', r'--use_fast_math'])\n", "x.extend(['-O3'] if is_rocm else ['-O3', r'--use_fast_math'])\n"),
        ("def f(x=['-arch=sm_80']):\n\treturn x", "def f(x=([] if is_rocm else ['-arch=sm_80'])):\n\treturn x"),
        (
            "x = [\n    '-O3',  # fast\n    '--use_fast_math',\n]\n",
            "x = ['-O3'] if is_rocm else [\n    '-O3',  # fast\n    '--use_fast_math',\n]\n",
        ),
        ("x = [f'-arch=sm_{y}', '-O3']\n", "x = ['-O3'] if is_rocm else [f'-arch=sm_{y}', '-O3']\n"),
        ("x.append(f'-arch={y}')\n", "if not is_rocm:\n    x.append(f'-arch={y}')\n"),
        (
            "if a:\n    # the card\n    x.append('--use_fast_math')  # fast\nb()\n",
            "if a:\n    # the card\n    if not is_rocm:\n        x.append('--use_fast_math')  # fast\nb()\n",
        ),
        ("x = [*common, '--use_fast_math']\n", "x = [*common] if is_rocm else [*common, '--use_fast_math']\n"),
    ],
)
def test_splits_by_backend(code, expected):
    before, after = (HEAD + code).encode(), (HEAD + FLAG + expected).encode()
    assert edit(before, FLAGS) == after
    assert edit(after, FLAGS) == after
    assert ast.parse(after).body
    proof = prove_isolation("setup.py", before, after)
    assert proof.holds, proof.detail


def test_preserves_carriage_returns():
    before = (HEAD + "x = [\n  '-O3',\n  '--use_fast_math']\n").replace("\n", "\r\n").encode()
    after = edit(before, FLAGS)
    assert after.count(b"\r\n") == after.count(b"\n")
    assert prove_isolation("setup.py", before, after).holds


def test_preserves_a_byte_order_mark():
    before = b"\xef\xbb\xbf" + (HEAD + "x = ['--use_fast_math']\n").encode()
    after = edit(before, FLAGS)
    assert after.startswith(b"\xef\xbb\xbf")
    assert prove_isolation("setup.py", before, after).holds


LISTS = st.lists(
    st.sampled_from(
        ["'-O3'", "'--use_fast_math'", "'-gencode'", "'arch=1'", "y", "*z", "f'-a{y}'", "'-Xptxas=-v'", "'a' 'b'"]
    ),
    max_size=5,
).map(lambda items: f"[{', '.join(items)}]")
TEMPLATES = st.sampled_from(
    [
        "x = {}",
        "x += {}",
        "f({})",
        "f(k={})",
        "f(k={{'nvcc': {}}})",
        "x = {} + {}",
        "def f(x={}):\n    return {}",
        "x = [{}, 1]",
        "for x in {}:\n    pass",
        "if a:\n    x.append('--use_fast_math')\nx = {}",
        "if a:\n    x.extend({})\nelse:\n    x = {}",
        "if torch.version.hip is not None:\n    x = {}",
        "a()",
        "class A:\n    x: list = {}",
        "x = lambda: {}",
        "x = {}[0]",
        "x = [y for y in {}]",
        "f(*{})",
    ]
)
HEADS = st.sampled_from(
    [
        HEAD,
        "from torch.utils.cpp_extension import load\n",
        "import torch.utils.cpp_extension as e\nimport os\n",
        '"""Doc."""\nimport os; import torch.utils.cpp_extension\n',
    ]
)


@given(HEADS, st.lists(st.tuples(TEMPLATES, LISTS, LISTS), max_size=5), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_edit_is_proven_and_idempotent(head, parts, newline, final):
    lines = (
        head + "\n".join(template.format(first, second) for template, first, second in parts) + ("\n" if final else "")
    )
    data = lines.replace("\n", newline).encode()
    after = edit(data, FLAGS)
    assert edit(after, FLAGS) == after
    if after != data:
        proof = prove_isolation("setup.py", data, after)
        assert proof.holds, (proof.detail, after)
        assert after.endswith(newline.encode()) == data.endswith(newline.encode())
