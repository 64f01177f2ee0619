"""The evaluation functions that draw: where they write, what they return, and what they refuse."""

import json
from pathlib import Path

import numpy as np
import pytest

from irs_plugin.evaluation.conditional_densities import conditional_densities
from irs_plugin.evaluation.convergence import convergence
from irs_plugin.evaluation.importance_matrices import importance_matrices
from irs_plugin.evaluation.interventional_effects import interventional_effects
from irs_plugin.evaluation.robustness_tradeoff import robustness_tradeoff
from irs_plugin.evaluation.sampling import grid_sampling
from irs_plugin.evaluation.witnesses import witnesses

PICTURES = {
    interventional_effects: {"cyclic_factors": ["posX"]},
    conditional_densities: {},
    importance_matrices: {"min_samples_leaf": 5, "num_trees": 5},
    witnesses: {},
    convergence: {"sizes": [50, 200], "num_draws": 2, "num_permutations": 2},
    robustness_tradeoff: {"target": "shape", "nuisance_factors": ["posX"], "sampling": grid_sampling, "cv": 3},
}


@pytest.fixture
def images(data, monkeypatch):
    """The same data set, each observation an image whose first pixels are the factors."""

    def observe(factors, random_state):
        data.num_observed += len(factors)
        pictures = np.zeros((len(factors), 8, 8, 1), dtype=np.float32)
        pictures[:, 0, :3, 0] = factors / 8.0
        return pictures

    monkeypatch.setattr(data, "sample_observations_from_factors", observe)
    return data


def encode(observations):
    factors = observations[:, 0, :3, 0] * 8.0
    return np.stack([factors[:, 0] + 0.1 * factors[:, 2], factors[:, 1], factors[:, 2] * 0 + 0.1], axis=1)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.__name__)
def test_writes_into_dlibs_folder(picture, images, random_state, tmp_path):
    folder = tmp_path / "artifacts" / "name"
    found = picture(images, encode, random_state, str(folder), num_train=200, **PICTURES[picture])
    (path,) = found["figures"]
    assert Path(path) == folder / f"{picture.__name__}.png"
    assert Path(path).read_bytes().startswith(b"\x89PNG")
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_named_folder_and_format(images, random_state, tmp_path):
    found = interventional_effects(
        images,
        encode,
        random_state,
        str(tmp_path / "no"),
        num_train=200,
        output_dir=str(tmp_path / "yes"),
        format="svg",
    )
    assert found["figures"] == [str(tmp_path / "yes" / "interventional_effects.svg")]
    text = Path(found["figures"][0]).read_text()
    assert "posX" in text and "shape" in text
    assert not (tmp_path / "no").exists()


def test_the_curves_are_those_of_the_codes(images, random_state, tmp_path):
    found = interventional_effects(images, encode, random_state, str(tmp_path), sampling=grid_sampling)
    assert found["effects"]["inactive"] == [2]
    effect = found["effects"]["latents"]["z0"]
    assert effect["parent"] == "shape"
    assert effect["mean"] == pytest.approx([0.2, 1.2, 2.2], abs=1e-6)
    assert np.array(effect["curves"]["posX"])[0] == pytest.approx(0.1 * np.arange(5), abs=1e-6)


def test_witnesses_name_what_changed(images, random_state, tmp_path):
    found = witnesses(images, encode, random_state, str(tmp_path), sampling=grid_sampling, num_per_latent=1)
    worst = next(witness for witness in found["witnesses"] if witness["latent"] == 0)
    assert worst["parent"] == "shape"
    assert worst["distance"] == pytest.approx(0.2, abs=1e-6)
    assert "posX" in worst["changed"] and "shape" not in worst["changed"]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.__name__)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "gif"}, "format must be one of 'png', 'pdf', 'svg'; got 'gif'"),
        ({"size": "poster"}, "size must be one of 'one_column', 'two_columns'"),
        ({"artifact_dir": None}, "a folder"),
    ],
)
def test_refusals_before_anything_is_encoded(picture, images, random_state, tmp_path, change, message):
    options = {"artifact_dir": str(tmp_path / "out"), **PICTURES[picture], **change}
    with pytest.raises(ValueError, match=message):
        picture(images, encode, random_state, **options)
    assert images.num_observed == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("picture", "change", "message"),
    [
        (interventional_effects, {"cyclic_factors": ["azimuth"]}, "no factor 'azimuth'; its factors are shape"),
        (interventional_effects, {"diff_quantile": 2.0}, r"diff_quantile must be a number in \[0, 1\]"),
        (conditional_densities, {"latents_per_page": 0}, "latents_per_page must be an integer of at least 1; got 0"),
        (witnesses, {"num_per_latent": 0}, "num_per_latent must be an integer of at least 1; got 0"),
        (importance_matrices, {"num_bins": 1}, "num_bins must be an integer of at least 2; got 1"),
        (convergence, {"num_draws": 0}, "num_draws must be an integer of at least 1; got 0"),
        (robustness_tradeoff, {"nuisance_factors": ["posX", "shape"]}, "target 'shape' is among the nuisance factors"),
    ],
)
def test_bad_options_end_before_anything_is_encoded(picture, change, message, images, random_state, tmp_path):
    with pytest.raises(ValueError, match=message):
        picture(images, encode, random_state, str(tmp_path / "out"), **{**PICTURES[picture], **change})
    assert images.num_observed == 0
    assert not list(tmp_path.iterdir())


def test_a_curve_of_nothing_ends_before_the_sizes_are_tried(images, random_state, tmp_path, capsys):
    with pytest.raises(ValueError, match=r"drawn_score must be one of .*'avg_score'.*; got 'irs'"):
        convergence(images, encode, random_state, str(tmp_path / "out"), num_train=200, drawn_score="irs")
    assert "samples" not in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_tradeoff_needs_its_factors(images, random_state, tmp_path):
    with pytest.raises(ValueError, match="target is not bound"):
        robustness_tradeoff(images, encode, random_state, str(tmp_path), nuisance_factors=["posX"])
    with pytest.raises(ValueError, match="nuisance_factors is not bound"):
        robustness_tradeoff(images, encode, random_state, str(tmp_path), target="shape")
    assert images.num_observed == 0
