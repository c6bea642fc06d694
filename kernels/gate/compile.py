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
LDS = 64 * 1024
# Usual tensors: aligned to 16 bytes and below 2 GiB. The compiler then uses wide buffer loads.
USUAL = [["tt.divisibility", 16], ["tt.pointer_range", 32]]


def declared(op: str) -> list[Any]:
    """The list KERNELS of an operation's gate.py. Raises ValueError if it is empty."""
    kernels = list(import_module(f"rocm3d_kernels.{op}.gate").KERNELS)
    if not kernels:
        raise ValueError(f"{op}: gate.py lists no kernel")
    return kernels


def rows(op: str, *, quick: bool) -> Iterator[dict[str, Any]]:
    """One row for each kernel, dtype and target."""
    for item in declared(op):
        if quick and not item.quick:
            continue
        for target in QUICK if quick else TARGETS:
            yield row(item, target)


def row(item: Any, target: str) -> dict[str, Any]:
    """Resources of the kernel compiled for one target; `problem` is empty if all is well."""
    about = {
        "op": item.op,
        "kernel": item.name,
        "dtype": item.dtype,
        "target": target,
        "constants": dict(item.constants),
    }
    begun = time.monotonic()
    try:
        made = compiled(item, target)
        found = read(made.asm["hsaco"])
    except Exception as error:  # noqa: BLE001  (any error of the compiler is the result)
        return {**about, "problem": f"{type(error).__name__}: {str(error).strip()[-500:]}"}
    # Triton requests LDS at launch, so the code object itself shows none.
    found = replace(found, lds=max(found.lds, made.metadata.shared))
    about |= {name: value for name, value in asdict(found).items() if name != "target"}
    return {**about, "seconds": round(time.monotonic() - begun, 1), "problem": problem(item, target, found)}


def compiled(item: Any, target: str) -> Any:
    """Triton's compiled kernel for one target."""
    import triton  # noqa: PLC0415
    from triton.backends.compiler import GPUTarget  # noqa: PLC0415
    from triton.compiler import ASTSource  # noqa: PLC0415

    constants, options = item.launch(target)
    signature = {**item.arguments, **dict.fromkeys(constants, "constexpr")}
    ordered = {name: signature[name] for name in item.kernel.arg_names}
    attributes = {(place,): USUAL for place, kind in enumerate(ordered.values()) if kind.startswith("*")}
    source = ASTSource(item.kernel, ordered, constexprs=constants, attrs=attributes)
    return triton.compile(source, target=GPUTarget("hip", target, TARGETS[target]), options=options)


def problem(item: Any, target: str, found: Any) -> str:
    """What is wrong with a code object; empty if nothing is."""
    if found.target != target:
        return f"compiled for {found.target}"
    if found.wave != TARGETS[target]:
        return f"compiled for wave size {found.wave}"
    if found.spills > item.spills:
        return f"{found.spills} registers spilled, {item.spills} allowed"
    if found.lds > LDS:
        return f"{found.lds} bytes of LDS, the limit is {LDS}"
    return ""


def main() -> int:
    """Operations and `--quick` on the command line; a JSON list on stdout."""
    import triton  # noqa: PLC0415

    quick = "--quick" in sys.argv
    asked = [name for name in sys.argv[1:] if not name.startswith("-")] or operations()
    found = [{"triton": triton.__version__, **item} for op in asked for item in rows(op, quick=quick)]
    sys.stdout.write(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
