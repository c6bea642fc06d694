"""Writes every tensor of torch files as .npy, and prints their names as one JSON line.

    python unpack_tensors.py REQUEST.json

The request: `files` (by name) and `folder`. Files are loaded with weights_only, so that no code in them runs.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

PAYLOAD_FOLDER = Path(__file__).resolve().parent


def unpack(name: str, path: str, paths: Iterator[Path], npy: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Write each tensor of one file; yields its entry of the response."""
    import torch

    loaded = torch.load(path, map_location="cpu", weights_only=True)
    for part, tensor in npy["tensors"](loaded, "", torch, numbers=True):
        npy_path = next(paths)
        dtype = npy["write"](npy_path, tensor, torch)
        yield {"name": f"{name}:{part.lstrip('.') or '.'}", "file": npy_path.name, "dtype": dtype}


def main() -> None:
    """Unpack all files; an error in one file does not affect the others."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    npy = runpy.run_path(str(PAYLOAD_FOLDER / "npy.py"))
    paths = (Path(request["folder"], f"{number:06}.npy") for number in count())
    entries: list[dict[str, str]] = []
    failed: dict[str, str] = {}
    for name, path in request["files"].items():
        try:
            entries += list(unpack(name, path, paths, npy))
        except Exception as error:  # noqa: BLE001  (reported as failed)
            failed[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
    output.write(json.dumps({"tensors": entries, "failed": failed}) + "\n")
    output.flush()


if __name__ == "__main__":
    main()
