from __future__ import annotations

from rocm3d.workspace.tree import TreeLimits

RULE = "object_name_collision"


CHANGED = "#include <c10/cuda/CUDAGuard.h>\n"


def test_unreadable_source_is_a_warning(scanned):
    files = {"setup.py": "", "a_cuda.cu": "", "a.cpp": CHANGED + "// long\n" * 200}
    (finding,) = scanned(files, RULE, limits=TreeLimits(file_bytes=1000)).findings

    assert finding.severity == "warning"
