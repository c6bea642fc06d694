import nvdiffrast.torch as dr
import torch

try:
    import kaolin

    HAS_KAOLIN = True
except ImportError:
    kaolin = None
    HAS_KAOLIN = False


class Rasterizer:
    def __init__(self, device: str = "cuda") -> None:
        self.context = dr.RasterizeCudaContext(device=device)

    def __call__(self, clip: torch.Tensor, faces: torch.Tensor, size):
        """Barycentrics and triangle ids (H, W, 4) of clip-space vertices (V, 4)."""
        out, _ = dr.rasterize(self.context, clip[None].contiguous(), faces, size)
        return out

    def interpolate(self, values: torch.Tensor, out: torch.Tensor, faces: torch.Tensor):
        return dr.interpolate(values[None].contiguous(), out, faces)[0][0]


def sample(image: torch.Tensor, uv: torch.Tensor) -> torch.Tensor:
    """Pixels of an (H, W, C) image at uv (..., 2) in 0..1."""
    flat = uv.reshape(1, 1, -1, 2).contiguous()
    return dr.texture(image[None].contiguous(), flat, filter_mode="linear",
                      boundary_mode="clamp")[0, 0].view(*uv.shape[:-1], -1)


def check_mesh(vertices: torch.Tensor, faces: torch.Tensor) -> None:
    assert int(faces.max()) < len(vertices), "a face names a vertex that is not there"
    if HAS_KAOLIN and not bool(kaolin.ops.mesh.check_sign(
            vertices[None], faces.long(), vertices.mean(0)[None, None])[0, 0]):
        print("warning: the middle of the mesh lies outside of it; is it closed?")
