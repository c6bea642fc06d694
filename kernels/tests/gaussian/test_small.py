"""SmallRendering and FullRendering give the same results."""

from __future__ import annotations

import ctypes

import pytest
from tests.device import DEVICE, on_gpu, plain_torch, torch
from tests.tiles.test_tiles import SIZE, lists, scene, seen

from rocm3d_kernels import tiles, tuning
from rocm3d_kernels.gaussian import rasterization, render, small
from rocm3d_kernels.gaussian.options import Options
from rocm3d_kernels.launching import Start
from rocm3d_kernels.projection import Settings
from rocm3d_kernels.tiles import ahead

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(ahead, "_PLACES", {})


def begun(slots, choice=0, *, learns=True):
    _, columns, rows = tiles.grid(choice, *SIZE)
    known = ahead.Known(choice, 2 * columns * rows, slots)
    plan = small.Plan(small.Scene(Options(Settings(*SIZE)), known, 2, 2, 14, 3, False, learns, DEVICE))
    return small.Small(plan, scene())


def test_too_few_slots_are_found_out():
    assert not begun(slots=2).fits()
    assert begun(slots=32).fits()


def test_nothing_lies_beyond_the_slots_of_a_tile(monkeypatch):
    """Buffers are filled with 77; the memory after the last tile keeps it."""
    made, empty = [], plain_torch.empty

    def filled(*size, **named):
        made.append(empty(*size, **named).fill_(77))
        return made[-1]

    monkeypatch.setattr(plain_torch, "empty", filled)
    found = begun(slots=2)

    for layout, name in ((found.plan.seen, "lists"), (found.plan.passing, "keys")):
        memory = next(one for one in made if one.numel() == layout.size)
        part = layout.tensor(memory, name)
        behind = memory[(part.data_ptr() - memory.data_ptr() + part.nbytes) // 4 :]
        assert len(behind) > 0
        assert (behind == 77).all()


def test_what_gradients_are_added_to_is_zero_whatever_was_there(monkeypatch):
    empty = plain_torch.empty
    monkeypatch.setattr(plain_torch, "empty", lambda *size, **named: empty(*size, **named).fill_(77))
    found = begun(slots=32)

    assert not found.plan.zeros.tensor(found.told.zeros, "gradients").any()
    assert found.plan.zeros.tensor(found.told.zeros, "gradients").numel() == 2 * 14 * (6 + 3)
    assert found.told.lists.offsets.sum() > 0
    assert begun(slots=32, learns=False).plan.zeros.size < found.plan.zeros.size


@pytest.mark.parametrize("large", [1, 32], ids=["each-by-itself", "side-by-side"])
@pytest.mark.parametrize("choice", [0, 1], ids=["coarse", "fine"])
def test_with_slots_enough_the_lists_are_those_of_one_who_waited(choice, large):
    tuning.insist("tiles", {"emit_tiles": {"LARGE": large}, "lists": {"WORTH": (0, 99)[choice]}})
    waited = tiles.intersect(seen(), *SIZE)
    found = begun(32, choice).told.lists
    tuning.insist("tiles", {})

    assert lists(found.packed()) == lists(waited)
    assert waited.packed() is waited


# Two coarse or six fine tiles; those at the edges are cut.
PICTURE, LENS = (18, 11), torch.tensor([[[18.0, 0, 9], [0, 18, 5.5], [0, 0, 1]]])


def given(count=6, channels=3, coefficients=0):
    numbers = torch.Generator().manual_seed(1)
    colors = (count, coefficients, 3) if coefficients else (count, channels)
    return [torch.randn(count, 3, generator=numbers), torch.randn(count, 4, generator=numbers),
            torch.rand(count, 3, generator=numbers) * 0.3, torch.rand(count, generator=numbers),
            torch.rand(colors, generator=numbers)]  # fmt: skip


def drawn(tensors, distance=6.0, cameras=1, deterministic=False, **named):
    """Class of the rendering, images and gradients, tensors of the meta dict."""
    view = torch.eye(4).repeat(cameras, 1, 1)
    view[:, 2, 3] = distance + torch.arange(cameras)
    lens = LENS.repeat(cameras, 1, 1)
    leaves = [one.clone().requires_grad_() for one in tensors]
    image, alphas, meta = rasterization(*leaves, view, lens, *PICTURE, deterministic=deterministic, **named)
    watched = meta["means2d"]
    way = type(image.grad_fn.rendered)
    (image.square().sum() + alphas.square().sum()).backward()
    found = [image.detach(), alphas.detach(), watched.grad, *[one.grad for one in leaves]]
    told = [meta[name].detach() for name in ("radii", "conics", "depths", "opacities", "flatten_ids", "isect_offsets")]
    return way, [*found, *([watched.absgrad] if named.get("absgrad") else [])], told


WAYS = {
    "plain": {},
    "cameras": {"cameras": 2},
    "depths": {"render_mode": "RGB+D"},
    "depths-alone": {"render_mode": "D"},
    "background": {"backgrounds": torch.tensor([[0.1, 0.2, 0.3]])},
    "absolute": {"absgrad": True},
    "antialiased": {"antialiased": True, "camera_model": "ortho", "near_plane": -9.0},
}


@pytest.fixture
def by_addresses(monkeypatch):
    """Launches with addresses; for the interpreter they are converted back to tensors."""
    taken = []
    if on_gpu():
        at = Start.at
        monkeypatch.setattr(Start, "at", lambda start, *given: taken.append(start) or at(start, *given))
    else:
        interpret_addresses(monkeypatch, taken)
    return taken


def interpret_addresses(monkeypatch, taken):
    forms, run = {}, Start.__call__

    def remembered(start, *tensors):
        forms[start] = [None if one is None else (one.dtype, one.nbytes) for one in tensors]
        run(start, *tensors)

    def at(start, *addresses):
        taken.append(start)
        assert len(addresses) == len(forms[start])
        run(start, *[made(*pair) for pair in zip(addresses, forms[start], strict=True)])

    def made(address, form):
        assert (address is None) == (form is None)
        if form is None:
            return None
        assert address % 16 == 0
        return torch.frombuffer((ctypes.c_byte * form[1]).from_address(address), dtype=form[0])

    monkeypatch.setattr(Start, "__call__", remembered)
    monkeypatch.setattr(Start, "at", at)
    monkeypatch.setattr(Start, "ready", property(lambda start: start in forms))
    monkeypatch.setattr(small, "usual", lambda *_: True)


@pytest.mark.parametrize("named", WAYS.values(), ids=WAYS)
def test_both_ways_agree_by_tensors_and_by_addresses(by_addresses, named):
    (first, wanted, wanted_told), *others = [drawn(given(), **named) for _ in range(3)]

    assert first is render.Whole
    assert len(by_addresses) >= 4
    for way, found, told in others:
        assert way is small.Small
        for have, must in zip(found, wanted, strict=True):
            # Sums have another order.
            torch.testing.assert_close(have, must, rtol=1e-4, atol=1e-5)
        for have, must in zip(told, wanted_told, strict=True):
            torch.testing.assert_close(have, must)


@pytest.mark.parametrize("cameras", [1, 2])
def test_harmonics_take_it_too(by_addresses, cameras):
    found = [drawn(given(coefficients=4), cameras=cameras, sh_degree=1) for _ in range(3)]

    assert [way for way, *_ in found] == [render.Whole, small.Small, small.Small]
    assert len(by_addresses) >= 4
    for have, must in zip(found[2][1], found[0][1], strict=True):
        torch.testing.assert_close(have, must, rtol=1e-4, atol=1e-5)


def test_more_channels_than_a_kernel_draws_at_once_take_the_other_way():
    assert [drawn(given(channels=5))[0] for _ in range(2)] == [render.Whole] * 2


def test_who_wants_the_same_every_time_takes_the_other_way():
    assert [drawn(given())[0] for _ in range(2)] == [render.Whole, small.Small]
    assert drawn(given(), deterministic=True)[0] is render.Whole


def test_pictures_and_gradients_are_the_same_however_wrong_the_guess():
    """The second view has far longer lists than the first."""
    waited = []
    for distance in (40.0, 2.5):  # far and small, near and large
        ahead._PLACES.clear()
        waited.append(drawn(given(), distance))
    for place in ahead._PLACES.values():
        place.guess = ahead.Known(choice=0, tiles=2, slots=1)
    for which in (1, 0, 1):
        found, wanted = drawn(given(), (40.0, 2.5)[which]), waited[which]
        for have, must in zip(found[1], wanted[1], strict=True):
            # Tiles of another size sum in another order.
            torch.testing.assert_close(have, must, rtol=1e-4, atol=1e-5)
        assert len(found[2][4]) == len(wanted[2][4])


def test_who_goes_back_twice_gets_the_same_both_times():
    """Gradients are added to a buffer that the projection zeroes only once."""
    drawn(given())
    leaves = [one.requires_grad_() for one in given()]
    view = torch.eye(4)[None].clone()
    view[:, 2, 3] = 6.0
    image = rasterization(*leaves, view, LENS, *PICTURE, deterministic=False)[0]
    assert isinstance(image.grad_fn.rendered, small.Small)
    first = torch.autograd.grad(image.square().sum(), leaves, retain_graph=True)
    second = torch.autograd.grad(image.square().sum(), leaves)

    for one, other in zip(first, second, strict=True):
        assert one.abs().max() > 0
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_parts_of_a_layout_do_not_meet():
    layout = small.Layout(
        a=((3,), torch.int16), b=((2, 5), torch.float32), c=((0,), torch.int64), d=((4,), torch.int64)
    )
    memory = torch.zeros(layout.size)
    for number, one in enumerate(layout.tensors(memory)):
        one.fill_(number + 1)

    assert [one.flatten().tolist() for one in layout.tensors(memory)] == [[1] * 3, [2] * 10, [], [4] * 4]
    assert layout.addresses(memory) == [one.data_ptr() or place for one, place in
                                        zip(layout.tensors(memory), layout.addresses(memory), strict=True)]  # fmt: skip
    assert all(place % 16 == memory.data_ptr() % 16 for place in layout.addresses(memory))


def odd(**changes):
    means, quats, scales, opacities, colors = given()
    named = {"means": means, "quats": quats, "scales": scales, "opacities": opacities, "colors": colors}
    for name, (place, number) in changes.items():
        named[name][place] = number
    return list(named.values())


@pytest.mark.parametrize(
    "tensors",
    [
        odd(means=(slice(None), -50.0)),
        odd(means=(0, torch.nan)),
        odd(scales=(1, torch.inf), opacities=(2, torch.nan)),
        odd(scales=(slice(None), 1e4)),
        [one[:1] for one in given()],
    ],
    ids=["behind", "nan-mean", "inf-and-nan", "huge", "one"],
)
def test_what_is_odd_is_the_same_both_ways(tensors):
    first, second = drawn(tensors), drawn(tensors)

    assert (first[0], second[0]) == (render.Whole, small.Small)
    for have, must in zip(second[1], first[1], strict=True):
        torch.testing.assert_close(have, must, rtol=1e-4, atol=1e-5, equal_nan=True)


def test_tensors_that_are_not_aligned_take_it_too():
    tensors = [torch.cat((torch.zeros(1), one.flatten()))[1:].view(one.shape) for one in given()]
    view = torch.eye(4)[None].clone()
    view[:, 2, 3] = 6.0
    found = [rasterization(*tensors, view, LENS, *PICTURE, deterministic=False)[0] for _ in range(2)]

    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("again", [True, False])
def test_what_only_pixels_need_is_dropped_before_more_memory_is_needed(again):
    found = begun(slots=32)
    found.colors = torch.rand(14, 3)
    image, _ = found.draw(None)
    found.draw_back(None, torch.ones_like(image), None, again=again)

    assert (found._light is not None) == again
    assert (found.colors is not None) == again
