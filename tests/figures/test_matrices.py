import numpy as np
import pytest
from matplotlib.figure import Figure

from irs_plugin import disentanglement_score
from irs_plugin.figures import ImportanceMatrix, draw_matrix, importance_matrices
from irs_plugin.importance.forests import feature_importance
from irs_plugin.importance.information import mutual_information


def _text(entry):
    text = f"{entry:.2f}".replace("-", "−")
    return "0.00" if text == "−0.00" else text


def _results(factors, codes):
    return [
        disentanglement_score(factors, codes),
        feature_importance(factors, codes, min_samples_leaf=5, n_jobs=1),
        mutual_information(factors, codes),
    ]


@pytest.mark.parametrize("size", ["one_column", "two_columns"])
def test_three_matrices_and_informativeness(grid, size):
    results = _results(*grid)
    (figure,) = importance_matrices(results, factor_names=["shape", "size", "angle"], size=size)
    figure.draw_without_rendering()
    *panels, bars = figure.axes
    assert [axes.get_title().split(",")[0] for axes in panels] == ["IRS", "FI", "MI (nats)"]
    matrices = [results[0].irs_matrix, results[1].matrix, results[2].matrix]
    scores = [results[0].disentanglement_scores, results[1].scores, results[2].scores]
    for axes, matrix, score in zip(panels, matrices, scores, strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), matrix[[0, 1, 3]])
        labels = [label.get_text() for label in axes.get_yticklabels()]
        assert labels == [f"z{latent}  {_text(score[latent])}" for latent in (0, 1, 3)]
        assert [label.get_text() for label in axes.get_xticklabels()] == ["shape", "size", "angle"]
        assert [text.get_text() for text in axes.texts] == [_text(entry) for entry in matrix[[0, 1, 3]].ravel()]
    heights = [bar.get_height() for bar in bars.patches]
    np.testing.assert_allclose(heights, np.nan_to_num(results[1].informativeness))
    assert "z2" in figure.texts[-1].get_text()


def test_negative_entries_and_missing_scores_are_shown():
    panel = ImportanceMatrix("mine", np.array([[-0.5, 0.2], [np.nan, np.nan]]), np.array([np.nan, np.nan]))
    figure = Figure()
    axes = figure.subplots()
    draw_matrix(axes, panel)
    assert axes.images[0].get_clim() == (-0.5, 0.2)
    assert [text.get_text() for text in axes.texts] == ["−0.50", "0.20"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["z0  –", "z1  –"]


def test_all_inactive_and_pages(grid):
    factors, codes = grid
    (figure,) = importance_matrices([disentanglement_score(factors, np.ones_like(codes))])
    assert "all 4 latents are inactive" in figure.texts[0].get_text()
    many = np.random.RandomState(0).normal(size=(len(factors), 200))
    pages = importance_matrices([disentanglement_score(factors, many)], latents_per_page=50)
    assert len(pages) == 4
    assert pages[3].axes[0].get_yticklabels()[-1].get_text().startswith("z199")


def test_matrices_of_different_models_are_refused():
    one = ImportanceMatrix("a", np.zeros((2, 3)), np.zeros(2))
    two = ImportanceMatrix("b", np.zeros((3, 3)), np.zeros(3))
    with pytest.raises(ValueError, match=r"one shape; got \[\(2, 3\), \(3, 3\)\]"):
        importance_matrices([one, two])
    with pytest.raises(ValueError, match="informativeness must be"):
        importance_matrices([one], informativeness=np.zeros(2))
    with pytest.raises(ValueError, match="'c' needs a matrix"):
        ImportanceMatrix("c", np.zeros((2, 3)), np.zeros(3))
