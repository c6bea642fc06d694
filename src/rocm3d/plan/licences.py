"""Components whose licence limits use or redistribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.plan import LicenceNotice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.port import Port


def licence_notices(
    packages: Iterable[str | None], port: Port | None, knowledge: Knowledge
) -> tuple[LicenceNotice, ...]:
    """Restrictive licences of the packages, sorted by id, then that of the repository itself if it is known."""
    notices = [
        LicenceNotice(package=name, licence=licence)
        for name in sorted({name for name in packages if name})
        if (licence := knowledge.packages[name].licence) is not None and licence.restrictive
    ]
    if port is not None and port.licence is not None and port.licence.restrictive:
        notices.append(LicenceNotice(package=port.title, licence=port.licence))
    return tuple(notices)
