"""Lint rules for kernels: code that compiles for AMD and is wrong there, found in the syntax trees."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from gate.sources import PACKAGE, files, operations

# With more than two stages, the AMD backend of Triton 3.6 to 3.9 exceeds 64 KiB of LDS for usual tiles.
MAX_STAGES = 2
REDUCED_PRECISIONS = ("tf32", "tf32x3")


def problems(package: Path = PACKAGE) -> list[str]:
    """One line for each problem in any operation."""
    lines = []
    for op in operations(package):
        for path in files(op, package):
            check = source_problems if path.suffix == ".py" else table_problems
            text = path.read_text(encoding="utf-8")
            lines += [f"{path.relative_to(package).as_posix()}:{problem}" for problem in check(text)]
    return lines


def source_problems(text: str) -> Iterator[str]:
    """Problems of one module, as `line: text`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            yield from (f"{node.lineno}: {problem}" for problem in _call_problems(node))
        elif isinstance(node, ast.BinOp) and _is_lane_arithmetic(node):
            yield f"{node.lineno}: wave size as a literal; it is 32 or 64, depending on the target"
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and "extra.cuda" in ast.unparse(node):
            yield f"{node.lineno}: CUDA's libdevice does not exist on AMD; use triton.language.extra.libdevice"


def table_problems(text: str) -> Iterator[str]:
    """Problems of a tuning table: too many pipeline stages for AMD, in the default or for a gfx target."""
    for target, kernels in json.loads(text).items():
        if target != "default" and not target.startswith("gfx"):
            continue
        for kernel, parameters in kernels.items():
            if parameters.get("num_stages", 1) > MAX_STAGES:
                yield f"1: {target}, {kernel}: num_stages {parameters['num_stages']}; the limit on AMD is {MAX_STAGES}"


def _call_problems(node: ast.Call) -> Iterator[str]:
    name = ast.unparse(node.func).rpartition(".")[2]
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    if name.startswith("inline_asm"):
        yield "inline assembly works on one vendor's GPUs only"
    if name in ("dot", "dot_scaled"):
        precision, allowed = keywords.get("input_precision"), keywords.get("allow_tf32")
        if precision is None and not (isinstance(allowed, ast.Constant) and allowed.value is False):
            yield "tl.dot without input_precision uses tf32 where available"
        elif isinstance(precision, ast.Constant) and precision.value in REDUCED_PRECISIONS:
            yield f"tl.dot always uses {precision.value}; the caller cannot choose the precision"
    stages = keywords.get("num_stages")
    if isinstance(stages, ast.Constant) and isinstance(stages.value, int) and stages.value > MAX_STAGES:
        yield f"num_stages {stages.value}; the limit on AMD is {MAX_STAGES}"


def _is_lane_arithmetic(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    literal = any(isinstance(side, ast.Constant) and side.value in (32, 64) for side in sides)
    return literal and any("warp" in ast.unparse(side).lower() for side in sides)
