from __future__ import annotations

from datetime import date

import pytest

from rocm3d.model.errors import UserError
from rocm3d.model.port import MemoryNeed, Port, ViabilityPoint
from rocm3d.model.source import Source
from rocm3d.model.target import Gpu
from rocm3d.plan.fitness import rate_port

SOURCE = Source(where="somewhere public")
CARD = Gpu(gfx="gfx1100", product="rx-7900-xtx", title="RX 7900 XTX", wave_size=32, vram_gb=24)
APU = Gpu(gfx="gfx1151", product="strix", title="Strix Halo", wave_size=32, vram_gb=None)
DAY = date(2026, 1, 1)


def point(effect, **arguments):
    return ViabilityPoint(
        **{"id": "p", "effect": effect, "why": "w", "since": date(2025, 1, 1), "source": SOURCE, **arguments}
    )


def memory(gb, known=date(2025, 1, 1)):
    return MemoryNeed(mode="full", gb=gb, known=known, source=SOURCE)


def port(name="m", **arguments):
    record = {"checked": DAY, "confidence": "inferred", "sources": (SOURCE,), "id": name, "title": "M", "tier": 1}
    return Port(**{**record, "families": ("gaussian",), **arguments})


def viability(record, gpu=CARD, as_of=DAY, **others):
    return rate_port(record, {record.id: record, **others}, gpu, as_of).viability


def test_a_hosted_service_is_not_viable_whatever_its_score():
    assert viability(port(hosted=True)) == "Not viable"


def test_circular_ports_are_refused():
    a, b = port("a", builds_on="b"), port("b", builds_on="a")

    with pytest.raises(UserError, match="circular"):
        rate_port(a, {"a": a, "b": b}, CARD, DAY)


def test_a_point_does_not_count_before_it_was_known_nor_once_it_is_over_nor_for_another_gpu():
    later = point(-3, since=date(2026, 1, 2))
    over = point(-3, until=DAY)
    elsewhere = point(-3, gfx=("gfx942",))

    assert viability(port(points=(later, over, elsewhere))) == "High"


def test_a_closed_point_is_shown_as_what_changed():
    result = rate_port(port(points=(point(-3, until=DAY),)), {}, CARD, DAY)

    assert [entry.effect for entry in result.closed] == [-3]
    assert "until 2026-01-01" in result.closed[0].why


def test_memory_learnt_later_does_not_count():
    assert viability(port(memory=(memory(100, known=date(2026, 1, 2)),))) == "High"


def test_shared_memory_costs_no_points():
    result = rate_port(port(memory=(memory(100),)), {}, APU, DAY)

    assert result.viability == "High"
    assert [entry.fits for entry in result.memory] == [None]


@pytest.mark.parametrize(
    ("gb", "score", "fits"), [(8, 5, True), (21.6, 5, True), (21.7, 4, True), (24, 4, True), (24.5, 3, False)]
)
def test_the_largest_mode_decides_about_memory(gb, score, fits):
    result = rate_port(port(memory=(memory(1), memory(gb))), {}, CARD, DAY)

    assert result.score == score
    assert result.memory[1].fits is fits


@pytest.mark.parametrize(
    ("effect", "band"), [(0, "High"), (-1, "Medium"), (-2, "Medium-Low"), (-3, "Low"), (-4, "Very Low"), (2, "High")]
)
def test_points_add_up_to_a_band(effect, band):
    assert viability(port(points=(point(effect),))) == band


def test_what_it_builds_on_counts_too():
    base = port("base", points=(point(-2),), memory=(memory(24.5),))

    result = rate_port(port(builds_on="base"), {"base": base}, CARD, DAY)

    assert [entry.effect for entry in result.points] == [-2, -2]
    assert result.viability == "Very Low"


def test_a_repository_has_no_score_before_it_was_known():
    with pytest.raises(UserError, match="was not known on 2026-01-01"):
        rate_port(port(first_known=date(2026, 1, 2)), {}, CARD, DAY)
