"""Degenerate and bad input: a clear error, or a clearly marked result; never a plausible number."""

import json
import subprocess
import sys

import numpy as np
import pytest

import irs_plugin
from irs_plugin.robustness.adjustment import SupportWarning


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    gen_factors = rng.integers(0, [2, 3, 4], (400, 3))
    return gen_factors, gen_factors[:, :2] + 0.1 * rng.normal(size=(400, 2))


def with_entry(array, index, value):
    array = np.array(array, dtype=float)
    array[index] = value
    return array


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda g, z: (g, with_entry(z, (5, 1), np.nan)), r"latents\[5, 1\] is nan"),
        (lambda g, z: (g, with_entry(z, (5, 1), np.inf)), r"latents\[5, 1\] is inf"),
        (lambda g, z: (with_entry(g, (3, 2), np.nan), z), r"gen_factors\[3, 2\] is nan"),
        (lambda g, z: (g, z * 1e306), "too extreme for sums and squares; rescale"),
        (lambda g, z: (g[:-1], z), "399 samples and latents has 400"),
        (lambda g, z: (g.T, z.T), "3 samples and latents has 2"),
        (lambda g, z: (g, z[:, 0]), r"latents must have shape .* got an array of shape \(400,\)"),
        (lambda g, z: (g[:, 0], z), r"gen_factors must have shape"),
        (lambda g, z: (g[:0], z[:0]), "must not be empty"),
        (lambda g, z: (g, z[:, :0]), "must not be empty"),
        (lambda g, z: (g, z.astype(complex)), "real numbers"),
        (lambda g, z: (np.column_stack([g[:, 0], np.linspace(0, 1, 400)]), z), "factor 1 is continuous.*discretise"),
        (lambda g, z: (np.arange(1200).reshape(400, 3), z), "no factor can be scored"),
        (lambda g, z: (g[:1], z[:1]), "no factor can be scored"),
        (lambda g, z: (g[:, :1], z), "no factor can be scored.*replicates='separate'"),
    ],
)
def test_bad_arrays(problem, spoil, message):
    with pytest.raises(ValueError, match=message):
        irs_plugin.disentanglement_score(*spoil(*problem))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"diff_quantile": 1.1}, r"diff_quantile must be a number in \[0, 1\]; got 1.1"),
        ({"diff_quantile": -0.1}, "diff_quantile"),
        ({"diff_quantile": float("nan")}, "diff_quantile"),
        ({"diff_quantile": "high"}, "diff_quantile"),
        ({"normalizer_quantile": 99}, "normalizer_quantile"),
        ({"factor_weights": "equal"}, "must be one of 'observed', 'uniform'; got 'equal'"),
        ({"replicates": "both"}, "must be one of 'mean', 'separate'"),
        ({"expectation": "mode"}, "must be one of 'mean', 'trimmed_mean', 'median'"),
        ({"expectation": "trimmed_mean", "trim": 0.5}, "trim must be a number in"),
        ({"inactive_tolerance": -1}, "inactive_tolerance"),
    ],
)
def test_bad_options(problem, options, message):
    with pytest.raises(ValueError, match=message):
        irs_plugin.disentanglement_score(*problem, **options)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"latent_dims": []}, "latent_dims is empty"),
        ({"latent_dims": 2}, "latent_dims holds 2, out of range: indices run from 0 to 1"),
        ({"latent_dims": [0, 0]}, "names an index twice"),
        ({"latent_dims": 0.5}, "integer indices"),
        ({"latent_dims": "0"}, "integer indices"),
        ({"intervened_factors": []}, "intervened_factors is empty"),
        ({"intervened_factors": [1, 3]}, "intervened_factors holds 3, out of range"),
        ({"fixed_factors": [-1]}, "fixed_factors holds -1, out of range"),
        ({"fixed_factors": [0, 1]}, r"share \[1\]"),
        ({"distance": "cosine"}, "must be one of 'l2', 'l1', 'linf', 'mahalanobis'"),
        ({"distance": lambda a, b: np.zeros(3)}, "one finite non-negative number a pair"),
        ({"distance": lambda a, b: -np.ones(len(a))}, "one finite non-negative number a pair"),
    ],
)
def test_bad_groups(problem, groups, message):
    chosen = {"latent_dims": 0, "fixed_factors": 0, "intervened_factors": [1]} | groups
    with pytest.raises(ValueError, match=message):
        irs_plugin.interventional_robustness(*problem, **chosen)


@pytest.mark.parametrize("constant", [0.0, 0.1, 0.3, -1e6, 1e-30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_collapsed_model_scores_zero_and_says_why(problem, constant, dtype):
    """Stock disentanglement_lib scores such codes −50 or −inf where rounding leaves a trace of variance."""
    latents = np.full((400, 3), constant, dtype=dtype)
    latents[::7] = np.nextafter(latents[::7], dtype(2 * constant) if constant else dtype(0))
    found = irs_plugin.disentanglement_score(problem[0], latents)
    assert (found.avg_score, found.mean_score, found.num_active_dims) == (0.0, 0.0, 0)
    assert "collapsed" in found.reason
    assert found.parents.tolist() == [-1, -1, -1]
    assert np.isnan(found.irs_matrix).all()
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["parents"] == [None] * 3 and values["disentanglement_scores"] == [None] * 3


def test_activity_is_measured_by_the_samples_where_they_are_averaged():
    """Averages that differ by rounding beside the size of the samples behind them do not make a latent active."""
    gen_factors = np.array([[1, 1], [0, 1], [1, 1], [1, 1], [0, 0], [1, 0]])
    latents = np.array([[1.0], [3e-30], [0.0], [0.0], [0.0], [0.0]])
    found = irs_plugin.disentanglement_score(gen_factors, latents, expectation="median")
    assert found.num_active_dims == 0 and "collapsed" in found.reason
    means = np.array([[1.0], [1e-12], [-1.0], [0.0], [0.0], [0.0]])
    statistics = irs_plugin.DisentanglementStatistics((2, 2), 1)
    for rows in (slice(0, 3), slice(3, 6)):
        statistics.merge(irs_plugin.DisentanglementStatistics((2, 2), 1).update(gen_factors[rows], means[rows]))
    for result in (statistics.compute(), irs_plugin.disentanglement_score(gen_factors, means)):
        assert result.num_active_dims == 0


def test_an_inactive_latent_keeps_its_index_and_takes_no_part(problem):
    gen_factors, latents = problem
    alone = irs_plugin.disentanglement_score(gen_factors, latents)
    found = irs_plugin.disentanglement_score(gen_factors, np.insert(latents, 1, 0.1, axis=1))
    assert found.active.tolist() == [True, False, True]
    assert found.num_active_dims == 2
    np.testing.assert_array_equal(found.irs_matrix[[0, 2]], alone.irs_matrix)
    assert (found.avg_score, found.mean_score) == (alone.avg_score, alone.mean_score)
    assert found.to_dict()["irs_matrix"][1] == [None, None, None]


@pytest.mark.parametrize("factor", [1e160, 1e-160])
def test_squares_that_leave_the_range_of_floats_are_refused(problem, factor):
    with pytest.raises(ValueError, match="too extreme for sums and squares; rescale"):
        irs_plugin.interventional_robustness(
            problem[0], problem[1] * factor, latent_dims=[0, 1], fixed_factors=0, intervened_factors=1
        )


def test_a_collapsed_group_has_no_score(problem):
    found = irs_plugin.interventional_robustness(
        problem[0], np.full((400, 2), 0.1), latent_dims=[0, 1], fixed_factors=0, intervened_factors=1
    )
    assert np.isnan(found.irs) and "collapsed" in found.reason
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["irs"] is None


def test_mahalanobis_does_not_depend_on_the_units_of_the_latents(problem):
    """Nor does a latent that varies by rounding only take part."""
    groups = {"fixed_factors": 0, "intervened_factors": 1, "distance": "mahalanobis"}
    plain = irs_plugin.interventional_robustness(*problem, latent_dims=[0, 1], **groups).irs
    scaled = irs_plugin.interventional_robustness(problem[0], problem[1] * [1e-9, 1e9], latent_dims=[0, 1], **groups)
    assert scaled.irs == pytest.approx(plain, abs=1e-9)
    rounding = np.float32(0.1) * (1 + np.random.default_rng(0).choice([0, 1.2e-7], (400, 1)))
    padded = np.hstack([problem[1], rounding])
    found = irs_plugin.interventional_robustness(problem[0], padded, latent_dims=[0, 1, 2], **groups)
    assert found.irs == pytest.approx(plain, abs=1e-9)


def test_one_sample_a_realisation_is_not_a_perfect_score():
    """Pure noise, and a factor that never repeats: each realisation of it holds a single code."""
    rng = np.random.default_rng(0)
    gen_factors = np.column_stack([np.arange(200), rng.integers(0, 3, 200)])
    latents = rng.normal(size=(200, 1))
    with pytest.warns(SupportWarning, match=r"factors \[0\] cannot be scored"):
        found = irs_plugin.disentanglement_score(gen_factors, latents)
    assert np.isnan(found.irs_matrix[0, 0]) and found.parents[0] == 1
    assert found.diagnostics["unsupported_factors"] == [0]
    group = irs_plugin.interventional_robustness(
        gen_factors, latents, latent_dims=0, fixed_factors=0, intervened_factors=1
    )
    assert np.isnan(group.irs) and "unsupported" in group.reason


def test_lone_realisations_among_others_are_named():
    gen_factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]])
    with pytest.warns(SupportWarning, match=r"20\.0 % of the weight"):
        found = irs_plugin.interventional_robustness(
            gen_factors, gen_factors + 0.0, latent_dims=1, fixed_factors=0, intervened_factors=1
        )
    assert found.num_interventions.tolist() == [2, 2, 1]


def test_a_constant_factor_is_named(problem):
    gen_factors = np.column_stack([problem[0], np.full(400, 7)])
    found = irs_plugin.disentanglement_score(gen_factors, problem[1])
    assert found.diagnostics["constant_factors"] == [3]
    np.testing.assert_allclose(found.irs_matrix[:, 3], 0.0, atol=1e-12)


def test_below_zero_is_reported_as_it_is():
    """Each group gathers at one end with one code at the other, 1.8 from its mean; the overall mean is 1 from all."""
    gen_factors = np.array([[value, other] for value in range(2) for other in range(10)])
    latents = np.where(gen_factors[:, :1] == 0, 1.0, -1.0) * np.where(gen_factors[:, 1:] == 9, -1.0, 1.0)
    found = irs_plugin.disentanglement_score(gen_factors, latents)
    assert found.irs_matrix[0, 0] == pytest.approx(1.0 - 1.8)


def test_results_are_plain_json(problem):
    found = irs_plugin.disentanglement_score(*problem, diff_quantile=0.9)
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["settings"]["diff_quantile"] == 0.9
    assert values["num_samples"] == 400
    group = irs_plugin.interventional_robustness(
        *problem, latent_dims=[0, 1], fixed_factors=[], intervened_factors=[0, 2], return_pida=True
    )
    values = json.loads(json.dumps(group.to_dict(), allow_nan=False))
    assert values["witness"][0]["distance"] == pytest.approx(max(values["pida"]["distances"]))


def test_the_array_api_imports_neither_tensorflow_nor_gin_nor_dlib():
    script = """
import sys, numpy as np, irs_plugin
heavy = {"tensorflow", "gin", "disentanglement_lib", "sklearn", "matplotlib", "pandas", "keras"}
rng = np.random.default_rng(0)
g, z = rng.integers(0, 3, (60, 2)), rng.normal(size=(60, 2))
irs_plugin.disentanglement_score(g, z, diff_quantile=0.9, expectation="median")
irs_plugin.interventional_robustness(g, z, latent_dims=0, fixed_factors=0, intervened_factors=1, adjustment="counts")
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_the_package_imports_nothing_heavy():
    script = (
        "import sys, irs_plugin; print(sorted({'numpy', 'numba', 'scipy', 'tensorflow', 'gin'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
