"""What of a torch a build of extensions needs: headers for both sides, its hipify, and the flags that it gives."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.failure import MachineLacks
from rocm3d.toolchain import prepared, torch_headers
from rocm3d.toolchain.hipify import SCRIPT, Hipify
from rocm3d.workspace.process import run
from rocm3d.workspace.state import cache_folder

if TYPE_CHECKING:
    from rocm3d.model.toolchain import TorchWheel, WheelToolchain

PLACES = Path(__file__).parents[1] / "payload" / "torch_places.py"
_STANDARD = re.compile(r"cpp_flag_prefix \+ '(c\+\+\d\d)'")
_VERSION = re.compile(r"^__version__ = '([^']+)'", re.MULTILINE)
_HIPIFY_VERSION = re.compile(r"""__version__ = ['"](\d+)""")


@dataclass(frozen=True)
class Flags:
    """What torch's BuildExtension gives: to every source under ROCm, to device sources, and to nvcc."""

    common: tuple[str, ...]
    device: tuple[str, ...]
    cuda: tuple[str, ...]
    standard: str


@dataclass(frozen=True)
class TorchKit:
    """`include` is in the order of the search; `root` holds all of it, so that a cache need not look inside."""

    version: str
    generation: int
    root: Path
    include: tuple[Path, ...]
    cuda_include: tuple[Path, ...]
    python_include: Path
    hipify: Hipify
    flags: Flags

    @property
    def search(self) -> tuple[Path, ...]:
        """Every folder of headers, Python's last."""
        return (*self.include, self.python_include)


def of_wheel(recipe: WheelToolchain, part: TorchWheel, root: Path | None = None) -> TorchKit:
    """The one that the prepared toolchain brings."""
    folder = (root or prepared.place(recipe)) / part.folder
    hip, plain = folder / "hip_include", folder / "include"
    return TorchKit(
        version=part.version,
        generation=part.hipify,
        root=folder,
        include=(hip, *_both(plain)),
        cuda_include=(*_both(plain), hip),
        python_include=Path(sysconfig.get_path("include")),
        hipify=Hipify(folder),
        flags=flags_of((folder / "cpp_extension.py").read_text(encoding="utf-8")),
    )


def of_interpreter(interpreter: Path) -> TorchKit:
    """The one that another environment has; headers for HIP are made of its own where it is no ROCm build."""
    ended = run([str(interpreter), "-I", str(PLACES)])
    try:
        places = json.loads(ended.stdout)
    except ValueError as error:
        raise MachineLacks(f"{interpreter} cannot be asked for torch") from error
    if not places["torch"]:
        raise MachineLacks(f"{interpreter} has no torch")
    torch = Path(places["torch"])
    version = _VERSION.search((torch / "version.py").read_text(encoding="utf-8"))
    named = _HIPIFY_VERSION.search((torch / "utils" / "hipify" / "__init__.py").read_text(encoding="utf-8"))
    hipify = Hipify(None, interpreter)
    hip = _hip_headers(torch, version.group(1) if version else "unknown", hipify)
    return TorchKit(
        version=version.group(1) if version else "unknown",
        generation=int(named.group(1)) if named else 1,
        root=torch,
        include=(*hip, *_both(torch / "include")),
        cuda_include=(*_both(torch / "include"), *hip),
        python_include=Path(places["include"]),
        hipify=hipify,
        flags=flags_of((torch / "utils" / "cpp_extension.py").read_text(encoding="utf-8")),
    )


def flags_of(text: str) -> Flags:
    """Read them out of torch's own cpp_extension.py, whose lists are literals."""
    lists: dict[str, tuple[str, ...]] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.List):
            words = [item.value for item in node.value.elts if isinstance(item, ast.Constant)]
            lists[node.targets[0].id] = tuple(word for word in words if isinstance(word, str))
    standard = _STANDARD.search(text)
    return Flags(
        common=(*lists.get("COMMON_HIP_FLAGS", ()), "-fPIC"),
        device=lists.get("COMMON_HIPCC_FLAGS", ()),
        cuda=lists.get("COMMON_NVCC_FLAGS", ()),
        standard=standard.group(1) if standard else "c++17",
    )


def _both(include: Path) -> tuple[Path, Path]:
    return include, include / "torch" / "csrc" / "api" / "include"


def _hip_headers(torch: Path, version: str, hipify: Hipify) -> tuple[Path, ...]:
    """None are needed where torch was built for ROCm; else made once and kept."""
    if (torch / "include" / "c10" / "hip").is_dir():
        return ()
    # By what makes them as well: an upgrade makes its own.
    makers = b"".join(path.read_bytes() for path in (Path(torch_headers.__file__), SCRIPT))
    made_by = hashlib.sha256(makers).hexdigest()[:12]
    kept = cache_folder() / "torch-headers" / f"{version}-{sys.version_info[0]}-{made_by}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix="making-") as making:
            torch_headers.make(torch / "include", Path(making) / "made", hipify)
            try:
                (Path(making) / "made").rename(kept)
            except OSError:  # somebody else was faster
                assert kept.is_dir()
    return (kept,)
