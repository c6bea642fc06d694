"""Apply is idempotent, and undo restores the tree, on generated repositories."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.knowledge.load import load
from rocm3d.pipeline import ApplyOptions, Repository

KNOWLEDGE = load()
GPU = KNOWLEDGE.gpu("gfx942")

newlines = st.sampled_from(["\n", "\r\n"])
cuda_lines = st.sampled_from(
    [
        "#include <cuda_runtime.h>",
        "#include <device_launch_parameters.h>",
        '#include "device_launch_parameters.h"  // needed by an editor',
        "#include <cooperative_groups/reduce.h>",
        "#if defined(USE_ROCM)",
        "#ifndef USE_ROCM",
        "#else",
        "#endif",
        "// #include <device_launch_parameters.h>",
        "/* #include <device_functions.h>",
        "*/",
        "__global__ void k(float* x) { x[threadIdx.x] = __shfl_down_sync(0xffffffff, x[0], 1); }",
        "void launch(float* x) { k << <1, 32 >> > (x); }",
        "int total = cg::reduce(tile, 1, cg::plus<int>());",
        "#define LONG 1 \\",
        "caf\u00e9",
        "",
    ]
)
python_lines = st.sampled_from(
    [
        "import torch",
        "import os; import torch.nn as nn",
        "from torch.utils.cpp_extension import BuildExtension, CUDAExtension, CUDA_HOME",
        "if CUDA_HOME is not None: pass",
        "ready = CUDA_HOME is None and os.name == 'posix'",
        'flags = ["-O3", "--use_fast_math"]',
        'flags = flags + ["-Xptxas", "-v"] + ["-lineinfo"]',
        'extra = {"cxx": [], "nvcc": ["-gencode", "arch=compute_86,code=sm_86", "-DX"]}',
        "is_rocm = torch.version.hip is not None",
        "is_rocm = False",
        "def f(flags=['-lineinfo']): return CUDA_HOME is not None",
        "x = (",
        ")",
        "# caf\u00e9",
        "",
    ]
)
requirement_lines = st.sampled_from(
    [
        "torch==2.1.0+cu121",
        "  flash-attn>=2.5  # fast",
        "torchmetrics",
        "--extra-index-url https://download.pytorch.org/whl/cu121",
        "xformers \\",
        "    --hash=sha256:" + "0" * 64,
        "-r other.txt",
        "==nonsense",
        "# a comment",
        "",
    ]
)


@st.composite
def texts(draw, lines):
    newline = draw(newlines)
    text = newline.join(draw(st.lists(lines, max_size=14))) + draw(st.sampled_from(["", newline]))
    return text.encode(draw(st.sampled_from(["utf-8", "latin-1"])))


trees = st.fixed_dictionaries(
    {},
    optional={
        "setup.py": texts(python_lines),
        "pkg/build.py": texts(python_lines),
        "csrc/kernel.cu": texts(cuda_lines),
        "csrc/deep/kernel.cuh": texts(cuda_lines),
        "requirements.txt": texts(requirement_lines),
        "requirements/other.txt": texts(requirement_lines),
        "data.bin": st.binary(max_size=64),
        "odd.cu": st.binary(max_size=200),
        "odd.py": st.binary(max_size=200),
    },
)


def contents(root: Path) -> dict[str, bytes]:
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and ".rocm3d" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def write_tree(root: Path, tree: dict[str, bytes]) -> Repository:
    for name, data in tree.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return Repository(root, KNOWLEDGE)


@given(trees)
def test_apply_twice_is_apply_once_and_undo_is_identity(tree):
    with tempfile.TemporaryDirectory() as folder:
        repository = write_tree(Path(folder), tree)

        plan = repository.plan(GPU)
        first = repository.apply(plan, ApplyOptions())
        once = contents(Path(folder))
        second = repository.apply(plan, ApplyOptions())

        assert once == contents(Path(folder))
        assert first == second
        assert all(change.proof.holds for change in first.changes)

        repository.undo(keep_changed=False)

        assert tree == contents(Path(folder))


@given(trees)
def test_porting_a_ported_tree_gives_the_same_plan_and_the_same_tree(tree):
    with tempfile.TemporaryDirectory() as folder:
        repository = write_tree(Path(folder), tree)

        plan = repository.plan(GPU)
        repository.apply(plan, ApplyOptions())
        once = contents(Path(folder))
        again = repository.plan(GPU)
        repository.apply(again, ApplyOptions())

        assert plan == again
        assert once == contents(Path(folder))


@given(trees)
def test_a_dry_run_writes_nothing(tree):
    with tempfile.TemporaryDirectory() as folder:
        repository = write_tree(Path(folder), tree)

        repository.apply(repository.plan(GPU), ApplyOptions(dry_run=True))

        assert tree == contents(Path(folder))
