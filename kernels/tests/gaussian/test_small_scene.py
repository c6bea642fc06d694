"""SmallRendering and FullRendering give the same results."""

from __future__ import annotations

import ctypes

import pytest
from tests.device import DEVICE, on_gpu, plain_torch, torch
from tests.tiles.test_tiles import SIZE, lists, projected_copy, scene

from rocm3d_kernels import tiles, tuning
from rocm3d_kernels.gaussian import rasterization, render, small_scene
from rocm3d_kernels.gaussian.options import RenderOptions
from rocm3d_kernels.launching import PreparedLaunch
from rocm3d_kernels.projection import CameraSettings
from rocm3d_kernels.tiles import slot_guess

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]


@pytest.fixture(autouse=True)
def no_guesses(monkeypatch):
    monkeypatch.setattr(slot_guess, "_HISTORIES", {})


def start_small_rendering(slots, choice=0, *, learns=True):
    _, columns, rows = tiles.tile_grid(choice, *SIZE)
    guess = slot_guess.SlotGuess(choice, 2 * columns * rows, slots)
    plan = small_scene.RenderPlan(
        small_scene.Scene(RenderOptions(CameraSettings(*SIZE)), guess, 2, 2, 14, 3, False, learns, DEVICE)
    )
    return small_scene.SmallRendering(plan, scene())


def test_too_few_slots_are_detected():
    assert not start_small_rendering(slots=2).has_enough_slots()
    assert start_small_rendering(slots=32).has_enough_slots()


def test_nothing_is_written_beyond_the_slots(monkeypatch):
    """Buffers are filled with 77; the memory after the last tile keeps it."""
    buffers, empty = [], plain_torch.empty

    def filled(*size, **named):
        buffers.append(empty(*size, **named).fill_(77))
        return buffers[-1]

    monkeypatch.setattr(plain_torch, "empty", filled)
    rendering = start_small_rendering(slots=2)

    for layout, name in ((rendering.plan.projected, "lists"), (rendering.plan.scratch, "keys")):
        memory = next(one for one in buffers if one.numel() == layout.size)
        part = layout.tensor(memory, name)
        behind = memory[(part.data_ptr() - memory.data_ptr() + part.nbytes) // 4 :]
        assert len(behind) > 0
        assert (behind == 77).all()


def test_gradient_buffers_are_zeroed(monkeypatch):
    empty = plain_torch.empty
    monkeypatch.setattr(plain_torch, "empty", lambda *size, **named: empty(*size, **named).fill_(77))
    rendering = start_small_rendering(slots=32)

    assert not rendering.plan.zeros.tensor(rendering.outputs.zeros, "gradients").any()
    assert rendering.plan.zeros.tensor(rendering.outputs.zeros, "gradients").numel() == 2 * 14 * (6 + 3)
    assert rendering.outputs.lists.offsets.sum() > 0
    assert start_small_rendering(slots=32, learns=False).plan.zeros.size < rendering.plan.zeros.size


@pytest.mark.parametrize("large", [1, 32], ids=["each-by-itself", "side-by-side"])
@pytest.mark.parametrize("choice", [0, 1], ids=["coarse", "fine"])
def test_lists_with_enough_slots_match_intersect(choice, large):
    tuning.override_parameters("tiles", {"emit_tiles": {"LARGE": large}, "lists": {"WORTH": (0, 99)[choice]}})
    expected = tiles.intersect(projected_copy(), *SIZE)
    actual = start_small_rendering(32, choice).outputs.lists
    tuning.override_parameters("tiles", {})

    assert lists(actual.packed()) == lists(expected)
    assert expected.packed() is expected


# Two coarse or six fine tiles; those at the edges are cut.
PICTURE, LENS = (18, 11), torch.tensor([[[18.0, 0, 9], [0, 18, 5.5], [0, 0, 1]]])


def gaussian_tensors(count=6, channels=3, coefficients=0):
    numbers = torch.Generator().manual_seed(1)
    colors = (count, coefficients, 3) if coefficients else (count, channels)
    return [torch.randn(count, 3, generator=numbers), torch.randn(count, 4, generator=numbers),
            torch.rand(count, 3, generator=numbers) * 0.3, torch.rand(count, generator=numbers),
            torch.rand(colors, generator=numbers)]  # fmt: skip


def render_scene(tensors, distance=6.0, cameras=1, deterministic=False, **named):
    """Class of the rendering, images and gradients, tensors of the meta dict."""
    view = torch.eye(4).repeat(cameras, 1, 1)
    view[:, 2, 3] = distance + torch.arange(cameras)
    lens = LENS.repeat(cameras, 1, 1)
    leaves = [one.clone().requires_grad_() for one in tensors]
    image, alphas, meta = rasterization(*leaves, view, lens, *PICTURE, deterministic=deterministic, **named)
    watched = meta["means2d"]
    rendering_class = type(image.grad_fn.rendered)
    (image.square().sum() + alphas.square().sum()).backward()
    results = [image.detach(), alphas.detach(), watched.grad, *[one.grad for one in leaves]]
    meta_tensors = [
        meta[name].detach() for name in ("radii", "conics", "depths", "opacities", "flatten_ids", "isect_offsets")
    ]
    return rendering_class, [*results, *([watched.absgrad] if named.get("absgrad") else [])], meta_tensors


CASES = {
    "plain": {},
    "cameras": {"cameras": 2},
    "depths": {"render_mode": "RGB+D"},
    "depths-alone": {"render_mode": "D"},
    "background": {"backgrounds": torch.tensor([[0.1, 0.2, 0.3]])},
    "absolute": {"absgrad": True},
    "antialiased": {"antialiased": True, "camera_model": "ortho", "near_plane": -9.0},
}


@pytest.fixture
def address_launches(monkeypatch):
    """Launches with addresses; for the interpreter they are converted back to tensors."""
    launches = []
    if on_gpu():
        at = PreparedLaunch.launch_addresses
        monkeypatch.setattr(
            PreparedLaunch,
            "launch_addresses",
            lambda start, *addresses: launches.append(start) or at(start, *addresses),
        )
    else:
        interpret_addresses(monkeypatch, launches)
    return launches


def interpret_addresses(monkeypatch, launches):
    forms, run = {}, PreparedLaunch.__call__

    def record_form(start, *tensors):
        forms[start] = [None if one is None else (one.dtype, one.nbytes) for one in tensors]
        run(start, *tensors)

    def at(start, *addresses):
        launches.append(start)
        assert len(addresses) == len(forms[start])
        run(start, *[tensor_at(*pair) for pair in zip(addresses, forms[start], strict=True)])

    def tensor_at(address, form):
        assert (address is None) == (form is None)
        if form is None:
            return None
        assert address % 16 == 0
        return torch.frombuffer((ctypes.c_byte * form[1]).from_address(address), dtype=form[0])

    monkeypatch.setattr(PreparedLaunch, "__call__", record_form)
    monkeypatch.setattr(PreparedLaunch, "launch_addresses", at)
    monkeypatch.setattr(PreparedLaunch, "is_ready", property(lambda start: start in forms))
    monkeypatch.setattr(small_scene, "can_pass_addresses", lambda *_: True)


@pytest.mark.parametrize("named", CASES.values(), ids=CASES)
def test_small_and_full_rendering_agree_with_tensors_and_addresses(address_launches, named):
    (first_class, expected, expected_meta), *others = [render_scene(gaussian_tensors(), **named) for _ in range(3)]

    assert first_class is render.FullRendering
    assert len(address_launches) >= 4
    for rendering_class, actual, actual_meta in others:
        assert rendering_class is small_scene.SmallRendering
        for have, must in zip(actual, expected, strict=True):
            # Sums have another order.
            torch.testing.assert_close(have, must, rtol=1e-4, atol=1e-5)
        for have, must in zip(actual_meta, expected_meta, strict=True):
            torch.testing.assert_close(have, must)


@pytest.mark.parametrize("cameras", [1, 2])
def test_harmonics_use_small_rendering(address_launches, cameras):
    results = [render_scene(gaussian_tensors(coefficients=4), cameras=cameras, sh_degree=1) for _ in range(3)]

    assert [rendering_class for rendering_class, *_ in results] == [
        render.FullRendering,
        small_scene.SmallRendering,
        small_scene.SmallRendering,
    ]
    assert len(address_launches) >= 4
    for have, must in zip(results[2][1], results[0][1], strict=True):
        torch.testing.assert_close(have, must, rtol=1e-4, atol=1e-5)


def test_many_channels_use_full_rendering():
    assert [render_scene(gaussian_tensors(channels=5))[0] for _ in range(2)] == [render.FullRendering] * 2


def test_deterministic_mode_uses_full_rendering():
    assert [render_scene(gaussian_tensors())[0] for _ in range(2)] == [render.FullRendering, small_scene.SmallRendering]
    assert render_scene(gaussian_tensors(), deterministic=True)[0] is render.FullRendering


def test_results_do_not_depend_on_the_guess():
    """The second view has far longer lists than the first."""
    full_results = []
    for distance in (40.0, 2.5):  # far and small, near and large
        slot_guess._HISTORIES.clear()
        full_results.append(render_scene(gaussian_tensors(), distance))
    for history in slot_guess._HISTORIES.values():
        history.guess = slot_guess.SlotGuess(choice=0, tiles=2, slots=1)
    for which in (1, 0, 1):
        actual, expected = render_scene(gaussian_tensors(), (40.0, 2.5)[which]), full_results[which]
        for have, must in zip(actual[1], expected[1], strict=True):
            # Tiles of another size sum in another order.
            torch.testing.assert_close(have, must, rtol=1e-4, atol=1e-5)
        assert len(actual[2][4]) == len(expected[2][4])


def test_second_backward_gives_the_same_gradients():
    """Gradients are added to a buffer that the projection zeroes only once."""
    render_scene(gaussian_tensors())
    leaves = [one.requires_grad_() for one in gaussian_tensors()]
    view = torch.eye(4)[None].clone()
    view[:, 2, 3] = 6.0
    image = rasterization(*leaves, view, LENS, *PICTURE, deterministic=False)[0]
    assert isinstance(image.grad_fn.rendered, small_scene.SmallRendering)
    first = torch.autograd.grad(image.square().sum(), leaves, retain_graph=True)
    second = torch.autograd.grad(image.square().sum(), leaves)

    for one, other in zip(first, second, strict=True):
        assert one.abs().max() > 0
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_layout_parts_do_not_overlap():
    layout = small_scene.Layout(
        a=((3,), torch.int16), b=((2, 5), torch.float32), c=((0,), torch.int64), d=((4,), torch.int64)
    )
    memory = torch.zeros(layout.size)
    for number, one in enumerate(layout.tensors(memory)):
        one.fill_(number + 1)

    assert [one.flatten().tolist() for one in layout.tensors(memory)] == [[1] * 3, [2] * 10, [], [4] * 4]
    assert layout.addresses(memory) == [one.data_ptr() or part_address for one, part_address in
                                        zip(layout.tensors(memory), layout.addresses(memory), strict=True)]  # fmt: skip
    assert all(part_address % 16 == memory.data_ptr() % 16 for part_address in layout.addresses(memory))


def unusual_tensors(**changes):
    means, quats, scales, opacities, colors = gaussian_tensors()
    named = {"means": means, "quats": quats, "scales": scales, "opacities": opacities, "colors": colors}
    for name, (index, number) in changes.items():
        named[name][index] = number
    return list(named.values())


@pytest.mark.parametrize(
    "tensors",
    [
        unusual_tensors(means=(slice(None), -50.0)),
        unusual_tensors(means=(0, torch.nan)),
        unusual_tensors(scales=(1, torch.inf), opacities=(2, torch.nan)),
        unusual_tensors(scales=(slice(None), 1e4)),
        [one[:1] for one in gaussian_tensors()],
    ],
    ids=["behind", "nan-mean", "inf-and-nan", "huge", "one"],
)
def test_unusual_values_match_full_rendering(tensors):
    first, second = render_scene(tensors), render_scene(tensors)

    assert (first[0], second[0]) == (render.FullRendering, small_scene.SmallRendering)
    for have, must in zip(second[1], first[1], strict=True):
        torch.testing.assert_close(have, must, rtol=1e-4, atol=1e-5, equal_nan=True)


def test_unaligned_tensors_are_accepted():
    tensors = [torch.cat((torch.zeros(1), one.flatten()))[1:].view(one.shape) for one in gaussian_tensors()]
    view = torch.eye(4)[None].clone()
    view[:, 2, 3] = 6.0
    images = [rasterization(*tensors, view, LENS, *PICTURE, deterministic=False)[0] for _ in range(2)]

    torch.testing.assert_close(images[1], images[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("retain_graph", [True, False])
def test_pixel_state_is_dropped_unless_the_graph_is_retained(retain_graph):
    rendering = start_small_rendering(slots=32)
    rendering.colors = torch.rand(14, 3)
    image, _ = rendering.draw(None)
    rendering.draw_backward(None, torch.ones_like(image), None, retain_graph=retain_graph)

    assert (rendering._pixel_state is not None) == retain_graph
    assert (rendering.colors is not None) == retain_graph
