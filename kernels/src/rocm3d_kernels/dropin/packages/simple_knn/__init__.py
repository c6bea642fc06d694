"""Drop-in for simple-knn, the neighbour search of 3D Gaussian splatting: one function of a C extension."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="simple_knn",
    modules={"simple_knn": "", "simple_knn._C": "native"},
    probe_code="import torch, simple_knn._C",
    version="1.0.0",
)
