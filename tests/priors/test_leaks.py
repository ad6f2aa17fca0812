"""Nothing of a space that is scored gets into its own prior, whatever a copy of it is called."""

from dataclasses import replace

import numpy as np
import pytest
from test_matching import HERE, reordered, taken

from llamea_tune.exceptions import PriorError, PriorWarning
from llamea_tune.priors import with_priors
from llamea_tune.spaces import load_spaces
from llamea_tune.testing.cache_files import write_cache
from llamea_tune.testing.synthetic_spaces import on_another_device

SCORED = replace(HERE, device_name="A100", name="synthetic/A100")


def half_copied(space):
    rng = np.random.default_rng(2)
    other = on_another_device(space, 5, device_name="x").costs
    return replace(space, costs=np.where(rng.random(space.size) < 0.5, space.costs, other))


COPIES = {
    "renamed": lambda space: replace(space, name="best/configs"),
    "reordered": lambda space: reordered(space, 3),
    "a sample": lambda space: taken(space, np.random.default_rng(1).choice(space.size, 60, replace=False)),
    "scaled": lambda space: replace(space, costs=space.costs * 3.7),
    "squared": lambda space: replace(space, costs=space.costs**2 + 1.0),
    "half copied": half_copied,
    "parameters renamed": lambda space: replace(
        space, tune_params={f"x_{name}": values for name, values in space.tune_params.items()}
    ),
    "maximised": lambda space: replace(space, costs=-1.0 / space.costs, higher_is_better=True),
}


@pytest.mark.parametrize("kernel_name", ["synthetic", ""])
@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_under_another_name_is_refused_with_a_sentence(copy, kernel_name):
    planted = COPIES[copy](
        replace(SCORED, device_name="H100", name="synthetic/H100", source="planted.json", content_hash="another")
    )
    scored = replace(SCORED, kernel_name=kernel_name)
    planted = replace(planted, kernel_name=kernel_name)
    honest = replace(on_another_device(scored, 1, device_name="MI250X"), kernel_name=kernel_name)
    if copy == "parameters renamed" and not kernel_name:
        assert with_priors([scored, planted, honest], ["others"], seed=1)[0].prior.told.startswith("1 recording")
        return
    with pytest.warns(PriorWarning, match=r"planted.json holds the measurements of synthetic/A100 under another name"):
        known = with_priors([scored, planted, honest], ["others"], seed=1)
    assert known[0].prior.told.startswith("1 recording")
    assert "MI250X" in known[0].prior.told


def test_real_recordings_of_other_devices_are_no_copies(hub):
    spaces = load_spaces([hub / "cachefiles" / "pnpoly", hub / "cachefiles" / "convolution_milo"])
    assert all(space.prior is not None for space in with_priors(spaces, ["others"], seed=1))


def test_those_that_come_with_the_package_are_none_either(recwarn):
    from llamea_tune.spaces import bundled_spaces

    spaces = load_spaces([path for path in bundled_spaces() if "nbody" in str(path) or "reduction" in str(path)])
    assert len(spaces) == 4
    assert all(space.prior is not None for space in with_priors(spaces, ["others"], seed=1))
    assert [each for each in recwarn if issubclass(each.category, PriorWarning)] == []


def test_the_same_device_is_left_out_whatever_its_file_is_called(tmp_path):
    again = replace(on_another_device(SCORED, 1, device_name="A100"), name="synthetic/yesterday")
    with pytest.raises(PriorError, match="tells nothing of any of the spaces"):
        with_priors([SCORED, again], ["others"], seed=1)
    path = write_cache(again, tmp_path / "yesterday.json")
    with (
        pytest.warns(PriorWarning, match="same kernel, device and problem size"),
        pytest.raises(PriorError, match="tells nothing"),
    ):
        with_priors([SCORED], [str(path)], seed=1)


def test_the_space_itself_is_left_out_of_a_folder_of_recordings(tmp_path):
    for seed, device in enumerate(("A100", "H100", "MI250X")):
        write_cache(on_another_device(SCORED, seed, device_name=device), tmp_path / f"{device}.json")
    spaces = load_spaces([tmp_path / "A100.json"])
    with pytest.warns(PriorWarning, match=r"A100.json is .*A100 itself"):
        (known,) = with_priors(spaces, [str(tmp_path)], seed=1)
    assert known.prior.told.startswith("2 recordings of synthetic: H100, MI250X;")
