"""Puts `#if` around includes that a ROCm build must skip. Parameters: headers, refuse_if_called, guard."""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import hidden_lines, replace_lines, shared_includes, without_includes
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Wraps each matching include that both builds see; adjacent includes share a guard."""
    headers = list_parameter(parameters, "headers")
    skipped = [directive for directive, header in shared_includes(CudaUnit("", data)) if header in headers]
    if not skipped:
        return data
    # A macro or `using` needs the header as a call does.
    identifiers = {identifier.decode() for identifier in re.findall(rb"[A-Za-z_]\w*", without_includes(data))}
    used_names = identifiers & set(list_parameter(parameters, "refuse_if_called"))
    if used_names:
        raise RewriteRefusedError(f"this file uses {', '.join(sorted(used_names))} from the header")
    if not data[: skipped[-1].end].endswith(b"\n"):
        raise RewriteRefusedError("the include is the last line and has no newline")
    return replace_lines(data, hidden_lines(skipped), parameters)
