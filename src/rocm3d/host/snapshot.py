"""Takes a snapshot of a machine: reads system files, finds ROCm, and runs the user's interpreter once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path

from rocm3d.host.cards import User, group_names, read_cards, read_devices
from rocm3d.host.files import MachineFiles, Mount, find_mount, read_mounts
from rocm3d.host.installed_torch import InterpreterInfo, find_torch, query_interpreter
from rocm3d.host.processor import read_processor
from rocm3d.knowledge.base import Knowledge
from rocm3d.model.errors import Rocm3dError
from rocm3d.model.snapshot import (
    InstalledDistribution,
    Interpreter,
    KernelCache,
    RocmInstall,
    Snapshot,
)
from rocm3d.record import redact
from rocm3d.record.manifest import cache_folder, relevant_variables

# Boot parameters that affect GPUs; others may contain private data such as disk ids.
_BOOT_PARAMETERS = re.compile(
    r"(iommu|amd_iommu|intel_iommu|amdgpu|radeon|ttm|amdttm|pci|pcie\w*|numa\w*|nomodeset|module_blacklist|modprobe\.blacklist|mem)\b"
)
# Recorded in addition to the variables of the knowledge base: they decide which libraries are loaded.
_HSA_RUNTIME = "libhsa-runtime64.so*"
_LIBRARY_VARIABLES = ("LD_LIBRARY_PATH", "LD_PRELOAD")
_CONTAINERS = {"/.dockerenv": "docker", "/run/.containerenv": "podman", "/.singularity.d": "apptainer"}
_NVIDIA = ("/sys/module/nvidia", "/usr/lib/wsl/lib/libnvidia-ml.so.1")
_LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
_RUNTIME = "libamdhip64.so.*"
_COMPILERS = ("bin/hipcc", "bin/amdclang++", "lib/llvm/bin/amdclang++", "lib/llvm/bin/clang++")
# Import folder of the ROCm SDK wheels; the release is in the name of their dist-info folder.
_SDK_FOLDER = "_rocm_sdk_core"


@dataclass(frozen=True)
class MachineSource:
    """The machine to read: its files, environment variables, user, and the interpreter if there is one."""

    files: MachineFiles
    environment: Mapping[str, str]
    home: str = ""
    interpreter: Path | None = None
    no_interpreter: str = "no interpreter was passed"
    user: User = field(default_factory=User.current)


def collect_snapshot(machine: MachineSource, knowledge: Knowledge, now: str) -> Snapshot:
    """Read a machine; `now` is the timestamp of the snapshot."""
    files, mounts = machine.files, read_mounts(machine.files)
    info, python, problem = None, None, machine.no_interpreter
    if machine.interpreter is not None:
        try:
            info, problem = query_interpreter(machine.interpreter), ""
            python = read_interpreter(machine.interpreter, info)
        except Rocm3dError as error:
            problem = error.message
    kernel = files.text("/proc/sys/kernel/osrelease")[:128]
    snapshot = Snapshot(
        taken=now,
        system=_system_name(files),
        kernel=kernel,
        boot=tuple(
            parameter[:256] for parameter in files.text("/proc/cmdline").split() if _BOOT_PARAMETERS.match(parameter)
        )[:64],
        driver=files.text("/sys/module/amdgpu/version")[:64],
        wsl=_wsl_version(kernel),
        container=_container(machine),
        nvidia=any(files.exists(path) for path in _NVIDIA),
        groups=group_names(files, machine.user),
        root=machine.user.uid == 0,
        gpus=read_cards(files, knowledge.integrated_targets),
        devices=read_devices(files, machine.user),
        processor=read_processor(files, mounts),
        rocm=read_rocm_installs(files, info),
        python=python,
        no_python=problem[:1000],
        variables=_variables(machine, knowledge),
        caches=tuple(read_kernel_caches(files, machine.environment, knowledge, mounts)),
    )
    return _without_home(snapshot, machine.home)


def _variables(machine: MachineSource, knowledge: Knowledge) -> dict[str, str]:
    recorded = relevant_variables(machine.environment, knowledge)
    recorded |= {name: machine.environment[name] for name in _LIBRARY_VARIABLES if name in machine.environment}
    valid = {name: value for name, value in recorded.items() if re.fullmatch(r"[A-Za-z_]\w{0,127}", name, re.ASCII)}
    return {name: value[:4096] for name, value in redact.variables(valid).items()}


def _system_name(files: MachineFiles) -> str:
    named = re.search(r'^PRETTY_NAME="?([^"\n]{1,128})', files.text("/etc/os-release"), re.MULTILINE)
    return named.group(1) if named else ""


def _wsl_version(kernel: str) -> str:
    """WSL version from the kernel release: WSL 1 emulates a kernel whose name ends with -Microsoft."""
    if "microsoft" not in kernel.lower():
        return ""
    return "1" if kernel.endswith("-Microsoft") else "2"


def _container(machine: MachineSource) -> str:
    if "KUBERNETES_SERVICE_HOST" in machine.environment:
        return "kubernetes"
    return next((name for path, name in _CONTAINERS.items() if machine.files.exists(path)), "")


def _without_home(snapshot: Snapshot, home: str) -> Snapshot:
    """Replace the home folder by ~: its path contains the user name."""
    if len(home) < 2:
        return snapshot
    return Snapshot.model_validate_json(snapshot.model_dump_json().replace(f"{home}/", "~/"))


def read_interpreter(interpreter: Path, info: InterpreterInfo) -> Interpreter:
    """Facts about an interpreter; strings are cut to a maximum length because their source is not trusted."""
    torch = find_torch(info)
    installed = {}
    for distribution in distributions(path=[str(folder) for folder in info.folders if folder.is_dir()]):
        name = distribution.metadata["Name"] or ""
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", name) and name not in installed:
            installed[name] = InstalledDistribution(name=name, version=(distribution.version or "")[:128])
    return Interpreter(
        path=str(interpreter)[:4096],
        version=info.version[:32],
        torch=torch.version[:128] if torch else "",
        hip=(torch.hip or "")[:128] if torch else "",
        cuda=(torch.cuda or "")[:128] if torch else "",
        own_runtime=bool(torch and torch.folder and any((torch.folder / "lib").glob(_HSA_RUNTIME))),
        distributions=tuple(installed[name] for name in sorted(installed, key=str.lower)),
    )


def read_kernel_caches(
    files: MachineFiles, environment: Mapping[str, str], knowledge: Knowledge, mounts: Sequence[Mount]
) -> Iterator[KernelCache]:
    """One entry per cache variable of the knowledge base. Read-only: no folder is created."""
    for variable in knowledge.variables.values():
        if variable.cache:
            folder = cache_folder(variable, environment)
            mount = find_mount(str(folder), mounts)
            # A default path may contain the user name, which must not be in a snapshot.
            displayed = (
                str(folder) if environment.get(variable.id) or "{user}" not in variable.cache else variable.cache
            )
            yield KernelCache(
                variable=variable.id,
                path=displayed[:4096],
                writable=_is_writable(files.path(folder)),
                filesystem=mount.filesystem if mount else "",
            )


def _is_writable(folder: Path) -> bool:
    """Checks the nearest existing parent, in which the missing folders would be created."""
    for candidate in (folder, *folder.parents):
        try:
            if candidate.exists():
                return candidate.is_dir() and os.access(candidate, os.W_OK | os.X_OK)
        except OSError:
            return False
    return False


def read_rocm_installs(files: MachineFiles, interpreter: InterpreterInfo | None) -> tuple[RocmInstall, ...]:
    """System installations first, then those of the interpreter's environment."""
    return (
        *_opt_installs(files),
        *_distribution_installs(files),
        *(_environment_installs(interpreter) if interpreter else ()),
    )


def _opt_installs(files: MachineFiles) -> Iterator[RocmInstall]:
    """/opt/rocm is often a link to another installation, directly or through /etc/alternatives."""
    visited = set()
    folders = [f"/opt/{name}" for name in files.glob_names("/opt", "rocm*")]
    folders += [f"{folder}/{name}" for folder in folders for name in files.glob_names(folder, "core*")]
    for folder_path in folders:
        real, version = files.resolve(folder_path), files.text(f"{folder_path}/.info/version").partition("-")[0]
        if real is None or real in visited or not (version or files.glob_names(f"{folder_path}/lib", _RUNTIME)):
            continue
        visited.add(real)
        has_compiler = any(files.exists(f"{folder_path}/{name}") for name in _COMPILERS)
        release = version or _release_from_libraries(files.glob_names(f"{folder_path}/lib", _RUNTIME))
        yield RocmInstall(form="system", path=folder_path, version=release[:64], compiler=has_compiler)


def _distribution_installs(files: MachineFiles) -> Iterator[RocmInstall]:
    for folder in _LIBRARIES:
        names = files.glob_names(folder, _RUNTIME)
        if names:
            compiler = files.exists("/usr/bin/hipcc")
            yield RocmInstall(
                form="distribution", path=folder, version=_release_from_libraries(names), compiler=compiler
            )
            return


def _environment_installs(interpreter: InterpreterInfo) -> Iterator[RocmInstall]:
    for folder in interpreter.folders:
        wheels = folder / _SDK_FOLDER
        if wheels.is_dir():
            dist_infos = sorted(folder.glob("rocm_sdk_core-*.dist-info"))
            version = dist_infos[-1].name.removesuffix(".dist-info").split("-")[1] if dist_infos else ""
            yield RocmInstall(form="pip", path=str(wheels)[:4096], version=version[:64], compiler=_has_compiler(wheels))
            break
    if (interpreter.prefix / "conda-meta").is_dir():
        names = [path.name for path in sorted((interpreter.prefix / "lib").glob(_RUNTIME))]
        if names:
            path, compiler = str(interpreter.prefix)[:4096], _has_compiler(interpreter.prefix)
            yield RocmInstall(form="conda", path=path, version=_release_from_libraries(names), compiler=compiler)


def _has_compiler(folder: Path) -> bool:
    return any((folder / name).exists() for name in _COMPILERS)


def _release_from_libraries(names: Iterable[str]) -> str:
    """Version from library names: libamdhip64.so.7.2.70200 is release 7.2. The most precise name wins."""
    matches = (re.match(r"libamdhip64\.so\.(\d{1,3}(?:\.\d{1,3})?)", name) for name in names)
    return max((match.group(1) for match in matches if match), key=len, default="")
