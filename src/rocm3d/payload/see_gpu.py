"""Prints the GPUs that torch sees as one JSON line.

python see_gpu.py
"""

from __future__ import annotations

import importlib.util
import json
from typing import Any


def visible_gpus() -> dict[str, Any]:
    """`torch` is the version of torch, empty if not installed; `hip` is empty for a build without ROCm."""
    if importlib.util.find_spec("torch") is None:
        return {"torch": "", "hip": "", "devices": []}
    import torch

    devices = []
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        devices.append({"name": str(properties.name), "uuid": str(getattr(properties, "uuid", ""))})
    return {"torch": str(torch.__version__), "hip": str(torch.version.hip or ""), "devices": devices}


if __name__ == "__main__":
    print(json.dumps(visible_gpus()))  # noqa: T201
