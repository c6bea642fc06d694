"""Files that are no ordinary files, and names that are no ordinary names."""

from __future__ import annotations

import contextlib
import os
import socket
import stat

from attacks.site import INJECTED, Site

CODE = "#include <device_launch_parameters.h>\n#include <cooperative_groups.h>\n__global__ void k() {}\n"
ROLES = (
    "a.cu", "a.py", "requirements.txt", "pyproject.toml", "setup.py", "rocm3d.toml", ".gitmodules", "Dockerfile",
    "environment.yml", ".gitattributes", ".gitignore", "uv.lock",
)  # fmt: skip


def pipes(site: Site) -> None:
    """Whoever opens one waits for ever."""
    for role in site.random.sample(ROLES, 3):
        os.mkfifo(site.clear(role))


def sockets(site: Site) -> None:
    for role in site.random.sample(ROLES, 2):
        site.clear(role)
        with socket.socket(socket.AF_UNIX) as server:
            descriptor = os.open(site.tree, os.O_RDONLY)
            with contextlib.suppress(OSError):
                server.bind(f"/proc/self/fd/{descriptor}/{role}")
            os.close(descriptor)


def devices(site: Site) -> None:
    """Endless devices; as root only, else pipes."""
    for role in site.random.sample(ROLES, 2):
        target = site.clear(role)
        try:
            os.mknod(target, stat.S_IFCHR | 0o666, os.makedev(1, 5))
        except PermissionError:
            os.mkfifo(target)


def huge_files(site: Site) -> None:
    """20 GB that need no disk."""
    for role in site.random.sample(ROLES, 3):
        with site.clear(role).open("wb") as stream:
            stream.write(CODE.encode())
            stream.truncate(20 << 30)


def folders_in_place_of_files(site: Site) -> None:
    for role in site.random.sample(ROLES, 4):
        site.clear(role).mkdir()


def deep_folders(site: Site) -> None:
    """Deeper than a path may be long."""
    descriptor = os.open(site.tree, os.O_RDONLY)
    for _ in range(1500):
        with contextlib.suppress(FileExistsError):
            os.mkdir("deep", dir_fd=descriptor)
        below = os.open("deep", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(os.open("a.cu", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)


def many_files(site: Site) -> None:
    for number in range(3000):
        site.write(f"many/{number}.cu", CODE if number % 100 == 0 else "")


def odd_names(site: Site) -> None:
    """Line ends, escapes of terminals, right-to-left marks, bytes that are no UTF-8, and options."""
    names = (
        "a\nb.cu", f"\x1b]0;{INJECTED}\x07\x1b[2J.cu", "\u202eu\u2066c.exe.cu", "\udce9\udcff.cu", "-rf.cu",
        "--gpu=gfx000.cu", "a b.cu", " .cu", "%s%n.cu", "CON.cu", "a.cu ", "a\\b.cu", "\x7f.cu", "\u2028.cu",
        "\ufeff.cu", "*.cu", "[a].cu", "a:1:2: CU101.cu", "~.cu", "$HOME.cu", "e\u0301.cu", "\u00e9.cu", "A.cu",
        "a.CU", "\r.cu", "n" * 240 + ".cu",
    )  # fmt: skip
    for name in site.random.sample(names, 12):
        with contextlib.suppress(OSError):
            site.write(f"odd/{name}", CODE)


def names_with_commands(site: Site) -> None:
    """Names that a shell would run."""
    mark = f"cd ..;touch ran{chr(92)}name"
    for name in (f"$({mark}).cu", f"`{mark}`.cu", f";{mark};.cu", f"|{mark}.cu", f"'{mark}'.cu", f'"{mark}".cu'):
        with contextlib.suppress(OSError):
            site.write(f"names/{name}", CODE)
    site.write("$(touch ran)/setup.py", "from torch.utils.cpp_extension import CUDAExtension, CUDA_HOME\n")
    site.write("$(touch ran)/requirements.txt", "flash-attn\n")


def odd_modes(site: Site) -> None:
    """Special bits, no permission at all, and a folder that nobody may write."""
    for name, mode in (("special.sh", 0o6755), ("none.cu", 0), ("all.py", 0o777)):
        site.write(f"modes/{name}", CODE).chmod(mode)
    for path in sorted((site.tree / "csrc").rglob("*.cu"))[:1]:
        path.chmod(0o4711)


def names_that_differ_by_case(site: Site) -> None:
    for name in ("Setup.py", "SETUP.PY", "Rocm-Port/a", "ROCM-PORT/port.json", ".GIT/config", ".Rocm3d/plan.json"):
        site.write(name, '{"tool": "rocm3d"}')


SHAPES = (
    pipes, sockets, devices, huge_files, folders_in_place_of_files, deep_folders, many_files, odd_names,
    names_with_commands, odd_modes, names_that_differ_by_case,
)  # fmt: skip
