"""Adds a guarded include on ROCm if a file uses a header's names without including it.

Parameters: header, names, also_given_by (other headers that include it, or prefixes of their paths), guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import insert_guarded, offset_after_includes
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked, directives


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts one guarded include after the others, above the first use that both builds see."""
    header = str(parameters["header"])
    sufficient_headers = (header, *list_parameter(parameters, "also_given_by"))
    included = [directive.argument.strip('<>"') for directive in directives(data) if directive.keyword == "include"]
    first_use = _first_use(data, list_parameter(parameters, "names"))
    if first_use is None or any(name.startswith(sufficient_headers) for name in included):
        return data
    return insert_guarded(data, offset_after_includes(data, first_use), f"#include <{header}>\n".encode(), parameters)


def _first_use(data: bytes, names: tuple[str, ...]) -> int | None:
    unit = CudaUnit("", data)
    pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(name.encode()) for name in names) + rb")\b")
    return next((match.start() for match in pattern.finditer(blanked(data)) if unit.is_shared(match.start())), None)
