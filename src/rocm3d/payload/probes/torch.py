"""torch: its build, its device, and a matrix product against float64."""

from __future__ import annotations

from typing import Any


def check(session: Any) -> None:
    """Checks float32 and float16 products against float64 on the CPU."""
    torch, device = session.torch, session.device
    session.evidence = "device"
    session.facts.update(version=str(torch.__version__), hip=torch.version.hip, cuda=torch.version.cuda)
    if device != "cpu":
        about = torch.cuda.get_device_properties(0)
        session.facts.update(device=torch.cuda.get_device_name(0), devices=torch.cuda.device_count())
        # On a CUDA build gcnArchName contains the name of the card.
        target = str(about.gcnArchName) if torch.version.hip else f"sm_{about.major}{about.minor}"
        session.facts.update(architecture=target)
        session.facts.update(memory_gb=round(about.total_memory / 1e9, 1))
    # TF32 would need another tolerance.
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = session.random_normal(256, 192, seed=1), session.random_normal(192, 320, seed=2)
    for name, left, right in (("float32", a, b), ("float16", a.half(), b.half())):
        product = session.run(lambda left=left, right=right: left @ right)
        session.check_close(f"{name} product", product, left.double().cpu() @ right.double().cpu(), f"{name}-gemm")
