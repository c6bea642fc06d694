"""Lets guards that test for the device pass accept HIP's device pass. Parameters: macro, on_device."""

from __future__ import annotations

import re

from rocm3d.apply.extended_condition import extend_conditions
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.directives import Directive


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Extends only plain `defined` tests: a comparison with a number tests for an NVIDIA generation."""
    macro = str(parameters["macro"])
    plain = re.compile(rf"defined\s*\(\s*{macro}\s*\)|defined\s+{macro}")

    def is_plain_test(directive: Directive) -> bool:
        if directive.keyword in ("ifdef", "ifndef"):
            return directive.argument == macro
        return plain.fullmatch(directive.argument) is not None

    return extend_conditions(data, is_plain_test, f"defined({parameters['on_device']})")
