"""The proof that an edit is invisible to NVIDIA users: the file without ROCm reads as it did before."""

from __future__ import annotations

from pathlib import PurePosixPath

from rocm3d.model.patch import Proof
from rocm3d.syntax import cuda
from rocm3d.syntax.directives import directives
from rocm3d.syntax.guards import folded, is_guard, without_rocm
from rocm3d.syntax.python_fold import Unfoldable, folded_dump


def prove(path: str, before: bytes, after: bytes) -> Proof:
    """Compare both versions as an NVIDIA user meets them. What cannot be proven does not hold."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        return _python(before, after)
    if suffix in cuda.SUFFIXES:
        return _cpp(before, after)
    return Proof(kind="cpp-directives-evaluated", holds=False, detail=f"no proof is known for {suffix or path}")


def _cpp(before: bytes, after: bytes) -> Proof:
    kind = "cpp-directives-evaluated"
    redefined = _redefined_guards(before) | _redefined_guards(after)
    if redefined:
        return Proof(kind=kind, holds=False, detail=f"the file itself defines {', '.join(sorted(redefined))}")
    if folded(before, without_rocm) != folded(after, without_rocm):
        return Proof(kind=kind, holds=False, detail="with every ROCm macro undefined the text is not the original's")
    return Proof(kind=kind, holds=True, detail="byte-identical with USE_ROCM and every __HIP* macro undefined")


def _redefined_guards(data: bytes) -> set[str]:
    names = (item.argument.split("(")[0].split() for item in directives(data) if item.keyword in ("define", "undef"))
    return {name[0] for name in names if name and is_guard(name[0])}


def _python(before: bytes, after: bytes) -> Proof:
    kind = "python-guard-folded"
    try:
        same = folded_dump(before, before) == folded_dump(after, before)
    except Unfoldable as error:
        return Proof(kind=kind, holds=False, detail=str(error))
    if not same:
        return Proof(kind=kind, holds=False, detail="with torch.version.hip None the syntax tree is not the original's")
    return Proof(kind=kind, holds=True, detail="same syntax tree with `torch.version.hip is not None` folded to False")
