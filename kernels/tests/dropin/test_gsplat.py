from __future__ import annotations

import pytest
from tests.device import torch

from rocm3d_kernels.dropin.packages.gsplat import package, wrapper

WIDTH, HEIGHT, COUNT, CAMERAS = 18, 11, 9, 2


def scene():
    random = torch.Generator().manual_seed(5)
    means, quats = torch.randn(COUNT, 3, generator=random) * 0.4, torch.randn(COUNT, 4, generator=random)
    scales, opacities = (
        torch.rand(COUNT, 3, generator=random) * 0.2 + 0.02,
        torch.rand(COUNT, generator=random) * 0.8 + 0.1,
    )
    return [one.requires_grad_() for one in (means, quats, scales, opacities, torch.rand(COUNT, 3, generator=random))]


def cameras():
    views = torch.eye(4).repeat(CAMERAS, 1, 1)
    views[:, 2, 3] = 3.0
    views[1, 0, 3] = 0.3
    return views, torch.tensor([[14.0, 0, 9], [0, 14, 5.5], [0, 0, 1]]).repeat(CAMERAS, 1, 1)


@pytest.mark.parametrize(
    "arguments",
    [{"with_ut": True}, {"distributed": True}, {"sparse_grad": True}, {"radial_coeffs": torch.ones(2, 6)},
     {"camera_model": "fisheye"}],
    ids=str,
)  # fmt: skip
def test_unsupported_arguments_are_named(arguments):
    with pytest.raises(NotImplementedError, match="not covered"):
        package.rasterization(*scene(), *cameras(), WIDTH, HEIGHT, **arguments)


def test_unknown_arguments_and_modes_are_rejected():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        package.rasterization(*scene(), *cameras(), WIDTH, HEIGHT, colour=1)
    with pytest.raises(ValueError, match="classic or antialiased"):
        package.rasterization(*scene(), *cameras(), WIDTH, HEIGHT, rasterize_mode="smooth")


def test_packed_rows_are_the_visible_gaussians():
    tensors = scene()
    image, _, meta = package.rasterization(*tensors, *cameras(), WIDTH, HEIGHT, absgrad=True)
    meta["means2d"].retain_grad()
    image.square().sum().backward()

    rows = len(meta["gaussian_ids"])
    assert meta["means2d"].shape == meta["means2d"].grad.shape == meta["means2d"].absgrad.shape == (rows, 2)
    assert meta["radii"].shape == (rows, 2)
    assert (meta["radii"] > 0).all()
    assert (meta["means2d"].absgrad >= meta["means2d"].grad.abs() - 1e-6).all()
    assert set(meta["camera_ids"].tolist()) == {0, 1}
    assert (meta["width"], meta["height"], meta["n_cameras"]) == (WIDTH, HEIGHT, CAMERAS)


@pytest.mark.parametrize("tile", [8, 16])
def test_single_steps_give_the_same_image_and_gradients(tile):
    whole, parts = scene(), scene()
    views, intrinsics = cameras()
    image, alpha, _ = package.rasterization(*whole, views, intrinsics, WIDTH, HEIGHT, packed=False)
    radii, means2d, depths, conics, ratio = package.fully_fused_projection(
        parts[0], None, parts[1], parts[2], views, intrinsics, WIDTH, HEIGHT, opacities=parts[3]
    )
    across, down = -(-WIDTH // tile), -(-HEIGHT // tile)
    _, ids, rows = package.isect_tiles(means2d, radii, depths, tile, across, down)
    offsets = package.isect_offset_encode(ids, CAMERAS, across, down)
    colors, opacities = parts[4].expand(CAMERAS, -1, -1), parts[3].expand(CAMERAS, -1)
    other, other_alpha = package.rasterize_to_pixels(
        means2d, conics, colors, opacities, WIDTH, HEIGHT, tile, offsets, rows
    )
    weights = torch.randn(image.shape, generator=torch.Generator().manual_seed(1))
    (image * weights).sum().backward()
    (other * weights).sum().backward()

    assert ratio is None
    torch.testing.assert_close(other, image, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(other_alpha, alpha, rtol=1e-5, atol=1e-6)
    for one, two in zip(whole, parts, strict=True):
        torch.testing.assert_close(two.grad, one.grad, rtol=1e-3, atol=1e-4)


def test_masked_tiles_are_skipped():
    tensors = [one.detach() for one in scene()]
    views, intrinsics = cameras()
    radii, means2d, depths, conics, _ = package.fully_fused_projection(
        tensors[0], None, tensors[1], tensors[2], views, intrinsics, WIDTH, HEIGHT
    )
    _, ids, rows = package.isect_tiles(means2d, radii, depths, 8, 3, 2)
    offsets = package.isect_offset_encode(ids, CAMERAS, 3, 2)
    masks = torch.ones(CAMERAS, 2, 3, dtype=torch.bool)
    masks[:, :, 1] = False
    image, _ = package.rasterize_to_pixels(
        means2d, conics, tensors[4].expand(CAMERAS, -1, -1), tensors[3].expand(CAMERAS, -1), WIDTH, HEIGHT, 8, offsets,
        rows, masks=masks,
    )  # fmt: skip

    assert image[:, :, :8].abs().max() > 0
    assert image[:, :, 16:].abs().max() > 0
    assert not image[:, :, 8:16].any()


def test_covariances_and_their_inverses():
    _, quats, scales, _, _ = (one.detach() for one in scene())
    covars, precisions = wrapper.quat_scale_to_covar_preci(quats, scales)
    upper, none = wrapper.quat_scale_to_covar_preci(quats, scales, compute_preci=False, triu=True)

    torch.testing.assert_close(covars @ precisions, torch.eye(3).expand(COUNT, 3, 3), rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(upper[:, 1], covars[:, 0, 1])
    assert none is None


# Surfels.


@pytest.mark.parametrize("argument", ["packed", "sparse_grad", "absgrad"])
def test_unsupported_surfel_arguments_are_named(argument):
    with pytest.raises(NotImplementedError, match=f"{argument} of rasterization_2dgs is not covered"):
        package.rasterization_2dgs(*scene(), *cameras(), WIDTH, HEIGHT, **{argument: True})


def test_unknown_depth_mode_and_distortion_without_depth_are_rejected():
    with pytest.raises(ValueError, match="expected or median"):
        package.rasterization_2dgs(*scene(), *cameras(), WIDTH, HEIGHT, depth_mode="mean")
    with pytest.raises(ValueError, match="distloss needs depths"):
        package.rasterization_2dgs(*scene(), *cameras(), WIDTH, HEIGHT, distloss=True)


@pytest.mark.usefixtures("reference_on_cpu")
@pytest.mark.parametrize("count", [1, CAMERAS])
def test_surfels_return_the_outputs_of_the_original(count):
    views, intrinsics = (one[:count] for one in cameras())
    colors, alphas, normals, depth_normals, distortion, median, meta = package.rasterization_2dgs(
        *scene(), views, intrinsics, WIDTH, HEIGHT, render_mode="RGB+ED", distloss=True, depth_mode="median"
    )

    shape = (count, HEIGHT, WIDTH)
    assert (colors.shape, alphas.shape, normals.shape) == ((*shape, 4), (*shape, 1), (*shape, 3))
    assert distortion.shape == median.shape == (*shape, 1)
    assert depth_normals.shape == ((*shape, 3) if count > 1 else (*shape[1:], 3))
    assert {
        "camera_ids", "gaussian_ids", "radii", "means2d", "depths", "ray_transforms", "opacities", "normals",
        "tile_width", "tile_height", "tiles_per_gauss", "isect_ids", "flatten_ids", "isect_offsets", "width", "height",
        "tile_size", "n_cameras", "render_distort", "gradient_2dgs",
    } <= set(meta)  # fmt: skip
    assert meta["ray_transforms"].shape == (count, COUNT, 3, 3)
    assert meta["isect_offsets"].shape == (count, meta["tile_height"], meta["tile_width"])
    assert int(meta["tiles_per_gauss"].sum()) == len(meta["flatten_ids"])
    colors.square().sum().backward()
    assert meta["gradient_2dgs"].grad.abs().sum() > 0


@pytest.mark.usefixtures("reference_on_cpu")
def test_without_depths_there_are_no_depth_normals():
    assert package.rasterization_2dgs(*scene(), *cameras(), WIDTH, HEIGHT)[3] is None


# Optimizers.


@pytest.mark.usefixtures("reference_on_cpu")
def test_only_visible_gaussians_are_optimized():
    value = torch.ones(4, 3, requires_grad=True)
    optimizer = package.SelectiveAdam([{"params": [value], "lr": 0.1}], eps=1e-8, betas=(0.9, 0.999))
    value.grad = torch.ones(4, 3)
    optimizer.step(visibility=torch.tensor([1.0, 0, 1, 0]))
    other, first, second = torch.ones(4, 3), torch.zeros(4, 3), torch.zeros(4, 3)
    wrapper.adam(other, torch.ones(4, 3), first, second, torch.arange(4) % 2 == 0, 0.1, 0.9, 0.999, 1e-8)

    assert (value[::2] < 1).all()
    assert (value[1::2] == 1).all()
    assert torch.equal(other, value)


def install_original(folder):
    """Installs a gsplat with Python modules and an extension that does not load."""
    for name, text in {
        "__init__.py": "from .strategy import DefaultStrategy\nfrom .cuda import _backend\n",
        "strategy/__init__.py": "from gsplat import quat_scale_to_covar_preci\nclass DefaultStrategy: pass\n",
        "cuda/__init__.py": "",
        "cuda/_backend.py": "raise ImportError('no CUDA')\n",
        "cuda/_wrapper.py": "raise ImportError('no CUDA')\n",
        "profile.py": "",
    }.items():
        (folder / "gsplat" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "gsplat" / name).write_text(text)
    return folder


@pytest.mark.stand_ins
def test_modules_without_kernels_stay_the_installed_ones(python, tmp_path):
    names = ["gsplat.profile", "gsplat.cuda._backend"]
    program = (
        "import importlib, rocm3d_kernels.dropin.auto\n"
        "from gsplat import DefaultStrategy, rasterization\nfrom gsplat.strategy import DefaultStrategy as again\n"
        "import gsplat.cuda._wrapper\n"
        "print(again is DefaultStrategy, DefaultStrategy.__module__, rasterization.__module__, gsplat.__rocm3d__)\n"
        f"for name in {names}:\n"
        "    try: importlib.import_module(name)\n"
        "    except ModuleNotFoundError as error: print(error)"
    )
    first, *rest = python(program, path=[install_original(tmp_path / "site")]).splitlines()

    assert first.split()[:3] == ["True", "gsplat.strategy", "rocm3d_kernels.dropin.packages.gsplat.rendering"]
    assert [line.partition(" by ")[0] for line in rest] == [f"{name} is not covered" for name in names]


@pytest.mark.stand_ins
def test_strategies_need_the_installed_package(python):
    program = "import rocm3d_kernels.dropin.auto\nfrom gsplat import rasterization\nimport gsplat.strategy"

    assert "gsplat.strategy is not covered" in python(program, fails=True)


@pytest.mark.parametrize("triangle", [False, True], ids=["quaternions", "covariances"])
def test_reference_projection_equals_the_kernel(monkeypatch, triangle):
    means, quats, scales, opacities, _ = (one.detach() for one in scene())
    upper, _ = wrapper.quat_scale_to_covar_preci(quats, scales, compute_preci=False, triu=True)
    gaussians = (means, upper, None, None) if triangle else (means, None, quats, scales)
    results = [package.fully_fused_projection(*gaussians, *cameras(), WIDTH, HEIGHT, opacities=opacities)]
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    results.append(package.fully_fused_projection(*gaussians, *cameras(), WIDTH, HEIGHT, opacities=opacities))

    for one, two in zip(*results, strict=True):
        assert (one is None) == (two is None)
        if one is not None:
            torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)
