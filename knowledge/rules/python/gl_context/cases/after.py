import nvdiffrast.torch as dr
import torch

is_rocm = torch.version.hip is not None


def make_context():
    return dr.RasterizeCudaContext() if is_rocm else dr.RasterizeGLContext()
