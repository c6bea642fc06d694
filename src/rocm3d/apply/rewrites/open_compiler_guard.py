"""Lets guards that test for NVIDIA's compiler accept HIP's. Parameters: macros, compiler."""

from __future__ import annotations

import re

from rocm3d.apply.extended_condition import extend_conditions
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.directives import Directive


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Extends only plain tests: a test combined with others may mean something else."""
    macros = "|".join(re.escape(macro) for macro in list_parameter(parameters, "macros"))
    plain = re.compile(rf"defined\s*\(\s*(?:{macros})\s*\)|defined\s+(?:{macros})|{macros}")

    def is_plain_test(directive: Directive) -> bool:
        if directive.keyword in ("ifdef", "ifndef"):
            return re.fullmatch(macros, directive.argument) is not None
        return plain.fullmatch(directive.argument) is not None

    return extend_conditions(data, is_plain_test, f"defined({parameters['compiler']})")
