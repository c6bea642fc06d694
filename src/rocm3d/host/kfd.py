"""AMD GPUs of this machine, from the kernel's KFD topology. Needs no ROCm and no root.

Format: https://docs.kernel.org/gpu/amdgpu (properties of each node, one `name value` a line).
"""

from __future__ import annotations

from pathlib import Path

TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")


def gpus(topology: Path = TOPOLOGY) -> list[str]:
    """gfx ids of the GPUs, in node order; empty without the driver."""
    try:
        nodes = sorted(topology.iterdir(), key=lambda node: (len(node.name), node.name))
    except OSError:
        return []
    versions = [_properties(node / "properties").get("gfx_target_version", 0) for node in nodes]
    return [_gfx(version) for version in versions if version]


def _properties(path: Path) -> dict[str, int]:
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.split() for line in lines)
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def _gfx(version: int) -> str:
    """90402 is gfx942, 110000 is gfx1100, 90010 is gfx90a: the stepping is one hexadecimal digit."""
    return f"gfx{version // 10000}{version // 100 % 100}{version % 100:x}"
