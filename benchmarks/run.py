"""Overhead of the recorder: `rocm3d run` compared with the bare program, in turns, on the CPU.

    python benchmarks/run.py --python PATH/TO/python-with-torch [--steps 1500] [--repeats 5]

The program runs attention and optimizer steps, imports a missing module, and writes a file. Both calls are timed from
start to end, ours with its start-up. No result is printed unless both programs finish and the record has every step.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import sys
try:
    import flash_attn
except ImportError:
    flash_attn = None
import torch, torch.nn.functional as F
torch.manual_seed(0)
q = torch.randn(4, 8, 128, 64)
layers = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(8)])
steps = torch.optim.SGD(layers.parameters(), 1e-3)
for _ in range(int(sys.argv[1])):
    steps.zero_grad()
    layers(F.scaled_dot_product_attention(q, q, q)).square().mean().backward()
    steps.step()
open("out.txt", "w").write("done")
"""


def run_seconds(command: list[str], folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Print the ratio and the machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, type=Path)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    bare: list[float] = []
    recorded: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "work.py").write_text(PROGRAM, encoding="utf-8")
        program = [str(options.python.absolute()), "work.py", str(options.steps)]
        ours = [sys.executable, "-c", "from rocm3d.cli.main import main; main()", "run", "--quiet", "--name", "a", "--"]
        for _ in range(options.repeats):
            bare.append(run_seconds(program, folder))
            recorded.append(run_seconds([*ours, *program], folder))
        for bundle in (folder / ".rocm3d" / "runs").iterdir():
            record = json.loads((bundle / "run.json").read_text(encoding="utf-8"))
            if record["steps"][0]["count"] != options.steps or not record["fallbacks"]:
                sys.exit(f"{bundle.name}: the record lacks steps or fallbacks of the program")
    result = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "steps": options.steps,
        "bare_seconds": round(statistics.median(bare), 2),
        "recorded_seconds": round(statistics.median(recorded), 2),
        "ratio": round(statistics.median(after / before for before, after in zip(bare, recorded, strict=True)), 3),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
