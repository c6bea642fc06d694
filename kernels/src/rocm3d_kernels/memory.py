"""Whether the images of a rendering fit into the memory of their device, asked before anything is computed."""

from __future__ import annotations

from pathlib import Path

import torch

# Smaller renderings are not checked: the query takes longer than such a check saves, and torch's own error is clear.
MIN_BYTES = 2**30
MEMORY_INFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def check_images_fit(op: str, images: int, width: int, height: int, channels: int, device: torch.device) -> None:
    """Raises ValueError if float32 images with this many channels exceed the free memory. They are the least needed."""
    needed = 4 * images * width * height * channels
    if needed < MIN_BYTES or device.type == "meta" or torch.compiler.is_compiling():
        return
    free = free_bytes(device)
    if free is not None and needed > free:
        raise ValueError(
            f"{op}: {images} images of width {width} and height {height} need at least {_gib(needed)}, but {device} "
            f"has {_gib(free)} free; render smaller or fewer images"
        )


def free_bytes(device: torch.device) -> int | None:
    """Memory that an allocation may get; None if it cannot be read now."""
    if device.type == "cuda":
        if torch.cuda.is_current_stream_capturing():
            return None
        # torch caches freed memory; it is free for torch.
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        free: int = torch.cuda.mem_get_info(device)[0] + cached
        return free
    return _free_bytes_of_host() if device.type == "cpu" else None


def _free_bytes_of_host() -> int | None:
    """Of the machine, or of the container if that has less."""
    limits = []
    for line in _read(MEMORY_INFO).splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable" and rest.split()[:1] and rest.split()[0].isdigit():
            limits.append(int(rest.split()[0]) * 1024)
    highest, used = _read(CGROUP / "memory.max").strip(), _read(CGROUP / "memory.current").strip()
    if highest.isdigit() and used.isdigit():
        limits.append(max(int(highest) - int(used), 0))
    return min(limits, default=None)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _gib(count: int) -> str:
    return f"{count / 2**30:.1f} GiB"
