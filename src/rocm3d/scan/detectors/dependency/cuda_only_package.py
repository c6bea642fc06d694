"""A distribution whose default install is a CUDA build; which ones is data (knowledge/packages).

torch and what belongs to it is torch_unpinned_pull, what conda installs is conda_cuda, a name that leads elsewhere is
wrong_package_name, a finished wheel is direct_wheel_url, and a package that is CUDA's only with an extra is gpu_extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import Manifest, Mention
from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.scan.mentions import is_compiled_wheel, is_conda, is_from_default_index, is_rocm, severity, term_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: Manifest, look: Look) -> Iterator[Hit]:
    """Mentions that the knowledge base has a record of."""
    for mention in unit.mentions:
        package = look.knowledge.package_by_pip(mention.name)
        if package is None or is_conda(mention) or is_rocm(unit, mention) or _belongs_elsewhere(unit, mention, look):
            continue
        facts = {"name": mention.name, "purpose": package.purpose}
        yield Hit(mention.line, mention.column, facts, package.id, severity(unit))


def _belongs_elsewhere(unit: Manifest, mention: Mention, look: Look) -> bool:
    """Whether another rule says it better."""
    codes = look.knowledge.codes
    extras = {term.split("[")[0]: why for term, why in codes["DEP203"].terms.items()}
    wrong = term_of(mention.name, codes["DEP204"].terms) is not None
    return (
        is_compiled_wheel(mention)
        or term_of(mention.name, codes["DEP202"].terms) is not None
        or term_of(mention.name, extras) is not None
        or (wrong and is_from_default_index(unit, mention))
    )


detector = Detector(__name__, code="DEP201", reads=Manifest, find=find)
