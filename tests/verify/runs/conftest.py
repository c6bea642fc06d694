"""Run records as the recorder writes them on the planned GPU."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from rocm3d.model.artifact import Artifact
from rocm3d.model.run import InstalledPackage, KernelTime, LoadedModule, Manifest, RunRecord

TORCH = LoadedModule(name="torch", file="/env/site-packages/torch/__init__.py", version="2.9.1")


@pytest.fixture
def make_run():
    """A run on an MI300X with a splat. Keywords change the record, `held` changes its manifest."""

    def make(held=None, **values) -> RunRecord:
        manifest = Manifest(
            machine="Linux x86_64", gpu="AMD Instinct MI300X", gfx="gfx942", rocm="7.2.1", torch="2.9.1+rocm7.2",
            packages=(InstalledPackage(name="torch", version="2.9.1"),), commit="0123456789abcdef",
        )  # fmt: skip
        run = RunRecord(
            name="train", command=("python", "train.py"), started=datetime(2026, 11, 15, tzinfo=timezone.utc),
            seconds=12.5, limit=600, status="finished", exit_code=0,
            manifest=manifest.model_copy(update=held or {}), modules=(TORCH,),
            kernels=(KernelTime(name="Cijk_a", calls=1, microseconds=5.0, backend="hipBLASLt", operation="gemm"),),
            backends={"gemm": ("hipBLASLt",)},
            artifacts=(Artifact(path="a.ply", kind="splat", outcome="ok", metrics={"gaussians": 51840}),),
        )  # fmt: skip
        return run.model_copy(update=values)

    return make
