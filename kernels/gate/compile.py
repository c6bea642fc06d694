"""Compiles the declared kernels for AMD targets with the installed Triton; prints the result rows as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib import import_module
from typing import Any

from gate.code_object import read
from gate.sources import operations

# Targets by wave size. The first two are compiled in `make test`.
TARGETS = {"gfx942": 64, "gfx1100": 32, "gfx90a": 64, "gfx950": 64, "gfx1151": 32, "gfx1200": 32, "gfx1201": 32}
QUICK = ("gfx942", "gfx1100")
LDS_BYTES = 64 * 1024
# Usual tensors: aligned to 16 bytes and below 2 GiB. The compiler then uses wide buffer loads.
POINTER_ATTRIBUTES = [["tt.divisibility", 16], ["tt.pointer_range", 32]]


def declared_kernels(op: str) -> list[Any]:
    """The list KERNELS of an operation's gate.py. Raises ValueError if it is empty."""
    kernels = list(import_module(f"rocm3d_kernels.{op}.gate").KERNELS)
    if not kernels:
        raise ValueError(f"{op}: gate.py lists no kernel")
    return kernels


def rows(op: str, *, quick: bool) -> Iterator[dict[str, Any]]:
    """One row for each kernel, dtype and target."""
    for gate_kernel in declared_kernels(op):
        if quick and not gate_kernel.quick:
            continue
        for target in QUICK if quick else TARGETS:
            yield row(gate_kernel, target)


def row(gate_kernel: Any, target: str) -> dict[str, Any]:
    """Resources of the kernel compiled for one target; `problem` is empty if all is well."""
    values = {
        "op": gate_kernel.op,
        "kernel": gate_kernel.name,
        "dtype": gate_kernel.dtype,
        "target": target,
        "constants": dict(gate_kernel.constants),
    }
    start = time.monotonic()
    try:
        compiled_kernel = compile_kernel(gate_kernel, target)
        code_object = read(compiled_kernel.asm["hsaco"])
    except Exception as error:  # noqa: BLE001  (any error of the compiler is the result)
        return {**values, "problem": f"{type(error).__name__}: {str(error).strip()[-500:]}"}
    # Triton requests LDS at launch, so the code object itself shows none.
    code_object = replace(code_object, lds=max(code_object.lds, compiled_kernel.metadata.shared))
    values |= {name: value for name, value in asdict(code_object).items() if name != "target"}
    return {
        **values,
        "seconds": round(time.monotonic() - start, 1),
        "problem": problem(gate_kernel, target, code_object),
    }


def compile_kernel(gate_kernel: Any, target: str) -> Any:
    """Triton's compiled kernel for one target."""
    import triton  # noqa: PLC0415
    from triton.backends.compiler import GPUTarget  # noqa: PLC0415
    from triton.compiler import ASTSource  # noqa: PLC0415

    constants, options = gate_kernel.compile_arguments(target)
    signature = {**gate_kernel.arguments, **dict.fromkeys(constants, "constexpr")}
    ordered = {name: signature[name] for name in gate_kernel.kernel.arg_names}
    attributes = {
        (position,): POINTER_ATTRIBUTES for position, kind in enumerate(ordered.values()) if kind.startswith("*")
    }
    source = ASTSource(gate_kernel.kernel, ordered, constexprs=constants, attrs=attributes)
    return triton.compile(source, target=GPUTarget("hip", target, TARGETS[target]), options=options)


def problem(gate_kernel: Any, target: str, code_object: Any) -> str:
    """What is wrong with a code object; empty if nothing is."""
    if code_object.target != target:
        return f"compiled for {code_object.target}"
    if code_object.wave != TARGETS[target]:
        return f"compiled for wave size {code_object.wave}"
    if code_object.spills > gate_kernel.spills:
        return f"{code_object.spills} registers spilled, {gate_kernel.spills} allowed"
    if code_object.lds > LDS_BYTES:
        return f"{code_object.lds} bytes of LDS, the limit is {LDS_BYTES}"
    return ""


def main() -> int:
    """Operations and `--quick` on the command line; a JSON list on stdout."""
    import triton  # noqa: PLC0415

    quick = "--quick" in sys.argv
    selected = [name for name in sys.argv[1:] if not name.startswith("-")] or operations()
    results = [{"triton": triton.__version__, **item} for op in selected for item in rows(op, quick=quick)]
    sys.stdout.write(json.dumps(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
