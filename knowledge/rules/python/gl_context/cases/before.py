import nvdiffrast.torch as dr
import torch


def make_context():
    return dr.RasterizeGLContext()
