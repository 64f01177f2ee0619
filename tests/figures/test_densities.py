import json

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from scipy.stats import gaussian_kde

from irs_plugin.figures import conditional_densities, conditional_densities_data


def test_densities_are_those_of_scipy():
    rng = np.random.RandomState(0)
    factors = rng.randint(3, size=(3000, 2))
    codes = (rng.normal(size=3000) * (1 + factors[:, 0]) + factors[:, 1])[:, None]
    densities = conditional_densities_data(factors, codes)
    points = densities.points[0]
    for factor in range(2):
        for i, value in enumerate(densities.factor_values[factor]):
            sample = codes[factors[:, factor] == value, 0]
            expected = gaussian_kde(sample)(points)
            np.testing.assert_allclose(densities.densities[0, factor][i], expected, atol=0.01 * expected.max())
            assert densities.medians[0, factor][i] == pytest.approx(np.median(sample))


def test_densities_integrate_to_one_and_constants_are_spikes(grid):
    factors, codes = grid
    densities = conditional_densities_data(factors, codes)
    points = densities.points[0]
    spikes = densities.densities[0, 2]
    np.testing.assert_allclose(spikes.sum(axis=1) * (points[1] - points[0]), 1.0, atol=1e-3)
    np.testing.assert_allclose(points[spikes.argmax(axis=1)], np.arange(5), atol=points[1] - points[0])
    json.dumps(densities.to_dict(), allow_nan=False)


def test_a_violin_per_realisation(grid):
    (figure,) = conditional_densities(*grid, factor_names=["shape", "size", "angle"])
    figure.draw_without_rendering()
    assert len(figure.axes) == 3 * 3
    for axes, num_values in zip(figure.axes, [3, 4, 5] * 3, strict=True):
        (violins,) = (artist for artist in axes.collections if isinstance(artist, PolyCollection))
        assert len(violins.get_paths()) == num_values
    assert [axes.get_xlabel() for axes in figure.axes[6:]] == ["shape", "size", "angle"]
    assert [axes.get_ylabel() for axes in figure.axes[::3]] == ["z0", "z1", "z3"]
    assert "z2" in figure.texts[0].get_text()


def test_collapsed_and_pages(grid):
    factors, codes = grid
    (figure,) = conditional_densities(factors, np.ones_like(codes))
    assert "No conditional densities to draw" in figure.texts[0].get_text()
    assert len(conditional_densities(factors, codes, latents_per_page=2)) == 2
