import nvdiffrast.torch as dr
import torch

# dr.RasterizeGLContext() was used before


def make_context():
    return dr.RasterizeCudaContext()
