from __future__ import annotations

import pytest

PLAIN = """
import torch
class SparseConvTensor:
    def __init__(self, features, indices, spatial_shape, batch_size):
        self.features, self.indices, self.shape = features, indices.long(), spatial_shape
class SubMConv3d(torch.nn.Module):
    def __init__(self, inputs, outputs, kernel, padding, bias):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros({shape}))
    def forward(self, given):
        w = self.weight{dense}
        grid = torch.zeros(1, given.features.shape[1], *given.shape)
        b, z, y, x = given.indices.T
        grid[0, :, z, y, x] = given.features.T
        out = torch.nn.functional.conv3d(grid, w, padding=1)[0, :, z, y, x].T
        return SparseConvTensor(out, given.indices, given.shape, 1)
"""
LAYOUTS = {
    "outputs, 3, 3, 3, inputs": ".permute(0, 4, 1, 2, 3)",
    "3, 3, 3, inputs, outputs": ".permute(4, 3, 0, 1, 2)",
    "3, 3, 3, outputs, inputs": ".permute(3, 4, 0, 1, 2)",
    "27, inputs, outputs": ".view(3, 3, 3, 4, 5).permute(4, 3, 0, 1, 2)",
}


def test_an_unknown_layout_of_weights_is_not_run(package, run_probe):
    package("spconv", library=True, pytorch=PLAIN.format(shape="inputs, outputs, 27", dense=""))

    answer = run_probe("spconv", "spconv")

    assert (answer["outcome"], answer["reason"]) == ("not_run", "unknown weight layout [4, 5, 27]")


@pytest.mark.parametrize("dense", [".permute(0, 4, 3, 2, 1)", ".permute(0, 4, 1, 2, 3) * 0"])
def test_another_convolution_is_broken(package, run_probe, dense):
    package("spconv", library=True, pytorch=PLAIN.format(shape="outputs, 3, 3, 3, inputs", dense=dense))

    assert run_probe("spconv", "spconv")["outcome"] == "broken"


@pytest.mark.parametrize("shape", LAYOUTS)
def test_every_layout_that_builds_have(package, run_probe, shape):
    package("spconv", library=True, pytorch=PLAIN.format(shape=shape, dense=LAYOUTS[shape]))

    assert run_probe("spconv", "spconv")["outcome"] == "accelerated"
