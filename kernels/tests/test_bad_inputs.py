"""Every wrong value of every argument of the public functions: refused by name in one line, or harmless."""

from __future__ import annotations

import pytest

from tests.bad_entries import ENTRIES, NOT_FINITE
from tests.bad_inputs import MAX_MESSAGE, OTHER_DTYPES, changes, same_values_otherwise_stored, tensors_of
from tests.device import torch

# The interpreter warns where lanes compute with values that are not finite.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:.*(sparse|Sparse).*:UserWarning")


@pytest.mark.parametrize("change", [one for entry in ENTRIES for one in changes(entry)], ids=lambda one: one.id)
def test_wrong_argument_is_refused_by_name(change):
    message = change.is_refused()
    if not message:
        assert (change.argument, change.name) in change.entry.harmless
        return
    assert "\n" not in message
    assert len(message) <= MAX_MESSAGE
    is_dtype = change.name in OTHER_DTYPES and "dtype" in message
    assert is_dtype or change.entry.shown.get(change.argument, change.argument) in message


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_strides_offsets_and_leaves_do_not_matter(entry):
    arguments = entry.arguments()
    flip = entry.name not in ("adam", "curope.rope_2d")
    others = {
        name: same_values_otherwise_stored(one, flip=flip)
        for name, one in arguments.items()
        if isinstance(one, torch.Tensor)
    }

    for one, expected in zip(entry.run(**others), entry.run(), strict=True):
        torch.testing.assert_close(one, expected)


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_values_that_are_not_finite_end_with_a_result_of_the_same_shape(entry, value):
    expected = [one.shape for one in entry.run()]
    for name, one in entry.arguments().items():
        if isinstance(one, torch.Tensor) and one.is_floating_point():
            shapes = [result.shape for result in entry.run(**{name: torch.full_like(one, value)})]
            if entry.name != "isect_tiles":
                assert shapes == expected
    assert list(tensors_of(entry.run()))
