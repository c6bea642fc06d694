"""Runs torch's hipify in a separate process: on a copy of the sources, and on the CUDA headers in a torch wheel."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm3d.model.errors import MachineError
from rocm3d.workspace.sandbox import Sandbox, run_in

MODULE = Path(__file__)
SCRIPT = MODULE.parents[1] / "payload" / "hipify_sources.py"
_SECONDS = 300.0
_MAX_OUTPUT_BYTES = 16 * 1024 * 1024
_FOLDERS = ("c10/cuda", "ATen/cuda", "ATen/native/cuda")
# Path in torch's source tree: hipify generation 1 translates ATen headers only below it.
_SOURCE = "aten/src"
# Headers that torch's build generates and no wheel has. They define how that torch was built.
_DISABLED_LIBRARIES = ("CUDNN", "CUSPARSELT", "HIPSPARSELT", "MAGMA")
_BUILD_MACROS = {
    "c10/hip/impl/hip_cmake_macros.h": "",
    "c10/cuda/impl/cuda_cmake_macros.h": "",
    "ATen/hip/HIPConfig.h": "#define AT_ROCM_ENABLED() 1\n",
    "ATen/cuda/CUDAConfig.h": "#define AT_ROCM_ENABLED() 0\n",
}


@dataclass(frozen=True)
class HipifyResult:
    """`files` maps a source to its translation, or to itself if nothing changed. `failed`: errors by source."""

    version: str
    files: Mapping[Path, Path]
    failed: Mapping[Path, str]


@dataclass(frozen=True)
class Hipify:
    """Location of hipify: unpacked in `package_parent`, or in the torch of `interpreter` if that is None.

    `sandbox`: where it runs; None runs it with the user's rights.
    """

    package_parent: Path | None
    interpreter: Path = Path(sys.executable)
    sandbox: Sandbox | None = None

    def translate_headers(self, project: Path) -> HipifyResult:
        """Translates a tree of torch's headers in place, such as c10/cuda to c10/hip."""
        return self.translate_sources(project, (), headers=True)

    def translate_sources(  # noqa: PLR0913  (the arguments of torch's hipify)
        self,
        project: Path,
        sources: Sequence[Path],
        include_dirs: Sequence[Path] = (),
        *,
        headers: bool = False,
        jit: bool = False,
        tree: Path | None = None,
        without_torch: bool = False,
    ) -> HipifyResult:
        """Translates in place: pass paths of a copy only. With `jit`, `project` is an empty folder.

        `tree`: the folder of all sources, if it is not `project`. `without_torch`: of a build that does not use torch.
        """
        request = {
            "package_parent": str(self.package_parent or ""),
            "project": str(project),
            "sources": [str(path) for path in sources],
            "include_dirs": [str(path) for path in include_dirs],
            "headers": headers,
            "jit": jit,
            "without_torch": without_torch,
        }
        request_file = project.with_name(f"{project.name}.hipify.json")
        request_file.write_text(json.dumps(request), encoding="utf-8")
        command = [str(self.interpreter), "-I", str(SCRIPT), str(request_file)]
        ended = run_in(
            self.sandbox,
            command,
            cwd=project,
            readable=[request_file],
            writable=[tree or project, project],
            seconds=_SECONDS,
            keep_bytes=_MAX_OUTPUT_BYTES,
        )
        request_file.unlink()
        try:
            response: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
        except (ValueError, IndexError) as error:
            stderr_lines = ended.stderr.decode(errors="replace").strip().splitlines()
            raise MachineError(
                f"hipify failed: {stderr_lines[-1] if stderr_lines else 'it printed no result'}"
            ) from error
        return _read_response(response)


def _read_response(response: dict[str, Any]) -> HipifyResult:
    files, failed = {}, {}
    for source, entry in response["files"].items():
        if entry["path"] is None or "[error" in entry["status"]:
            failed[Path(source)] = entry["status"]
        else:
            files[Path(source)] = Path(entry["path"])
    return HipifyResult(response["version"], files, failed)


def write_hip_headers(include: Path, output: Path, hipify: Hipify) -> int:
    """Writes them to `output` and returns their number. `output` must come before `include` in the search order."""
    for name in _FOLDERS:
        if (include / name).is_dir():
            shutil.copytree(include / name, output / _in_source(name))
    count = len(hipify.translate_headers(output).files)
    if (output / _SOURCE).is_dir():
        (output / _SOURCE / "ATen").rename(output / "ATen")
        shutil.rmtree(output / _SOURCE.partition("/")[0])
    for name in _FOLDERS:
        # The CUDA headers are in torch's include folder: a second copy would define everything twice.
        shutil.rmtree(output / name, ignore_errors=True)
    disabled_macros = "".join(f"#define AT_{library}_ENABLED() 0\n" for library in _DISABLED_LIBRARIES)
    for name, text in _BUILD_MACROS.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(f"#pragma once\n{text}{disabled_macros if text else ''}", encoding="ascii")
    return count


def _in_source(name: str) -> str:
    return f"{_SOURCE}/{name}" if name.startswith("ATen/") else name
