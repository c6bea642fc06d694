"""bitsandbytes: the loaded native library, and 8-bit block quantisation and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def check(session: Any) -> None:
    """Every block has the maximum 1, so that the error is at most the step of the number format."""
    from bitsandbytes import cextension, functional

    library = getattr(getattr(cextension, "lib", None), "_lib", None)
    name = Path(str(getattr(library, "_name", ""))).name
    session.facts["library"] = name
    if session.device != "cpu" and (not name or "_cpu" in name):
        session.fall_back(f"the native library is {name or 'not loaded'}")
    values = session.random_normal(64, 256, seed=1)
    values = values / values.abs().amax(1, keepdim=True)
    packed, state = session.run(lambda: functional.quantize_blockwise(values, blocksize=256))
    back = session.run(lambda: functional.dequantize_blockwise(packed, state))
    session.check_equal("packed type", str(packed.dtype).rpartition(".")[2], "uint8")
    session.check_close("there and back", back, values, "float32-quantised-8bit")
