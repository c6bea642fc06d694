"""Runs torch's hipify in a separate process on a copy of the sources."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d.model.errors import MachineError
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCRIPT = Path(__file__).parents[1] / "payload" / "hipify_sources.py"
_SECONDS = 300.0
_MAX_OUTPUT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class HipifyResult:
    """`files` maps a source to its translation, or to itself if nothing changed. `failed`: errors by source."""

    version: str
    files: Mapping[Path, Path]
    failed: Mapping[Path, str]

    @property
    def generation(self) -> int:
        """Generation 2 keeps torch's CUDA names. Code ported for one generation may not build with the other."""
        major = self.version.split(".")[0]
        return int(major) if major.isdecimal() else 1


@dataclass(frozen=True)
class Hipify:
    """Location of hipify: unpacked in `package_parent`, or in the torch of `interpreter` if that is None."""

    package_parent: Path | None
    interpreter: Path = Path(sys.executable)

    def translate_sources(
        self, project: Path, sources: Sequence[Path], include_dirs: Sequence[Path] = (), *, jit: bool = False
    ) -> HipifyResult:
        """Translates in place: pass paths of a copy only. With `jit`, `project` is an empty folder."""
        return self._run(project, sources, include_dirs, jit=jit)

    def translate_headers(self, project: Path) -> HipifyResult:
        """Translates a tree of torch's headers in place, such as c10/cuda to c10/hip."""
        return self._run(project, (), (), headers=True)

    def _run(
        self,
        project: Path,
        sources: Sequence[Path],
        include_dirs: Sequence[Path],
        *,
        headers: bool = False,
        jit: bool = False,
    ) -> HipifyResult:
        request = {
            "package_parent": str(self.package_parent or ""),
            "project": str(project),
            "sources": [str(path) for path in sources],
            "include_dirs": [str(path) for path in include_dirs],
            "headers": headers,
            "jit": jit,
        }
        request_file = project.with_name(f"{project.name}.hipify.json")
        request_file.write_text(json.dumps(request), encoding="utf-8")
        command = [str(self.interpreter), "-I", str(SCRIPT), str(request_file)]
        ended = run(command, seconds=_SECONDS, keep_bytes=_MAX_OUTPUT_BYTES)
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
