import json

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from irs_plugin import disentanglement_score
from irs_plugin.figures import (
    draw_effect,
    draw_interventional_effects,
    interventional_effects,
    interventional_effects_data,
)

NAMES = ["shape", "size", "angle"]


def _slow_mean(factors, codes, conditions):
    rows = [n for n in range(len(factors)) if all(factors[n, k] == value for k, value in conditions.items())]
    return np.mean([codes[n] for n in rows]) if rows else np.nan


def test_curves_are_conditional_means_of_every_pair(grid):
    factors, codes = grid
    effects = interventional_effects_data(factors, codes)
    score = disentanglement_score(factors, codes)
    assert effects.latents.tolist() == [0, 1, 3]
    assert effects.inactive.tolist() == [2]
    assert set(effects.curves) == {
        (latent, factor) for latent in (0, 1, 3) for factor in range(3) if factor != score.parents[latent]
    }
    for (latent, factor), curves in effects.curves.items():
        parent = score.parents[latent]
        for i, parent_value in enumerate(effects.factor_values[parent]):
            for j, value in enumerate(effects.factor_values[factor]):
                expected = _slow_mean(factors, codes[:, latent], {parent: parent_value, factor: value})
                assert curves[i, j] == pytest.approx(expected, abs=1e-12)


def test_parent_column_is_mean_median_and_spread(grid):
    factors, codes = grid
    effects = interventional_effects_data(factors, codes + 1e6)
    for latent, parent in zip(effects.latents, effects.parents, strict=True):
        effect = effects.parent_effects[latent]
        for i, value in enumerate(effects.factor_values[parent]):
            sample = codes[factors[:, parent] == value, latent] + 1e6
            assert effect.mean[i] == pytest.approx(sample.mean(), abs=1e-8)
            assert effect.median[i] == pytest.approx(np.median(sample), abs=1e-8)
            assert effect.standard_deviation[i] == pytest.approx(sample.std(), abs=1e-7)


def test_pairs_that_do_not_occur_are_gaps(grid):
    factors, codes = grid
    keep = ~((factors[:, 1] == 2) & (factors[:, 0] == 1))
    effects = interventional_effects_data(factors[keep], codes[keep])
    curves = effects.curves[1, 0]
    assert effects.parents.tolist()[1] == 1
    assert np.argwhere(np.isnan(curves)).tolist() == [[2, 1]]
    assert effects.to_dict()["latents"]["z1"]["curves"]["g0"][2][1] is None
    json.dumps(effects.to_dict(), allow_nan=False)
    (figure,) = draw_interventional_effects(effects)
    assert any("Gaps: pairs that do not occur" in text.get_text() for text in figure.texts)


def test_confounded_effects_are_adjusted():
    rng = np.random.RandomState(0)
    confounder = rng.randint(2, size=20_000)
    flip = rng.rand(2, 20_000) < 0.2
    factors = np.column_stack([confounder ^ flip[0], confounder ^ flip[1]]).astype(int)
    codes = (factors[:, 0] + 0.9 * factors[:, 1])[:, None]
    plain = interventional_effects_data(factors, codes).parent_effects[0].mean
    adjusted = interventional_effects_data(factors, codes, adjustment="confounder", confounder=confounder)
    truth = np.array([0.0, 1.0]) + 0.9 * factors[:, 1].mean()
    assert adjusted.parents.tolist() == [0]
    np.testing.assert_allclose(adjusted.parent_effects[0].mean, truth, atol=0.02)
    assert np.abs(plain - truth).max() > 0.1


def test_grid_of_panels_shows_the_numbers(grid):
    factors, codes = grid
    effects = interventional_effects_data(factors, codes, factor_names=NAMES)
    (figure,) = draw_interventional_effects(effects)
    figure.draw_without_rendering()
    panels, colour_bar = figure.axes[:9], figure.axes[9:]
    assert len(colour_bar) == 1
    assert [axes.get_ylabel() for axes in panels[::3]] == ["z0", "z1", "z3"]
    assert [axes.get_xlabel() for axes in panels[6:]] == NAMES
    for row, (latent, parent) in enumerate(zip(effects.latents, effects.parents, strict=True)):
        for factor in range(3):
            axes = panels[3 * row + factor]
            title = axes.get_title() + axes.get_title(loc="right")
            if factor == parent:
                assert title == f"{NAMES[parent]}, IRS {effects.scores[row]:.2f}"
                mean, median = (line.get_ydata() for line in axes.lines)
                np.testing.assert_array_equal(mean, effects.parent_effects[latent].mean)
                np.testing.assert_array_equal(median, effects.parent_effects[latent].median)
            else:
                assert title == ""
                (lines,) = (artist for artist in axes.collections if isinstance(artist, LineCollection))
                assert len(lines.get_segments()) == len(effects.factor_values[parent])
                drawn = np.array([segment[:, 1] for segment in lines.get_segments()])
                np.testing.assert_array_equal(drawn, effects.curves[latent, factor])
                assert len({tuple(colour) for colour in lines.get_colors()}) == len(drawn)
    assert any("z2" in text.get_text() and "inactive" in text.get_text() for text in figure.texts)


def test_a_cyclic_parent_has_cyclic_colours_and_a_bar_of_its_own(grid):
    factors, codes = grid
    (figure,) = interventional_effects(factors, codes, factor_names=NAMES, cyclic_factors=["angle"])
    assert len(figure.axes) == 9 + 2
    (lines,) = (artist for artist in figure.axes[0].collections if isinstance(artist, LineCollection))
    first, *_, last = lines.get_colors()
    (plain,) = interventional_effects(factors, codes)
    (straight,) = (artist for artist in plain.axes[0].collections if isinstance(artist, LineCollection))
    assert np.abs(first - last).max() < np.abs(straight.get_colors()[0] - straight.get_colors()[-1]).max()


def test_draws_on_axes_of_the_caller(grid):
    factors, codes = grid
    figure = Figure()
    axes = figure.subplots()
    draw_effect(axes, interventional_effects_data(factors, codes), latent=0, factor=0)
    assert len(axes.collections[0].get_segments()) == 5
    assert axes.get_xlabel() == "g0"
    with pytest.raises(ValueError, match=r"latent must be active, one of \[0, 1, 3\]; got 2"):
        draw_effect(axes, interventional_effects_data(factors, codes), latent=2, factor=0)


def test_one_latent(grid):
    factors, codes = grid
    (figure,) = interventional_effects(factors, codes[:, :1])
    assert len(figure.axes) == 3 + 1


def test_one_factor():
    factors = np.repeat(np.arange(4), 3)[:, None]
    codes = factors + 0.1 * np.arange(12)[:, None] % 0.3
    with pytest.raises(ValueError, match="no factor can be scored"):
        interventional_effects(factors, codes)
    (figure,) = interventional_effects(factors, codes, disentanglement_score(factors, codes, replicates="separate"))
    (axes,) = figure.axes
    assert axes.get_title().startswith("g0, IRS")


def test_collapsed_model_says_so(grid):
    factors, codes = grid
    (figure,) = interventional_effects(factors, np.ones_like(codes))
    assert figure.axes == []
    assert "No interventional effects to draw" in figure.texts[0].get_text()


def test_two_hundred_latents_fill_pages(grid):
    factors, _ = grid
    many = np.random.RandomState(0).normal(size=(len(factors), 200))
    figures = interventional_effects(factors[:, :2], many, latents_per_page=20)
    assert len(figures) == 10
    assert figures[-1].axes[0].get_ylabel() == "z180"
    assert any("Page 10 of 10" in text.get_text() for text in figures[-1].texts)


def test_factors_that_are_words(grid):
    factors, codes = grid
    words = np.array(["ball", "cube", "cone", "disc", "ring"])[factors]
    (figure,) = interventional_effects(words, codes, size="one_column")
    figure.draw_without_rendering()
    labels = [label.get_text() for label in figure.axes[6].get_xticklabels()]
    assert labels == ["ball", "cone", "cube"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor_names": ["a", "b"]}, "factor_names must be 3 different names"),
        ({"cyclic_factors": ["colour"]}, "cyclic_factors holds 'colour'"),
        ({"cyclic_factors": [3]}, "cyclic_factors holds 3, out of range"),
        ({"size": "poster"}, "size must be one of"),
        ({"latents_per_page": 0}, "latents_per_page must be a whole number from 1; got 0"),
    ],
)
def test_bad_options(grid, options, message):
    with pytest.raises(ValueError, match=message):
        interventional_effects(*grid, **options)


def test_score_of_other_arrays_is_refused(grid):
    factors, codes = grid
    with pytest.raises(ValueError, match=r"IRS matrix of shape \(2, 3\)"):
        interventional_effects_data(factors, codes, disentanglement_score(factors, codes[:, :2]))
