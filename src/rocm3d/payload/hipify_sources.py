"""Runs torch's hipify like torch's builds do, and prints the resulting paths as one JSON line.

    python -I hipify_sources.py REQUEST.json

The request: `package_parent` (folder that contains hipify; empty if torch is importable), `project`, `sources`,
`include_dirs`, `headers` (true: a tree of torch's own headers), `jit` (true: like `torch.utils.cpp_extension.load`,
which translates only headers of the include folders; `project` is then the empty build folder), `without_torch` (true:
sources of a build without torch, where another translator is used; torch's replaces `std::max` by `::max` in device
sources, which others leave).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def load_hipify(parent: str) -> Any:
    """torch.utils.hipify, or the same package from a separate folder."""
    if parent:
        sys.path.insert(0, parent)
        return importlib.import_module("hipify.hipify_python")
    return importlib.import_module("torch.utils.hipify.hipify_python")


def translate(request: dict[str, Any]) -> Any:
    """Call hipify with the arguments of CUDAExtension, of `load`, or of torch's own build."""
    hipify_python = load_hipify(request["package_parent"])
    project = request["project"]
    if request["without_torch"]:
        hipify_python.replace_math_functions = str
    options: dict[str, Any] = {
        "project_directory": project,
        "output_directory": project,
        "show_detailed": False,
        "clean_ctx": hipify_python.GeneratedFileCleaner(keep_intermediates=True),
    }
    if request["headers"]:
        options.update(includes=[f"{project}/*"], is_pytorch_extension=False, extensions=(".h", ".cuh", ".hpp"))
        return hipify_python.hipify(**options)
    options.update(
        is_pytorch_extension=True, extra_files=request["sources"], header_include_dirs=request["include_dirs"]
    )
    if not request["jit"]:
        options.update(includes=[f"{project}/*"], hipify_extra_files_only=True)
    return hipify_python.hipify(**options)


def main() -> None:
    """Print the response."""
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with contextlib.redirect_stdout(io.StringIO()):  # hipify prints progress
        results = translate(request)
    package = importlib.import_module("hipify" if request["package_parent"] else "torch.utils.hipify")
    response = {
        "version": getattr(package, "__version__", "1.0.0"),
        "files": {path: {"path": result.hipified_path, "status": result.status} for path, result in results.items()},
    }
    sys.stdout.write(json.dumps(response) + "\n")


if __name__ == "__main__":
    main()
