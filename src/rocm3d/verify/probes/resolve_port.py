"""Resolves the port's requirements with uv or pip: the stack's torch must stay, and no CUDA package may come in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.resolution.port_sets import MOST, overrides, port_sets
from rocm3d.verify.resolution.prepare import Prepared, prepare
from rocm3d.verify.resolution.verdicts import judged, verdict
from rocm3d.verify.resolution.visit import visit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.verify.resolution.session import Session


def attempt(case: Case) -> tuple[Verdict, ...]:
    """Each requirements file of the port's folder, then the repository's requirements that the plan keeps."""
    return visit(case, probe.name, lambda here: _look(case, here))


def _look(case: Case, here: Session) -> Iterator[Verdict]:
    sets = port_sets(case)
    if not sets:
        yield verdict(probe.name, "skipped", "the port has no requirements that pip would install")
    for given in sets[:MOST]:
        ready = prepare(given, here.web)
        for found in judged(probe.name, here.on_base(ready), here):
            yield _with_uv(found, ready, case, here) if found.outcome == "failed" else found
    for given in sets[MOST:]:
        yield verdict(probe.name, "not_run", f"{given.source}: not checked, limit of {MOST} requirements files reached")


def _with_uv(found: Verdict, ready: Prepared, case: Case, here: Session) -> Verdict:
    """Still a failure, because install.sh uses pip. The reason says if uv with overrides.txt would resolve it."""
    lines = overrides(case)
    if not lines or case.network.resolver != "uv":
        return found
    first = judged(probe.name, here.on_base(ready, overrides=lines), here)[0]
    way = f"{found.reason}; with uv and {case.patch.folder}/overrides.txt it resolves"
    return found.model_copy(update={"reason": way}) if first.outcome == "passed" else found


probe = Probe(__name__, "resolve", attempt, asks_servers=True)
