import torch

from deform_op import sample_attention, sample_attention_torch


def inputs(dtype, channels):
    torch.manual_seed(0)
    shapes = torch.tensor([[6, 4], [3, 2]], device="cuda")
    value = torch.randn(2, int(shapes.prod(1).sum()), 2, channels, device="cuda", dtype=dtype)
    where = torch.rand(2, 5, 2, 2, 3, 2, device="cuda", dtype=dtype) * 1.2 - 0.1
    weight = torch.rand(2, 5, 2, 2, 3, device="cuda", dtype=dtype)
    return [t.requires_grad_() if t.is_floating_point() else t for t in (value, shapes, where, weight)]


def main():
    for channels in (8, 32, 48):
        args = inputs(torch.double, channels)
        ours, reference = sample_attention(*args), sample_attention_torch(*args)
        assert torch.allclose(ours, reference, atol=1e-9), "forward differs"
        wanted = [args[0], args[2], args[3]]
        seed = torch.randn_like(ours)
        for a, b in zip(torch.autograd.grad(ours, wanted, seed),
                        torch.autograd.grad(reference, wanted, seed)):
            assert torch.allclose(a, b, atol=1e-8), "backward differs"
        print(channels, "channels: ok")


if __name__ == "__main__":
    main()
