"""Components whose terms are worth reading before anything is shipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.plan import LicenceNotice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.port import Port


def licences(packages: Iterable[str | None], port: Port | None, knowledge: Knowledge) -> tuple[LicenceNotice, ...]:
    """Only terms that forbid something: of the packages, by id, and of the repository itself where it is known."""
    found = [
        LicenceNotice(package=name, licence=licence)
        for name in sorted({name for name in packages if name})
        if (licence := knowledge.packages[name].licence) is not None and licence.restrictive
    ]
    if port is not None and port.licence is not None and port.licence.restrictive:
        found.append(LicenceNotice(package=port.title, licence=port.licence))
    return tuple(found)
