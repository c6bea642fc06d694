import torch


def prepare(model):
    return torch.compile(model, mode="reduce-overhead")
