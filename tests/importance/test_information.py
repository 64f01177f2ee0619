from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from irs_plugin import disentanglement_score, mutual_information


def full_grid(*sizes: int) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, sizes))))


def buckets(values: np.ndarray, num_bins: int) -> list[int]:
    """Equal-width buckets one value at a time; the maximum belongs to the last."""
    edges = np.linspace(values.min(), values.max(), num_bins + 1)
    return [min(sum(value >= edge for edge in edges) - 1, num_bins - 1) for value in values]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 25), st.integers(5, 120))
def test_matrix_is_that_of_scikit_learn_on_the_same_buckets(seed, num_bins, num_samples):
    random_state = np.random.RandomState(seed)
    g = random_state.randint(5, size=(num_samples, 3)) * np.array([1, -7, 100])
    z = g[:, :2] * random_state.rand(2) + random_state.standard_t(2, size=(num_samples, 2))
    found = mutual_information(g, z, num_bins=num_bins)
    for latent, factor in itertools.product(range(2), range(3)):
        expected = mutual_info_score(g[:, factor], buckets(z[:, latent], num_bins))
        if len(set(g[:, factor])) > 1:
            assert found.matrix[latent, factor] == pytest.approx(expected, abs=1e-10)


def test_a_perfect_code_carries_the_entropy_of_its_factor():
    g = full_grid(3, 6, 10)
    found = mutual_information(g, g * 2.5)
    assert found.matrix == pytest.approx(np.diag(np.log([3, 6, 10])), abs=1e-10)
    assert found.scores == pytest.approx(np.ones(3)) and found.average == pytest.approx(1.0)
    assert found.informativeness == pytest.approx(np.ones(3)) and found.parents.tolist() == [0, 1, 2]
    assert found.diagnostics["entropies"] == pytest.approx(np.log([3, 6, 10]))


def test_modularity_by_hand():
    """One latent that tells two of three binary factors: m = (1 bit, 1 bit, 0) penalised by 1/(K − 1)."""
    g = full_grid(2, 2, 2)
    z = np.column_stack([g[:, 0] + 2 * g[:, 1], g[:, 2]])
    found = mutual_information(g, z)
    assert found.matrix == pytest.approx(np.log(2) * np.array([[1, 1, 0], [0, 0, 1]]), abs=1e-12)
    assert found.scores == pytest.approx([0.5, 1.0]) and found.average == pytest.approx(0.75)
    assert found.weights.tolist() == [0.5, 0.5]


def test_scores_follow_from_the_matrix():
    random_state = np.random.RandomState(0)
    g = random_state.randint(4, size=(500, 3))
    found = mutual_information(g, g @ random_state.rand(3, 4) + random_state.randn(500, 4))
    expected = []
    for row in found.matrix.tolist():
        best = row.index(max(row))
        others = sum(value**2 for j, value in enumerate(row) if j != best)
        expected.append(1 - others / (row[best] ** 2 * 2))
    assert found.scores == pytest.approx(expected, abs=1e-12)
    assert found.average == pytest.approx(sum(expected) / 4, abs=1e-12)


def test_a_rare_event_hardly_moves_information_but_costs_robustness():
    """The paper's argument for a second look: z jumps for one of many values of g_2."""
    g = full_grid(5, 200)
    calm, jumpy = g[:, :1] * 1.0, (g[:, 0] + 4.0 * (g[:, 1] == 0))[:, None]
    informed = [mutual_information(g, z).matrix[0, 0] for z in (calm, jumpy)]
    robust = [disentanglement_score(g, z).irs_matrix[0, 0] for z in (calm, jumpy)]
    assert informed[1] > 0.98 * informed[0]
    assert robust[0] == pytest.approx(1.0) and robust[1] < 0.4


def test_degenerate_latents_and_factors_are_marked():
    g = np.column_stack([full_grid(2, 3), np.full(6, 4)])
    z = np.column_stack([g[:, 0], np.full(6, 0.1), g[:, 1]]).astype(np.float32)
    found = mutual_information(g, z)
    assert found.active.tolist() == [True, False, True] and found.parents.tolist() == [0, -1, 1]
    assert found.scored_factors == (0, 1) and found.scores[[0, 2]] == pytest.approx([1.0, 1.0])
    assert np.isnan(found.matrix[1]).all() and np.isnan(found.matrix[:, 2]).all()
    assert "factors [2]: one value only" in found.notes[0]
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["informativeness"] == [pytest.approx(1.0), pytest.approx(1.0), None]
    assert values["parents"] == [0, None, 1] and values["scores"][1] is None


def test_a_latent_without_information_has_no_score():
    """Independent on a full grid: the estimate is an exact zero but for rounding."""
    g = full_grid(4, 3, 7)
    found = mutual_information(g[:, :2], np.column_stack([g[:, 0], g[:, 2]]))
    assert found.matrix[1] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert np.isnan(found.scores[1]) and found.parents[1] == -1 and found.average == pytest.approx(1.0)
    assert "latents [1] carry no information about any factor, so no score" in found.notes


@pytest.mark.parametrize(
    ("g", "z", "reason"),
    [
        (full_grid(3, 3), np.full((9, 2), 0.3), "collapsed"),
        (full_grid(5), full_grid(5) * 1.0, "1 could be scored"),
        (np.zeros((5, 2), int), full_grid(5) * 1.0, "0 could be scored"),
        (full_grid(2, 2, 2)[:, :2], full_grid(2, 2, 2)[:, 2:] * 1.0, "no latent says anything"),
    ],
)
def test_undefined_averages(g, z, reason):
    found = mutual_information(g, z)
    assert reason in found.reason and np.isnan(found.average)
    assert np.isnan(found.scores).all() and (found.parents == -1).all() and not found.weights.any()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["average"] is None


def test_names_of_values_and_scale_of_latents_do_not_matter():
    random_state = np.random.RandomState(0)
    g = random_state.randint(3, size=(200, 2))
    z = g + random_state.randn(200, 2)
    found = mutual_information(g, z)
    renamed = mutual_information(np.array(["b", "c", "a"])[g], z)
    assert renamed.matrix == pytest.approx(found.matrix, abs=1e-12)
    # A power of two moves no sample over the edge of a bucket.
    assert mutual_information(g, 8 * z).matrix == pytest.approx(found.matrix, abs=1e-12)


@pytest.mark.parametrize("num_bins", [1, 2.0, True, "20"])
def test_bad_number_of_buckets(num_bins):
    with pytest.raises(ValueError, match="num_bins must be an integer of at least 2"):
        mutual_information(full_grid(2, 2), full_grid(2, 2), num_bins=num_bins)


def test_bad_arrays():
    with pytest.raises(ValueError, match="gen_factors has 3 samples and latents has 4"):
        mutual_information(full_grid(2, 2)[:3], full_grid(2, 2))
