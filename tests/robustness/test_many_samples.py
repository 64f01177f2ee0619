"""The paths that only large arrays take: threads, hashing, joint tables of factors, pilot thresholds of quantiles."""

import numpy as np
import pytest

import irs_plugin
from irs_plugin.robustness import cells
from irs_plugin.robustness.quantiles import Partition, deviation_quantiles, grouped_quantile

SIZES = (3, 6, 10, 32, 32)


@pytest.fixture(scope="module")
def grid():
    """Every combination once, with codes that depend on factors, on noise, and heavily on a few outliers."""
    rng = np.random.default_rng(0)
    gen_factors = np.array(np.unravel_index(np.arange(np.prod(SIZES)), SIZES)).T
    latents = rng.standard_t(2, size=(len(gen_factors), 4)) + gen_factors[:, [0, 2, 3, 4]]
    return gen_factors, latents


def slow_matrix(gen_factors, latents, quantile, weights):
    """The IRS matrix by masks over all samples, one per realisation."""
    normalizer = np.abs(latents - latents.mean(axis=0)).max(axis=0)
    matrix = np.empty((latents.shape[1], gen_factors.shape[1]))
    for i in range(gen_factors.shape[1]):
        total = 0.0
        values, counts = np.unique(gen_factors[:, i], return_counts=True)
        for value, count in zip(values, counts, strict=True):
            inside = latents[gen_factors[:, i] == value]
            share = count / len(latents) if weights == "observed" else 1.0 / len(values)
            total += share * np.quantile(np.abs(inside - inside.mean(axis=0)), quantile, axis=0)
        matrix[:, i] = 1.0 - total / normalizer
    return matrix


@pytest.mark.parametrize("weights", ["observed", "uniform"])
@pytest.mark.parametrize("quantile", [0.0, 0.5, 0.9, 0.99, 0.999, 1.0])
@pytest.mark.parametrize("design", ["grid", "random"])
def test_equals_masks(grid, design, quantile, weights):
    gen_factors, latents = grid
    if design == "random":
        rows = np.random.default_rng(1).choice(len(latents), 120_000, replace=False)
        gen_factors, latents = gen_factors[rows], latents[rows]
    found = irs_plugin.disentanglement_score(gen_factors, latents, diff_quantile=quantile, factor_weights=weights)
    np.testing.assert_allclose(
        found.irs_matrix, slow_matrix(gen_factors, latents, quantile, weights), rtol=0, atol=1e-11
    )


def test_a_pilot_that_misleads_costs_time_only():
    """Cells whose large deviations the pilot draw is unlikely to see, and many ties."""
    rng = np.random.default_rng(2)
    ids = np.sort(rng.integers(0, 3, 200_000)).astype(np.int32)
    points = np.round(rng.normal(size=(len(ids), 3)), 1)
    points[:, 1] = 0.0
    points[ids == 1, 2] = rng.permutation(np.r_[np.full(30, 1e6), np.zeros((ids == 1).sum() - 30)])
    counts, centres = np.bincount(ids), np.zeros((3, 3))
    for quantile in (0.9, 0.99, 0.9999, 1.0):
        (found,) = deviation_quantiles(points, [Partition(ids, counts, centres)], quantile)
        expected = [np.quantile(np.abs(points[ids == cell]), quantile, axis=0) for cell in range(3)]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("quantile", [0.0, 0.31, 0.5, 0.97, 1.0])
def test_the_deciding_value_is_the_smallest_that_reaches_the_quantile(quantile):
    rng = np.random.default_rng(3)
    values, ids = rng.exponential(size=500), rng.integers(0, 7, 500)
    found, deciding = grouped_quantile(values, ids, 7, quantile)
    for cell in range(7):
        own = np.sort(values[ids == cell])
        assert found[cell] == pytest.approx(np.quantile(own, quantile), abs=1e-12)
        assert ids[deciding[cell]] == cell
        assert values[deciding[cell]] == own[own >= found[cell] * (1 - 1e-12)][0]


@pytest.mark.parametrize(
    "relabel",
    [
        pytest.param(lambda g: g.astype(np.int8), id="int8"),
        pytest.param(lambda g: g * 1_000_003 - 5, id="gaps"),
        pytest.param(lambda g: g.astype(np.int64) * (2**62 // 40), id="span too wide for a table"),
        pytest.param(lambda g: g.astype(np.uint64) + np.uint64(2**63), id="beyond int64"),
        pytest.param(lambda g: g.astype(float) / 7, id="floats"),
        pytest.param(lambda g: np.char.add("v", np.char.zfill(g.astype(str), 3)), id="strings"),
        pytest.param(np.asfortranarray, id="Fortran order"),
        pytest.param(lambda g: np.ascontiguousarray(g[:, ::-1])[:, ::-1], id="negative strides"),
    ],
)
def test_any_labels_of_the_factors_give_the_same_score(grid, relabel):
    rows = np.random.default_rng(4).choice(len(grid[0]), 20_000, replace=False)
    gen_factors, latents = grid[0][rows], grid[1][rows]
    expected = irs_plugin.disentanglement_score(gen_factors, latents)
    found = irs_plugin.disentanglement_score(relabel(gen_factors), latents)
    np.testing.assert_array_equal(found.irs_matrix, expected.irs_matrix)


def test_a_value_that_a_few_rows_do_not_show_is_found():
    values = np.zeros((100_000, 2), dtype=np.int64)
    values[77_777] = (-3, 900)
    encoded = cells.encode_factors(values)
    assert encoded.sizes == (2, 2)
    assert encoded.codes[:, 77_777].tolist() == [0, 1] and encoded.codes[:, 0].tolist() == [1, 0]


def test_whether_samples_share_all_factors():
    grid = np.array(np.unravel_index(np.arange(24), (2, 3, 4))).T
    assert cells.repeated_cells(cells.encode_factors(grid)) is None
    assert cells.repeated_cells(cells.encode_factors(grid[::2])) is None
    assert cells.repeated_cells(cells.encode_factors(grid * 10**9)) is None
    assert cells.repeated_cells(cells.encode_factors(grid[[0, 1, 2, 1]])).num_cells == 3
    assert cells.repeated_cells(cells.encode_factors(np.vstack([grid, grid[:1]]))).num_cells == 24


@pytest.mark.parametrize("num_factors", [2, 5, 20])
def test_cells_are_the_distinct_rows(num_factors):
    """Few factors are numbered by counting, many by hashing, very many after folding."""
    values = np.random.default_rng(5).integers(0, 60, (3_000, num_factors)) // 30 * np.arange(1, 61)[:num_factors]
    values[:, 0] = np.random.default_rng(6).integers(0, 2_000, 3_000)
    found = cells.partition(cells.encode_factors(values), range(num_factors))
    rows, counts = np.unique(values, axis=0, return_counts=True)
    assert found.num_cells == len(rows)
    assert (values[found.first][found.ids] == values).all()
    assert sorted(found.counts) == sorted(counts)


def test_streamed_and_merged_equals_whole(grid):
    gen_factors, latents = grid
    for replicates in ("mean", "separate"):
        parts = [irs_plugin.DisentanglementStatistics(SIZES, 4, replicates=replicates) for _ in range(2)]
        for number, start in enumerate(range(0, len(latents), 7_001)):
            parts[number % 2].update(gen_factors[start : start + 7_001], latents[start : start + 7_001])
        merged = parts[0].merge(parts[1]).compute()
        whole = irs_plugin.disentanglement_score(gen_factors, latents, replicates=replicates)
        np.testing.assert_allclose(merged.irs_matrix, whole.irs_matrix, rtol=0, atol=1e-12)
        assert merged.avg_score == pytest.approx(whole.avg_score, abs=1e-12)
        assert merged.num_samples == whole.num_samples


def test_streamed_repeats_are_averaged_as_in_the_whole():
    rng = np.random.default_rng(7)
    gen_factors, latents = rng.integers(0, [2, 3, 4], (5_000, 3)), rng.normal(size=(5_000, 2))
    for options in ({}, {"diff_quantile": 0.8, "normalizer_quantile": 0.7}):
        statistics = irs_plugin.DisentanglementStatistics((2, 3, 5), 2, **options)
        for start in range(0, 5_000, 900):
            statistics.update(gen_factors[start : start + 900], latents[start : start + 900])
        whole = irs_plugin.disentanglement_score(gen_factors, latents, **options)
        np.testing.assert_allclose(statistics.compute().irs_matrix, whole.irs_matrix, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.update([[0, 3]], [[0.0]]), "from 0 to size − 1"),
        (lambda s: s.update([[0, -1]], [[0.0]]), "from 0 to size − 1"),
        (lambda s: s.update([[0, 0]], [[0.0, 1.0]]), "expected 2 factors and 1 latents"),
        (lambda s: s.merge(irs_plugin.DisentanglementStatistics((2, 4), 1)), "do not merge"),
        (lambda s: s.compute(), "call update first"),
        (lambda s: irs_plugin.DisentanglementStatistics((0,), 1), "positive integers"),
        (lambda s: irs_plugin.DisentanglementStatistics((10**6, 10**6), 1), "table limit"),
        (lambda s: irs_plugin.DisentanglementStatistics((2,), 1, expectation="median"), "conditional means only"),
        (
            lambda s: irs_plugin.DisentanglementStatistics((2,), 1, replicates="separate", diff_quantile=0.9),
            "do not follow from sums",
        ),
    ],
)
def test_streaming_refuses_what_it_cannot_do(call, message):
    statistics = irs_plugin.DisentanglementStatistics((2, 3), 1)
    with pytest.raises(ValueError, match=message):
        call(statistics)
