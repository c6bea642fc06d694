"""Lets guards that test for NVIDIA's compiler or device pass accept HIP's.

Parameters: macros, accept (HIP's macro), bare (whether `#if MACRO` is such a test, too).
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import extend_conditions
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.directives import Directive


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Extends only plain tests: a comparison, or a test combined with others, may mean something else."""
    macros = list_parameter(parameters, "macros")
    names = "|".join(map(re.escape, macros))
    bare = rf"|{names}" if parameters.get("bare") else ""
    plain = re.compile(rf"defined\s*\(\s*(?:{names})\s*\)|defined\s+(?:{names}){bare}")

    def is_plain_test(directive: Directive) -> bool:
        if directive.keyword in ("ifdef", "ifndef"):
            return directive.argument in macros
        return plain.fullmatch(directive.argument) is not None

    return extend_conditions(data, is_plain_test, f"defined({parameters['accept']})")
