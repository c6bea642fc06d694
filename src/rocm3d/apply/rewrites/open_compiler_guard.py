"""Lets guards that test for NVIDIA's compiler accept HIP's. Parameters: macros, compiler."""

from __future__ import annotations

import re

from rocm3d.apply.extended_condition import extend_conditions
from rocm3d.apply.rewrite import Rewrite, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.directives import Directive


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Extends only plain tests: a test combined with others may mean something else."""
    macros = "|".join(re.escape(word) for word in list_parameter(parameters, "macros"))
    plain = re.compile(rf"defined\s*\(\s*(?:{macros})\s*\)|defined\s+(?:{macros})|{macros}")

    def wanted(item: Directive) -> bool:
        if item.keyword in ("ifdef", "ifndef"):
            return re.fullmatch(macros, item.argument) is not None
        return plain.fullmatch(item.argument) is not None

    return extend_conditions(data, wanted, f"defined({parameters['compiler']})")


rewrite = Rewrite(__name__, edit)
