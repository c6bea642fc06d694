"""Drop-in for curope, the rotary embedding of CroCo, DUSt3R and MASt3R: one function of a C extension."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="curope",
    modules={"curope": "native"},
    probe_code="import torch, curope; assert callable(curope.rope_2d)",
    version="0.0.0",
)
