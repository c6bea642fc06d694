"""The drop-ins for deformable attention: one kernel under three import names."""

from __future__ import annotations

import pytest

from rocm3d_kernels.dropin.packages.mmcv import native

# Calls the extensions as the Python of the packages does.
PROGRAM = """
import rocm3d_kernels.dropin.auto
import torch
torch.set_num_threads(1)
torch.manual_seed(0)
shapes, starts = torch.tensor(((3, 4), (2, 2))), torch.tensor((0, 12))
value, at, w = torch.randn(2, 16, 2, 4), torch.rand(2, 3, 2, 2, 2, 2), torch.rand(2, 3, 2, 2, 2)
given = (value, shapes, starts, at, w)

import MultiScaleDeformableAttention as first
from groundingdino import _C as second, util
import groundingdino
from mmcv.ops import attention, nms

for one in (first, second):
    out = one.ms_deform_attn_forward(*given, 64)
    back = one.ms_deform_attn_backward(*given, torch.ones_like(out), 64)
    print(one.__rocm3d__["stands_in_for"], tuple(out.shape), [a.shape == b.shape for a, b in zip(back, (value, at, w))])
print(util.who, hasattr(groundingdino, "__rocm3d__"))

to = [torch.zeros_like(one) for one in (value, at, w)]
print(torch.equal(attention.ext.ms_deform_attn_forward(*given, im2col_step=64), out))
attention.ext.ms_deform_attn_backward(*given, torch.ones_like(out), *to, im2col_step=64)
print([torch.equal(a, b) for a, b in zip(to, back)])
try:
    nms.ext.softnms(1)
except NotImplementedError as error:
    print(error)
"""
SITE = {
    "groundingdino/__init__.py": "",
    "groundingdino/util.py": "who = 'real'",
    "mmcv/__init__.py": "",
    # A copy of mmcv's function lookup, and two operations.
    "mmcv/utils.py": (
        "import importlib\n"
        "def load_ext(name, funcs):\n"
        "    ext = importlib.import_module('mmcv.' + name)\n"
        "    assert all(hasattr(ext, one) for one in funcs)\n"
        "    return ext\n"
    ),
    "mmcv/ops/__init__.py": "from . import attention, nms\n",
    "mmcv/ops/attention.py": (
        "from .. import utils as ext_loader\n"
        "ext = ext_loader.load_ext('_ext', ['ms_deform_attn_backward', 'ms_deform_attn_forward'])\n"
    ),
    "mmcv/ops/nms.py": "from ..utils import load_ext\next = load_ext(\n    '_ext', ['nms', 'softnms'])\n",
    "mmcv/ops/broken.py": "def (",
}


@pytest.fixture
def site(tmp_path):
    for name, text in SITE.items():
        (tmp_path / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / name).write_text(text)
    return tmp_path / "site"


def test_extension_needs_the_installed_package(python):
    program = "import rocm3d_kernels.dropin.auto\nfrom groundingdino import _C"

    assert "No module named 'groundingdino'" in python(program, fails=True)


def test_all_three_names_work_with_the_original_python(python, site):
    lines = python(PROGRAM, path=[site], ROCM3D_DROPIN="force").splitlines()

    assert lines[:5] == [
        "MultiScaleDeformableAttention (2, 3, 8) [True, True, True]",
        "groundingdino (2, 3, 8) [True, True, True]",
        "real False",
        "True",
        "[True, True, True]",
    ]
    assert lines[5].startswith("mmcv._ext.softnms is not covered by rocm3d-kernels: see docs/kernels.md")


def test_function_names_are_read_from_lists(site):
    assert sorted(native.requested_functions(site / "mmcv" / "ops")) == [
        "ms_deform_attn_backward", "ms_deform_attn_forward", "nms", "softnms",
    ]  # fmt: skip
    with pytest.raises(NotImplementedError, match=r"mmcv\._ext\.nms is not covered"):
        native.unsupported_function("nms")()
