"""torch itself: which build it is, which device it sees, and whether a matrix product on it is right."""

from __future__ import annotations

from typing import Any


def look(bench: Any) -> None:
    """Against float64 on the CPU, in two precisions."""
    torch, device = bench.torch, bench.device
    bench.evidence = "device"
    bench.facts.update(version=str(torch.__version__), hip=torch.version.hip, cuda=torch.version.cuda)
    if device != "cpu":
        about = torch.cuda.get_device_properties(0)
        bench.facts.update(device=torch.cuda.get_device_name(0), devices=torch.cuda.device_count())
        # On a CUDA build gcnArchName is the name of the card.
        target = str(about.gcnArchName) if torch.version.hip else f"sm_{about.major}{about.minor}"
        bench.facts.update(architecture=target)
        bench.facts.update(memory_gb=round(about.total_memory / 1e9, 1))
    # TF32 would be right by its own tolerance only.
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = bench.random(256, 192, seed=1), bench.random(192, 320, seed=2)
    for name, left, right in (("float32", a, b), ("float16", a.half(), b.half())):
        product = bench.run(lambda left=left, right=right: left @ right)
        bench.agree(f"{name} product", product, left.double().cpu() @ right.double().cpu(), f"{name}-gemm")
