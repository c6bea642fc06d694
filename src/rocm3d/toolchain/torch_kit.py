"""The parts of torch that building extensions needs: HIP and CUDA headers, hipify and compiler flags."""

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

from rocm3d.model.errors import MachineError
from rocm3d.model.toolchain import TorchWheel, WheelToolchain
from rocm3d.toolchain import prepared
from rocm3d.toolchain.hipify import MODULE, SCRIPT, Hipify, write_hip_headers
from rocm3d.workspace.process import run
from rocm3d.workspace.state import cache_folder

TORCH_PATHS_SCRIPT = Path(__file__).parents[1] / "payload" / "torch_places.py"
_STANDARD = re.compile(r"cpp_flag_prefix \+ '(c\+\+\d\d)'")
_VERSION = re.compile(r"^__version__ = '([^']+)'", re.MULTILINE)
_HIPIFY_VERSION = re.compile(r"""__version__ = ['"](\d+)""")


@dataclass(frozen=True)
class TorchFlags:
    """Flags of torch's BuildExtension: for every source under ROCm, for device sources, and for nvcc."""

    common: tuple[str, ...]
    device: tuple[str, ...]
    cuda: tuple[str, ...]
    standard: str


@dataclass(frozen=True)
class TorchKit:
    """`include` is in search order. `generation`: of hipify. `root` contains all headers; caches skip its files."""

    version: str
    generation: int
    root: Path
    include: tuple[Path, ...]
    cuda_include: tuple[Path, ...]
    python_include: Path
    hipify: Hipify
    flags: TorchFlags

    @property
    def search(self) -> tuple[Path, ...]:
        """All include folders, Python's last."""
        return (*self.include, self.python_include)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files and folders that compilers and hipify read."""
        # hipify of an installed torch imports torch, and torch what is installed beside it.
        package = self.hipify.package_parent or self.root.parent
        return (self.root, *self.search, *self.cuda_include, package)


def kit_from_wheel(recipe: WheelToolchain, part: TorchWheel, root: Path | None = None) -> TorchKit:
    """From a torch wheel of the prepared toolchain."""
    folder = (root or prepared.toolchain_folder(recipe)) / part.folder
    hip_include, include = folder / "hip_include", folder / "include"
    return TorchKit(
        version=part.version,
        generation=part.hipify,
        root=folder,
        include=(hip_include, *_include_folders(include)),
        cuda_include=(*_include_folders(include), hip_include),
        python_include=Path(sysconfig.get_path("include")),
        hipify=Hipify(folder),
        flags=read_flags((folder / "cpp_extension.py").read_text(encoding="utf-8")),
    )


def kit_from_interpreter(interpreter: Path) -> TorchKit:
    """From the torch of another environment. If it is not a ROCm build, HIP headers are generated from its headers."""
    finished = run([str(interpreter), "-I", str(TORCH_PATHS_SCRIPT)])
    try:
        paths = json.loads(finished.stdout)
    except ValueError as error:
        raise MachineError(f"cannot run {interpreter} to locate torch") from error
    if not paths["torch"]:
        raise MachineError(f"torch is not installed for {interpreter}")
    torch = Path(paths["torch"])
    version = _VERSION.search((torch / "version.py").read_text(encoding="utf-8"))
    hipify_version = _HIPIFY_VERSION.search((torch / "utils" / "hipify" / "__init__.py").read_text(encoding="utf-8"))
    hipify = Hipify(None, interpreter)
    hip_include = _hip_headers(torch, version.group(1) if version else "unknown", hipify)
    return TorchKit(
        version=version.group(1) if version else "unknown",
        generation=int(hipify_version.group(1)) if hipify_version else 1,
        root=torch,
        include=(*hip_include, *_include_folders(torch / "include")),
        cuda_include=(*_include_folders(torch / "include"), *hip_include),
        python_include=Path(paths["include"]),
        hipify=hipify,
        flags=read_flags((torch / "utils" / "cpp_extension.py").read_text(encoding="utf-8")),
    )


def read_flags(text: str) -> TorchFlags:
    """Parses torch's cpp_extension.py, whose flag lists are literals."""
    lists: dict[str, tuple[str, ...]] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.List):
            words = [item.value for item in node.value.elts if isinstance(item, ast.Constant)]
            lists[node.targets[0].id] = tuple(word for word in words if isinstance(word, str))
    standard = _STANDARD.search(text)
    return TorchFlags(
        common=(*lists.get("COMMON_HIP_FLAGS", ()), "-fPIC"),
        device=lists.get("COMMON_HIPCC_FLAGS", ()),
        cuda=lists.get("COMMON_NVCC_FLAGS", ()),
        standard=standard.group(1) if standard else "c++17",
    )


def _include_folders(include: Path) -> tuple[Path, Path]:
    return include, include / "torch" / "csrc" / "api" / "include"


def _hip_headers(torch: Path, version: str, hipify: Hipify) -> tuple[Path, ...]:
    """Include folder of generated HIP headers, created once in the cache; none for a ROCm build of torch."""
    if (torch / "include" / "c10" / "hip").is_dir():
        return ()
    # The key includes the code that generates them, so that an upgrade generates new ones.
    generator_code = b"".join(path.read_bytes() for path in (MODULE, SCRIPT))
    generator_digest = hashlib.sha256(generator_code).hexdigest()[:12]
    cached = cache_folder() / "torch-headers" / f"{version}-{sys.version_info[0]}-{generator_digest}"
    if not cached.is_dir():
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent, prefix="making-") as making:
            write_hip_headers(torch / "include", Path(making) / "made", hipify)
            try:
                (Path(making) / "made").rename(cached)
            except OSError:  # another process was faster
                assert cached.is_dir()
    return (cached,)
