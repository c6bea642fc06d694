"""Collects the headers of ROCm's library repositories in the layout of an installed ROCm.

    python benchmarks/rocm_headers.py ROCM_LIBRARIES_REPO FOLDER

The repository is a git directory (bare or not) of ROCm/rocm-libraries; FOLDER is for `--hip-headers`. Headers that
CMake generates are written with the same names: versions as 0, export macros empty. None of them is committed.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

# Folder or file of the repository, and its path below include/.
FOLDERS = {
    "projects/rocprim/rocprim/include/rocprim": "rocprim",
    "projects/rocthrust/thrust": "thrust",
    "projects/hipcub/hipcub/include/hipcub": "hipcub",
    "projects/hipblas/library/include": "hipblas",
    "projects/hipblas-common/library/include": "",
    "projects/hipblaslt/library/include/hipblaslt": "hipblaslt",
    "projects/hipblaslt/library/include/hipblaslt-version.h.in": "hipblaslt/hipblaslt-version.h.in",
    "projects/hipsparse/library/include": "hipsparse",
    "projects/hipsolver/library/include": "hipsolver",
    "projects/hiprand/library/include/hiprand": "hiprand",
    "projects/rocrand/library/include/rocrand": "rocrand",
}
EXPORTS = {
    "hipblas": "hipblas/hipblas-export.h",
    "hipblaslt": "hipblaslt/hipblaslt-export.h",
    "hipsparse": "hipsparse/hipsparse-export.h",
    "hipsolver": "hipsolver/internal/hipsolver-export.h",
}
HEADERS = {".h", ".hpp", ".inl", ".cuh", ".in"}
AMD_DETAIL_HEADERS = [
  "amd_hip_fp16.h", "hip_fp16_math_fwd.h", "hip_fp16_gcc.h", "amd_hip_bf16.h", "amd_hip_bfloat16.h", "amd_hip_fp8.h",
  "amd_hip_complex.h", "amd_hip_cooperative_groups.h", "hip_cooperative_groups_helper.h",
]  # fmt: skip
PUBLIC_HEADERS = [
    "hip_bf16.h",
    "hip_fp8.h",
    "hip_fp16.h",
    "hip_bfloat16.h",
    "hip_complex.h",
    "hip_cooperative_groups.h",
]


def unpack(repository: Path, folder: str, target: Path) -> None:
    """Write the headers of one folder at HEAD."""
    command = ["git", "-C", str(repository), "archive", "HEAD", folder]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(data)) as archive:
        for member in archive:
            path = Path(member.name)
            if not member.isfile() or path.suffix not in HEADERS:
                continue
            content = archive.extractfile(member)
            assert content is not None
            file = target / path.relative_to(folder)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.read())


def complete_hip(options: argparse.Namespace, include: Path) -> None:
    """Add the headers of HIP itself, from the runtime, clr and HIP repositories."""
    shutil.copytree(options.runtime / "hip", include / "hip")
    with tempfile.TemporaryDirectory(dir=include.parent) as scratch:
        unpack(options.clr, "hipamd/include/hip/amd_detail", Path(scratch) / "amd_detail")
        unpack(options.hip, "include/hip", Path(scratch) / "public")
        for name in AMD_DETAIL_HEADERS:
            shutil.copy(Path(scratch) / "amd_detail" / name, include / "hip" / "amd_detail" / name)
        for name in PUBLIC_HEADERS:
            shutil.copy(Path(scratch) / "public" / name, include / "hip" / name)


def configure(folder: Path) -> None:
    """Write the headers that CMake would generate."""
    for template in folder.rglob("*.in"):
        text = re.sub(r"@\w+@", "0", template.read_text(encoding="utf-8"))
        template.with_suffix("").write_text(re.sub(r"#cmakedefine\b", "//", text), encoding="utf-8")
        template.unlink()
    for name, path in EXPORTS.items():
        word = name.upper()
        lines = [f"#define {word}_{kind}" for kind in ("EXPORT", "NO_EXPORT", "DEPRECATED", "DEPRECATED_EXPORT")]
        (folder / path).write_text("#pragma once\n" + "\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Write all headers to a new folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("folder", type=Path)
    for name in ("--clr", "--hip", "--runtime"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder.parent) as scratch:
        include = Path(scratch) / "include"
        for source, folder in FOLDERS.items():
            unpack(options.repository, source, include / folder)
        configure(include)
        if options.runtime:
            complete_hip(options, include)
        include.rename(options.folder)
    print(f"{sum(1 for path in options.folder.rglob('*') if path.is_file())} headers in {options.folder}")


if __name__ == "__main__":
    main()
