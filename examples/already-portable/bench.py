import numpy as np
import torch
from tqdm import trange

from rownorm import row_norm, row_norm_torch


def main() -> None:
    torch.manual_seed(0)
    for rows, width in ((1, 7), (33, 64), (4096, 1000)):
        x, residual = torch.randn(2, rows, width, device="cuda")
        weight = torch.rand(width, device="cuda")
        torch.testing.assert_close(row_norm(x, weight, residual),
                                   row_norm_torch(x, weight, residual), rtol=1e-4, atol=1e-5)
    times = []
    for _ in trange(100):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        row_norm(x, weight, residual)
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    print(f"{torch.cuda.get_device_name()}: {np.median(times) * 1000:.1f} us a call")


if __name__ == "__main__":
    main()
