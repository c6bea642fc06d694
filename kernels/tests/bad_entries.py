"""Public functions of the kernels and drop-ins with small valid arguments, for tests/test_bad_inputs.py."""

from __future__ import annotations

import math
from typing import Any

from rocm3d_kernels.adam import adam_step
from rocm3d_kernels.deformable import native as deformable
from rocm3d_kernels.dropin.packages.curope import native as curope
from rocm3d_kernels.dropin.packages.diff_gaussian_rasterization import package as diff_gaussians
from rocm3d_kernels.dropin.packages.flash_attn import interface as flash_attn
from rocm3d_kernels.dropin.packages.fused_ssim import package as fused_ssim
from rocm3d_kernels.dropin.packages.gsplat import package as gsplat
from rocm3d_kernels.dropin.packages.gsplat import relocation
from rocm3d_kernels.dropin.packages.sageattention import package as sageattention
from rocm3d_kernels.dropin.packages.simple_knn import native as simple_knn
from rocm3d_kernels.dropin.packages.xformers import fmha
from rocm3d_kernels.gaussian import rasterization
from rocm3d_kernels.rope2d import rotate
from rocm3d_kernels.touched import ImageGaussians, touched_pixels
from tests.bad_inputs import OTHER_DTYPES, Entry
from tests.device import torch

WIDTH, HEIGHT, COUNT = 9, 6, 3
SIZES: tuple[Any, ...] = (0, -1, 10**7, 2**23 + 1, -(2**40))
INTRINSICS = r"intrinsics (Ks)"


def numbers(*shape: int) -> Any:
    """Between 0.1 and 0.9, other ones for other shapes."""
    return torch.rand(*shape, generator=torch.Generator().manual_seed(sum(shape))) * 0.8 + 0.1


def view() -> Any:
    matrix = torch.eye(4)
    matrix[2, 3] = 3.0
    return matrix


def intrinsics() -> Any:
    return torch.tensor([[[8.0, 0, 4.5], [0, 8.0, 3.0], [0, 0, 1]]])


def gaussians() -> dict[str, Any]:
    return {
        "means": numbers(COUNT, 3) - 0.5, "quats": numbers(COUNT, 4), "scales": numbers(COUNT, 3) * 0.3,
        "opacities": numbers(COUNT), "colors": numbers(COUNT, 3), "viewmats": view()[None],
    }  # fmt: skip


CAMERA = {"near_plane": 0.01, "far_plane": 1e10, "radius_clip": 0.0, "eps2d": 0.3}


def rendering(**more: Any) -> dict[str, Any]:
    return {**gaussians(), "width": WIDTH, "height": HEIGHT, "backgrounds": numbers(1, 3), **CAMERA, **more}


def render_gaussians(**arguments: Any) -> Any:
    return rasterization(**arguments)[:2]


def render_gsplat(**arguments: Any) -> Any:
    return gsplat.rasterization(**arguments)[:2]


def render_surfels(**arguments: Any) -> Any:
    return gsplat.rasterization_2dgs(**arguments)[:3]


def render_diff(**arguments: Any) -> Any:
    """Settings and tensors in one."""
    names = diff_gaussians.GaussianRasterizationSettings._fields
    settings = {
        "projmatrix": view().T, "campos": torch.zeros(3), "prefiltered": False,
        **{name: one for name, one in arguments.items() if name in names},
    }  # fmt: skip
    rest = {name: one for name, one in arguments.items() if name not in names}
    return diff_gaussians.GaussianRasterizer(diff_gaussians.GaussianRasterizationSettings(**settings))(**rest)


def diff_arguments(**more: Any) -> dict[str, Any]:
    return {
        "image_height": HEIGHT, "image_width": WIDTH, "tanfovx": 0.6, "tanfovy": 0.4, "scale_modifier": 1.0,
        "bg": numbers(3), "viewmatrix": view().T, "sh_degree": 1, "means3D": numbers(COUNT, 3) - 0.5,
        "means2D": torch.zeros(COUNT, 3), "opacities": numbers(COUNT, 1), **more,
    }  # fmt: skip


def harmonics_and_scales() -> dict[str, Any]:
    return diff_arguments(shs=numbers(COUNT, 4, 3), scales=numbers(COUNT, 3) * 0.3, rotations=numbers(COUNT, 4))


def colors_and_covariances() -> dict[str, Any]:
    return diff_arguments(
        colors_precomp=numbers(COUNT, 3),
        cov3D_precomp=torch.tensor([[0.02, 0, 0, 0.03, 0, 0.01]]).repeat(COUNT, 1),
    )


def pose_arguments() -> dict[str, Any]:
    raw = torch.tensor([[1.6, 0, 0, 0], [0, 2.5, 0, 0], [0, 0, 1, 1], [0, 0, -0.01, 0]])
    return {**harmonics_and_scales(), "projmatrix_raw": raw, "theta": torch.zeros(3), "rho": torch.zeros(3)}


def mark_visible(viewmatrix: Any, positions: Any) -> Any:
    settings = diff_gaussians.GaussianRasterizationSettings(
        HEIGHT, WIDTH, 0.6, 0.4, torch.zeros(3), 1.0, viewmatrix, viewmatrix, 0, torch.zeros(3), prefiltered=False
    )
    return diff_gaussians.GaussianRasterizer(settings).markVisible(positions)


def projection() -> dict[str, Any]:
    tensors = gaussians()
    del tensors["colors"]
    return {**tensors, "covars": None, "Ks": intrinsics(), "width": WIDTH, "height": HEIGHT, **CAMERA}


def boxes() -> dict[str, Any]:
    return {
        "means2d": numbers(1, COUNT, 2) * 6, "radii": torch.full((1, COUNT, 2), 3, dtype=torch.int32),
        "depths": numbers(1, COUNT), "tile_size": 4, "tile_width": 3, "tile_height": 2,
    }  # fmt: skip


def pixels() -> dict[str, Any]:
    listed = boxes()
    _, keys, rows = gsplat.isect_tiles(**listed)
    return {
        "means2d": listed["means2d"], "conics": torch.tensor([[[0.5, 0, 0.5]]]).repeat(1, COUNT, 1),
        "colors": numbers(1, COUNT, 3), "opacities": numbers(1, COUNT), "image_width": WIDTH, "image_height": HEIGHT,
        "tile_size": 4, "isect_offsets": gsplat.isect_offset_encode(keys, 1, 3, 2), "flatten_ids": rows,
        "backgrounds": numbers(1, 3), "masks": torch.ones(1, 2, 3, dtype=torch.int32).bool(),
    }  # fmt: skip


def touched(width: Any, height: Any, cap: Any, **tensors: Any) -> Any:
    return touched_pixels(ImageGaussians(**tensors), width, height, cap=cap)


def touched_arguments() -> dict[str, Any]:
    return {
        "means2d": numbers(1, COUNT, 2) * 6, "conics": torch.tensor([[[0.5, 0, 0.5]]]).repeat(1, COUNT, 1),
        "opacities": numbers(1, COUNT), "depths": numbers(1, COUNT),
        "radii": torch.full((1, COUNT, 2), 3, dtype=torch.int32), "width": WIDTH, "height": HEIGHT, "cap": 0.99,
    }  # fmt: skip


def adam(beta1: Any, beta2: Any, **arguments: Any) -> Any:
    adam_step(**arguments, betas=(beta1, beta2))
    return arguments["parameter"], arguments["first"], arguments["second"]


def adam_arguments() -> dict[str, Any]:
    return {
        "parameter": numbers(4, 3), "gradient": numbers(4, 3), "first": numbers(4, 3), "second": numbers(4, 3),
        "visible": torch.tensor([1, 0, 1, 1]) > 0, "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8,
    }  # fmt: skip


def rotate_in_place(tokens: Any, **rest: Any) -> Any:
    curope.rope_2d(tokens, **rest)
    return tokens


def tokens() -> dict[str, Any]:
    return {"tokens": numbers(1, 3, 2, 8), "positions": torch.arange(6).view(1, 3, 2), "base": 100.0}


def deformable_arguments() -> dict[str, Any]:
    return {
        "value": numbers(1, 6, 2, 4), "spatial_shapes": torch.tensor([[2, 2], [1, 2]]),
        "level_start_index": torch.tensor([0, 4]), "sampling_loc": numbers(1, 3, 2, 2, 2, 2),
        "attn_weight": numbers(1, 3, 2, 2, 2),
    }  # fmt: skip


def dense_attention(*names: str, heads_first: bool = False) -> dict[str, Any]:
    return {name: numbers(1, 2, 5, 8) if heads_first else numbers(1, 5, 2, 8) for name in names}


def packed_attention() -> dict[str, Any]:
    lengths = torch.tensor([0, 2, 5], dtype=torch.int32)
    return {
        **{name: numbers(5, 2, 8) for name in ("q", "k", "v")},
        "cu_seqlens_q": lengths, "cu_seqlens_k": lengths.clone(), "max_seqlen_q": 3, "max_seqlen_k": 3, **ATTENTION,
    }  # fmt: skip


ATTENTION = {"dropout_p": 0.0, "softmax_scale": 0.4, "softcap": 0.5}


def cache() -> dict[str, Any]:
    return {
        "q": numbers(2, 1, 2, 8), "k_cache": numbers(2, 6, 2, 8), "v_cache": numbers(2, 6, 2, 8),
        "k": numbers(2, 1, 2, 8), "v": numbers(2, 1, 2, 8), "cache_seqlens": torch.tensor([2, 3], dtype=torch.int32),
        "cache_batch_idx": torch.tensor([1, 0], dtype=torch.int32), "softmax_scale": 0.4,
    }  # fmt: skip


OTHER_TOKENS = tuple(
    ("tokens", one) for one in ("float64", "float16", "shorter in 2", "longer in 2", "empty in 2", "empty in 3")
)
CAMERA_NUMBERS: dict[str, tuple[Any, ...]] = {
    "near_plane": (None,), "far_plane": (None,), "radius_clip": (None,), "eps2d": (-0.1, None),
}  # fmt: skip
SETTINGS: dict[str, tuple[Any, ...]] = {
    "tanfovx": (0.0, -0.5, 0, None), "tanfovy": (0.0, -0.5, 0, None), "scale_modifier": (None,),
}  # fmt: skip
DIFF_SIZES = {"image_width": SIZES, "image_height": SIZES}
MATRICES = {"Ks": INTRINSICS, "intrinsics": INTRINSICS}
COLORS_BY_CAMERA = (("colors", "more dimensions"),)
AS_WELL = (("opacities", "flat"), ("means2D", "shorter in 1"), ("means2D", "longer in 1"))

HALVES = tuple((name, "float16") for name in ("value", "sampling_loc", "attn_weight"))
LISTS = tuple(("flatten_ids", one) for one in ("no elements", "shorter in 0", "longer in 0", "empty in 0"))
ENTRIES = [
    Entry(
        "gaussian", render_gaussians, lambda: rendering(intrinsics=intrinsics()),
        integers={"width": SIZES, "height": SIZES}, numbers=CAMERA_NUMBERS, optional=("backgrounds",),
        infinite=("far_plane",), shown=MATRICES, harmless=COLORS_BY_CAMERA,
    ),
    Entry(
        "gaussian harmonics", render_gaussians,
        lambda: rendering(intrinsics=intrinsics(), colors=numbers(COUNT, 4, 3), sh_degree=1),
        integers={"sh_degree": (-1, 5, 2)}, shown={**MATRICES, "sh_degree": "degree"}, optional=("backgrounds",),
        not_tested=(("sh_degree", "None"),), harmless=(*COLORS_BY_CAMERA, ("colors", "longer in 1")),
    ),
    Entry(
        "gsplat.rasterization", render_gsplat, lambda: rendering(Ks=intrinsics()),
        integers={"width": SIZES, "height": SIZES}, numbers=CAMERA_NUMBERS, optional=("backgrounds",),
        infinite=("far_plane",), shown=MATRICES, harmless=COLORS_BY_CAMERA,
    ),
    Entry(
        "gsplat.rasterization_2dgs", render_surfels, lambda: rendering(Ks=intrinsics()),
        integers={"width": SIZES, "height": SIZES}, optional=("backgrounds",),
        numbers={name: bad for name, bad in CAMERA_NUMBERS.items() if name != "eps2d"}, infinite=("far_plane",),
        shown=MATRICES, harmless=COLORS_BY_CAMERA,
    ),
    Entry(
        "diff_gaussian_rasterization", render_diff, harmonics_and_scales,
        integers={**DIFF_SIZES, "sh_degree": (-1, 5, 2)}, numbers=SETTINGS,
        optional=("means2D",), harmless=(*AS_WELL, ("shs", "longer in 1")), shown={"sh_degree": "degree"},
    ),
    Entry(
        "diff_gaussian_rasterization colours", render_diff, colors_and_covariances, integers=DIFF_SIZES,
        numbers=SETTINGS, optional=("means2D",),
        harmless=AS_WELL,
    ),
    Entry(
        "diff_gaussian_rasterization pose", render_diff, pose_arguments,
        optional=("means2D", "theta", "rho", "projmatrix_raw"),
        harmless=(
            *AS_WELL, ("shs", "longer in 1"),
            *((name, change) for name in ("theta", "rho") for change in
              ("float64", "float16", "more dimensions", "no elements", "empty in 0")),
            ("projmatrix_raw", "float64"),
        ),
        # Any dtype and device is converted.
        not_tested=tuple(("projmatrix_raw", one) for one in (*OTHER_DTYPES[1:], "meta", "cpu")),
    ),
    Entry(
        "markVisible", mark_visible, lambda: {"viewmatrix": view().T, "positions": numbers(4, 3)},
        not_tested=(("positions", "shorter in 0"), ("positions", "longer in 0"), ("positions", "empty in 0")),
    ),
    Entry(
        "fully_fused_projection", gsplat.fully_fused_projection, projection,
        integers={"width": SIZES, "height": SIZES}, numbers=CAMERA_NUMBERS, optional=("opacities",),
        infinite=("far_plane",), shown=MATRICES,
    ),
    Entry(
        "isect_tiles", gsplat.isect_tiles, boxes,
        integers=dict.fromkeys(("tile_size", "tile_width", "tile_height"), (0, -1)),
        harmless=(("radii", "float64"), ("radii", "float16"), ("radii", "int64")), not_tested=(),
    ),
    Entry(
        "isect_offset_encode", gsplat.isect_offset_encode,
        lambda: {"isect_ids": gsplat.isect_tiles(**boxes())[1], "n_images": 1, "tile_width": 3, "tile_height": 2},
        integers=dict.fromkeys(("tile_width", "tile_height"), (0, -1, 2 ** 16)) | {"n_images": (0, -1)},
        not_tested=(
            *(("isect_ids", one) for one in ("no elements", "shorter in 0", "longer in 0", "empty in 0", "meta")),
            ("isect_ids", "cpu"),  # the only tensor
            ("tile_width", "65536"), ("tile_height", "65536"),
        ),
    ),
    Entry(
        "rasterize_to_pixels", gsplat.rasterize_to_pixels, pixels,
        integers={"image_width": SIZES, "image_height": SIZES, "tile_size": (0, 3, 64)},
        optional=("backgrounds", "masks"),
        harmless=(("isect_offsets", "int64"), ("flatten_ids", "int64")),
        shown={"image_width": "", "image_height": "", "tile_size": ""},
        not_tested=(("isect_offsets", "more dimensions"), *LISTS),
    ),
    Entry(
        "quat_scale_to_covar_preci", gsplat.quat_scale_to_covar_preci,
        lambda: {"quats": numbers(COUNT, 4), "scales": numbers(COUNT, 3)},
    ),
    Entry(
        "spherical_harmonics", gsplat.spherical_harmonics,
        lambda: {
            "degree": 1, "directions": numbers(COUNT, 3), "coefficients": numbers(COUNT, 4, 3),
            "masks": torch.tensor([1, 0, 1]) > 0,
        },
        integers={"degree": (-1, 5)}, optional=("masks",), harmless=(("coefficients", "longer in 1"),),
    ),
    Entry(
        "compute_relocation", relocation.compute_relocation,
        lambda: {
            "opacities": numbers(COUNT), "scales": numbers(COUNT, 3), "ratios": torch.tensor([1, 2, 3]),
            "binoms": torch.tensor([[1.0, 0, 0], [1, 1, 0], [1, 2, 1]]),
        },
        harmless=(
            *(("ratios", name) for name in ("float64", "float16", "float32", "int32")),
            *(("binoms", name) for name in ("float64", "float16", "int64", "int32")),
        ),
        not_tested=(("ratios", "bool"), ("binoms", "bool")),
    ),
    Entry(
        "distCUDA2", simple_knn.distCUDA2, lambda: {"points": numbers(5, 3)},
        not_tested=(*(("points", one) for one in ("shorter in 0", "longer in 0", "empty in 0", "meta", "float64")),
                    ("points", "cpu")),  # the only tensor
    ),
    Entry(
        "fused_ssim", fused_ssim.fused_ssim, lambda: {"img1": numbers(1, 2, 5, 6), "img2": numbers(1, 2, 5, 6) * 0.9},
        shown={"img1": "", "img2": ""},
    ),
    Entry(
        "adam", adam, adam_arguments,
        numbers={"lr": (None,), "beta1": (-0.1, 1.1, None), "beta2": (-0.1, 1.1, None), "eps": (-1.0, None)},
        shown={"beta1": "betas", "beta2": "betas", "visible": "", "parameter": ""},
        harmless=tuple(("visible", one) for one in
                       ("float64", "float32", "float16", "int64", "int32", "more dimensions")),
        not_tested=(("visible", "shorter in 0"), ("visible", "scalar")),
    ),
    Entry(
        "touched", touched, touched_arguments, integers={"width": SIZES, "height": SIZES}, numbers={"cap": (0.0, 1.1)},
        harmless=tuple(("radii", one) for one in ("float64", "float16", "int64")),
    ),
    Entry("rotate", rotate, lambda: {**tokens(), "scale": 1.0}, numbers={"base": (0.0, -1.0, None), "scale": (None,)},
          harmless=(("positions", "int32"),), not_tested=OTHER_TOKENS),
    Entry("curope.rope_2d", rotate_in_place, lambda: {**tokens(), "fwd": 1.0},
          numbers={"base": (0.0, -1.0, None), "fwd": (None,)}, harmless=(("positions", "int32"),),
          shown={"fwd": "scale"}, not_tested=OTHER_TOKENS),
    Entry(
        "ms_deform_attn_forward", deformable.ms_deform_attn_forward, deformable_arguments,
        shown={"value": "value", "spatial_shapes": "", "level_start_index": "", "sampling_loc": "locations",
               "attn_weight": "weights"},
        harmless=(("spatial_shapes", "int32"), ("level_start_index", "int32")),
        not_tested=(*HALVES, ("value", "longer in 3"),
                    ("value", "shorter in 3"), ("value", "longer in 1"), ("value", "empty in 3"), ("value", "float64")),
        trusted_on_gpu=(("value", "shorter in 1"), ("value", "empty in 1")),
    ),
    Entry(
        "ms_deform_attn_backward", deformable.ms_deform_attn_backward,
        lambda: {**deformable_arguments(), "grad_output": numbers(1, 3, 8)},
        shown={"value": "", "spatial_shapes": "", "level_start_index": "", "sampling_loc": "locations",
               "attn_weight": "weights"},
        harmless=(("spatial_shapes", "int32"), ("level_start_index", "int32")),
        not_tested=(*HALVES, ("value", "longer in 1"),
                    ("grad_output", "float16"), ("grad_output", "float64")),
        trusted_on_gpu=(("value", "shorter in 1"), ("value", "empty in 1")),
    ),
    Entry(
        "flash_attn_func", flash_attn.flash_attn_func, lambda: {**dense_attention("q", "k", "v"), **ATTENTION},
        numbers={"dropout_p": (1.0, -0.1, None), "softmax_scale": (), "softcap": (-1.0,)},
        shown={"softmax_scale": "scale", "dropout_p": "dropout"},
        not_tested=tuple(("q", one) for one in ("shorter in 1", "longer in 1", "empty in 1", "empty in 2"))
        + tuple(("v", one) for one in ("shorter in 3", "longer in 3", "empty in 3")),
    ),
    Entry(
        "flash_attn_varlen_func", flash_attn.flash_attn_varlen_func, packed_attention,
        integers={"max_seqlen_q": (-1, 0, 2), "max_seqlen_k": (-1, 0, 2)},
        numbers={"dropout_p": (1.0, -0.1, None), "softmax_scale": (), "softcap": (-1.0,)},
        shown={"softmax_scale": "scale", "dropout_p": "dropout"},
        harmless=(("cu_seqlens_q", "int64"), ("cu_seqlens_k", "int64")),
        not_tested=(*(("v", one) for one in ("shorter in 2", "longer in 2", "empty in 2")), ("q", "longer in 0"),
                    ("q", "empty in 1"),
                    ("max_seqlen_q", "2**31"), ("max_seqlen_k", "2**31")),
        trusted_on_gpu=(*(("q", one) for one in ("shorter in 0", "empty in 0")),
                        *((name, one) for name in ("max_seqlen_q", "max_seqlen_k") for one in ("0", "2"))),
    ),
    Entry(
        "flash_attn_with_kvcache", flash_attn.flash_attn_with_kvcache, cache, numbers={"softmax_scale": ()},
        optional=("cache_seqlens", "cache_batch_idx"), shown={"softmax_scale": "scale"},
        harmless=(("cache_seqlens", "int64"), ("cache_seqlens", "cpu"), ("cache_batch_idx", "int64")),
        not_tested=(("q", "shorter in 1"), ("q", "longer in 1"), ("q", "empty in 1"), ("q", "empty in 2"),
                    ("cache_seqlens", "scalar")),
    ),
    Entry(
        "memory_efficient_attention", fmha.memory_efficient_attention,
        lambda: {**dense_attention("query", "key", "value"), "attn_bias": numbers(1, 2, 5, 5), "p": 0.0, "scale": 0.4},
        numbers={"p": (1.0, -0.1, None), "scale": ()}, optional=("attn_bias",),
        shown={"p": "dropout", "query": "", "key": "", "value": "", "attn_bias": "bias"},
        not_tested=tuple(("value", one) for one in ("shorter in 3", "longer in 3", "empty in 3"))
        + tuple(("attn_bias", one) for one in (*OTHER_DTYPES, "scalar", "shorter in 1")),
    ),
    Entry(
        "sageattn", sageattention.sageattn,
        lambda: {**dense_attention("q", "k", "v", heads_first=True), "sm_scale": 0.4},
        numbers={"sm_scale": ()}, shown={"sm_scale": "scale"},
        not_tested=tuple(("q", one) for one in ("shorter in 2", "longer in 2", "empty in 2", "empty in 1"))
        + tuple(("v", one) for one in ("shorter in 3", "longer in 3", "empty in 3")),
    ),
]  # fmt: skip
NOT_FINITE = (math.nan, math.inf, -math.inf, 3e38, -3e38)
