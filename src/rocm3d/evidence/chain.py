"""The evidence chain of a run: manifest, workload, backend, artifact, profile; each link present or missing."""

from __future__ import annotations

from rocm3d.model.artifact import Artifact
from rocm3d.model.bundle import Chain, Link
from rocm3d.model.counted import counted
from rocm3d.model.run import RunRecord

_MAX_SHOWN = 3
LINK_NAMES = ("manifest", "workload", "backend", "artifact", "profile")


def evidence_chain(run: RunRecord | None) -> Chain:
    """Always all five links; a missing one says why."""
    if run is None:
        return Chain(
            run="", links=tuple(Link(link=name, there=False, what="no run was recorded") for name in LINK_NAMES)
        )
    return Chain(run=run.name, links=(_manifest(run), _workload(run), _backend(run), _artifact(run), _profile(run)))


def _manifest(run: RunRecord) -> Link:
    manifest = run.manifest
    unknown = [
        word for word, value in (("the commit", manifest.commit), ("its packages", manifest.packages)) if not value
    ]
    if unknown:
        return Link(link="manifest", there=False, what=f"{' and '.join(unknown)} could not be read")
    platform = (
        f"ROCm {manifest.rocm}"
        if manifest.rocm
        else f"CUDA {manifest.cuda}"
        if manifest.cuda
        else "no GPU build of torch"
    )
    changed = f" with {counted(len(manifest.dirty), 'uncommitted file')}" if manifest.dirty else ""
    words = (
        manifest.gpu or manifest.machine,
        manifest.gfx,
        platform,
        f"torch {manifest.torch}" if manifest.torch else "no torch",
    )
    what = ", ".join(word for word in words if word)
    return Link(link="manifest", there=True, what=f"{what}, commit {manifest.commit[:12]}{changed}")


def _workload(run: RunRecord) -> Link:
    if run.status != "finished":
        return Link(link="workload", there=False, what=f"{run.status}: {run.reason or 'reason unknown'}")
    unmet = [item.expectation for item in run.expectations if not item.met]
    if unmet:
        return Link(link="workload", there=False, what=f"finished, but unmet: {', '.join(unmet[:_MAX_SHOWN])}")
    return Link(link="workload", there=True, what=f"finished in {run.seconds:.4g} s")


def _backend(run: RunRecord) -> Link:
    stands_in = [f"{item.name} is a substitute" for item in run.modules if item.stands_in]
    fell_back = [f"{item.module} was not found" for item in run.fallbacks]
    remarks = f" ({'; '.join([*stands_in, *fell_back][:_MAX_SHOWN])})" if stands_in or fell_back else ""
    if not run.backends:
        return Link(link="backend", there=False, what=f"{_missing_kernels_reason(run)}{remarks}")
    ran = "; ".join(f"{operation}: {', '.join(names)}" for operation, names in sorted(run.backends.items()))
    return Link(link="backend", there=True, what=f"{ran}{remarks}")


def _artifact(run: RunRecord) -> Link:
    invalid = [item for item in run.artifacts if item.outcome != "ok"]
    if invalid:
        names = "; ".join(f"{item.path}: {item.reason}" for item in invalid[:_MAX_SHOWN])
        return Link(link="artifact", there=False, what=f"{len(invalid)} of {len(run.artifacts)} are invalid: {names}")
    if not run.artifacts:
        return Link(link="artifact", there=False, what="the run wrote no artifact")
    return Link(
        link="artifact", there=True, what="; ".join(_describe_artifact(item) for item in run.artifacts[:_MAX_SHOWN])
    )


def _describe_artifact(artifact: Artifact) -> str:
    """With its first metric, which is its size."""
    name, value = next(iter(artifact.metrics.items()))
    return f"{artifact.path}: {value:,} {name}" if isinstance(value, int) else artifact.path


def _profile(run: RunRecord) -> Link:
    if not run.kernels:
        return Link(link="profile", there=False, what=_missing_kernels_reason(run))
    busy = sum(item.microseconds for item in run.kernels) / 1e6
    what = f"{counted(len(run.kernels), 'kernel')}, busy for {busy:.3g} s of {run.profiled_seconds:.3g} s profiled"
    return Link(link="profile", there=True, what=what)


def _missing_kernels_reason(run: RunRecord) -> str:
    """The recorder's reason for missing kernels."""
    reasons = [item.reason for item in run.missing if item.link in ("kernels", "what happened inside")]
    return reasons[0] if reasons else "no kernels recorded"
