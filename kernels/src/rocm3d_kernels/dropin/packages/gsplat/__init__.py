"""Drop-in for gsplat 1.5: rasterization of Gaussians and surfels; modules without kernels stay the installed ones."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="gsplat",
    modules={
        "gsplat": "package",
        "gsplat.rendering": "rendering",
        "gsplat.cuda": "",
        "gsplat.cuda._wrapper": "wrapper",
        "gsplat.optimizers": "optimizers",
        "gsplat.optimizers.selective_adam": "optimizers",
        "gsplat.relocation": "relocation",
    },
    probe_code="import torch; from gsplat.cuda._backend import _C; assert _C is not None",
    original_modules={
        "gsplat.strategy": ("DefaultStrategy", "MCMCStrategy", "Strategy"),
        "gsplat.exporter": ("export_splats",),
        "gsplat.compression": ("PngCompression",),
        "gsplat.utils": (),
        "gsplat.version": ("__version__",),
    },
)
