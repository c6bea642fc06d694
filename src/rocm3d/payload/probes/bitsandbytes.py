"""bitsandbytes: which native library was loaded, and eight-bit blocks there and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def look(bench: Any) -> None:
    """Blocks whose greatest element is 1, so that the gaps of the number format are the allowed error."""
    from bitsandbytes import cextension, functional

    library = getattr(getattr(cextension, "lib", None), "_lib", None)
    name = Path(str(getattr(library, "_name", ""))).name
    bench.facts["library"] = name
    if bench.device != "cpu" and (not name or "_cpu" in name):
        bench.fall_back(f"the native library is {name or 'not loaded'}")
    values = bench.random(64, 256, seed=1)
    values = values / values.abs().amax(1, keepdim=True)
    packed, state = bench.run(lambda: functional.quantize_blockwise(values, blocksize=256))
    back = bench.run(lambda: functional.dequantize_blockwise(packed, state))
    bench.expect("packed type", str(packed.dtype).rpartition(".")[2], "uint8")
    bench.agree("there and back", back, values, "float32-quantised-8bit")
