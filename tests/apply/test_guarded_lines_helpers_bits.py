"""Bit fields, byte permutes and lane masks as PTX defines them, against what takes their place on ROCm."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rocm3d.apply.guarded_lines import read_helper
from rocm3d.apply.rewrites.replace_ptx import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")

MASKS = {
    "eq": lambda lane: 1 << lane,
    "lt": lambda lane: (1 << lane) - 1,
    "le": lambda lane: (2 << lane) - 1,
    "gt": lambda lane: 0xFFFFFFFF ^ ((2 << lane) - 1),
    "ge": lambda lane: 0xFFFFFFFF ^ ((1 << lane) - 1),
}


def bfe(value: int, position: int, length: int, *, signed: bool) -> int:
    """The PTX manual's loop over the bits."""
    position, length = position & 255, length & 255
    bits = [value >> i & 1 for i in range(32)]
    sign = bits[min(position + length - 1, 31)] if signed and length else 0
    return sum((bits[position + i] if i < length and position + i < 32 else sign) << i for i in range(32))


def prmt(low: int, high: int, selectors: int) -> int:
    data = [(high << 32 | low) >> 8 * i & 255 for i in range(8)]
    result = 0
    for i in range(4):
        selector = selectors >> 4 * i & 15
        byte = data[selector & 7]
        result |= (byte if selector < 8 else 255 * (byte >> 7)) << 8 * i
    return result


def mask_expression(name: str) -> str:
    data = f'__device__ unsigned f() {{\n  unsigned r;\n  asm("mov.u32 %0, %%{name};" : "=r"(r));\n  return r;\n}}\n'
    match = re.search(r"r = ([^;]+);", fold_cpp(edit(data.encode(), {}), assume_rocm).decode())
    assert match is not None
    return match.group(1)


def printed(folder: Path, statements: list[str]) -> list[int]:
    masks = "\n".join(
        f"static unsigned mask_{name}() {{ return {mask_expression(f'lanemask_{name}')}; }}" for name in MASKS
    )
    helpers = read_helper("bfe_u32") + read_helper("bfe_s32") + read_helper("prmt")
    head = (
        "#include <cstdio>\n#define __device__\nstatic unsigned lane;\nstatic unsigned __lane_id() { return lane; }\n"
    )
    body = "\n".join(f'  printf("%u\\n", (unsigned)({statement}));' for statement in statements)
    (folder / "main.cpp").write_text(f"{head}{helpers}{masks}\nint main() {{\n{body}\n}}\n")
    command = ["g++", "-std=c++17", "-O0", str(folder / "main.cpp"), "-o", str(folder / "main")]
    subprocess.run(command, check=True, capture_output=True)
    ran = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=True)
    return [int(line) for line in ran.stdout.split()]


def test_the_same_as_ptx(tmp_path):
    chance = random.Random(7)
    statements, expected = [], []
    counts = [*range(34), 63, 64, 200, 255, 256, 511]
    for _ in range(400):
        a, b = chance.getrandbits(32), chance.getrandbits(32)
        position, length = chance.choice(counts), chance.choice(counts)
        statements += [f"rocm3d_bfe_u32({a}u, {position}u, {length}u)", f"rocm3d_bfe_s32({a}u, {position}u, {length}u)"]
        expected += [bfe(a, position, length, signed=False), bfe(a, position, length, signed=True)]
        selectors = chance.getrandbits(16)
        statements.append(f"rocm3d_prmt({a}u, {b}u, {selectors}u)")
        expected.append(prmt(a, b, selectors))
    for lane in (0, 1, 30, 31, 32, 47, 63):
        statements += [f"(lane = {lane}, mask_{name}())" for name in MASKS]
        expected += [mask(lane % 32) & 0xFFFFFFFF for mask in MASKS.values()]

    assert printed(tmp_path, statements) == expected
