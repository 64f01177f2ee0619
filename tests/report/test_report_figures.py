import re
import warnings

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from report.conftest import HOSTILE

from irs_plugin.figures.saving import save_figure
from irs_plugin.report import figures
from irs_plugin.report.comparison import compare, correlations


@pytest.fixture
def drawn(report):
    return {kind: drawn.figure for kind, drawn in report.parts[0].drawn.items()}


@pytest.fixture
def comparison(report):
    return report.parts[0].comparison


def title(axes):
    return axes.get_title().split("\n")[0].removesuffix(" ↑").removesuffix(" ↓")


def points(axes):
    """(x, y) of everything drawn with markers."""
    marked = [line for line in axes.lines if line.get_marker() not in ("None", None, "")]
    return np.hstack([line.get_data() for line in marked]) if marked else np.empty((2, 0))


def test_distributions_show_every_usable_score_and_no_density_of_two_models(drawn, comparison):
    panels = drawn["distributions"].axes
    assert [title(axes) for axes in panels] == [measure.label for measure in comparison.headlines]
    for axes, measure in zip(panels, comparison.headlines, strict=True):
        x, y = points(axes)
        expected = [
            (score, row)
            for row, method in enumerate(comparison.methods)
            for score in comparison.of_method(method)[measure.label].dropna()
        ]
        assert x == pytest.approx([score for score, _ in expected])
        assert np.abs(y - [row for _, row in expected]).max() < 0.2
        assert not [drawn for drawn in axes.collections if isinstance(drawn, PolyCollection)]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == comparison.methods
    arrows = {title(axes): axes.get_title()[-1] for axes in panels}
    assert arrows["MIG"] == "↑"
    assert arrows["Total correlation"] == "↓"


def test_densities_appear_from_five_models_on(hostile_report):
    part = next(p for p in hostile_report.parts if p.comparison.name == "dsprites_full, mean")
    assert part.ranking.totals.tolist() == [6] * 4
    for axes in part.drawn["distributions"].figure.axes:
        assert len([c for c in axes.collections if isinstance(c, PolyCollection)]) == 4


def test_five_equal_scores_have_no_density(report, collection):
    scores = collection.scores[collection.scores.metric == "MIG"].assign(score=0.5, method="one")
    (flat,) = compare(scores, collection.metrics)
    figure = figures.score_distributions(flat, figures.palette(["one"]))
    assert not [c for c in figure.axes[0].collections if isinstance(c, PolyCollection)]


def test_chance_is_where_it_was_estimated(drawn, comparison):
    for axes in drawn["distributions"].axes:
        dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert len(dashed) == (title(axes) == "IRS (irs_chance)")
    for axes in drawn["robustness"].axes:
        (line,) = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert line.get_xdata()[0] == pytest.approx(comparison.robustness.chance[0])


def test_hyperparameters_show_scores_and_their_mean_over_seeds(hostile_report):
    part = next(p for p in hostile_report.parts if p.comparison.name == "dsprites_full, mean")
    figure, comparison = part.drawn["hyperparameters"].figure, part.comparison
    assert len(figure.axes) == 4 * len(comparison.headlines)
    for place, axes in enumerate(figure.axes):
        label, method = comparison.headlines[place // 4].label, comparison.methods[place % 4]
        scores, values = comparison.of_method(method)[label].dropna(), comparison.models.value
        x, y = points(axes)
        assert sorted(zip(x, y, strict=True)) == sorted(zip(values[scores.index], scores, strict=True))
        (line,) = [line for line in axes.lines if line.get_linestyle() == "-"]
        means = [scores[values[scores.index] == value].mean() for value in (1.0, 4.0)]
        assert line.get_ydata() == pytest.approx(means)


def test_without_hyperparameters_the_figure_says_so(collection):
    (plain,) = compare(collection.scores.assign(value=np.nan), collection.metrics)
    figure = figures.scores_by_hyperparameter(plain, figures.palette(plain.methods))
    assert "hyperparameter" in figure.texts[0].get_text()
    assert figure.axes == []


def test_correlations_are_drawn_as_computed_with_numbers_of_models(drawn, comparison):
    axes = drawn["correlations"].axes[0]
    rho, common = correlations(comparison)
    assert axes.images[0].get_array().filled(np.nan) == pytest.approx(rho.to_numpy(), nan_ok=True)
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    names = [label.get_text()[:-2] for label in axes.get_yticklabels()]
    row, column = names.index("DCI"), names.index("MIG")
    assert texts[column, row - 0.12] == f"{rho.loc['DCI', 'MIG']:.2f}"
    assert texts[column, row + 0.27] == "n=10"
    assert common.loc["DCI", "MIG"] == 10


def test_undefined_correlations_are_dashes(collection):
    scores = collection.scores[collection.scores.metric.isin(["MIG", "SAP"])]
    flat = scores.assign(score=scores.score.where(scores.metric != "SAP", 0.3))
    figure = figures.rank_correlations(compare(flat, collection.metrics)[0])
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert shown[::2] == ["1.00", "–", "–", "–"]


def test_robustness_against_every_other_metric(drawn, comparison):
    others = [m.label for m in comparison.headlines if m.label != "IRS (irs_chance)"]
    rho, common = correlations(comparison)
    assert [title(axes) for axes in drawn["robustness"].axes] == others
    for axes, label in zip(drawn["robustness"].axes, others, strict=True):
        pairs = comparison.usable[["IRS (irs_chance)", label]].dropna().to_numpy()
        assert sorted(map(tuple, points(axes).T)) == sorted(map(tuple, pairs))
        expected = f"ρ = {rho.loc['IRS (irs_chance)', label]:.2f}, n = {common.loc['IRS (irs_chance)', label]}"
        assert axes.get_title().split("\n")[1] == expected.replace("-", "−")
    (legend,) = drawn["robustness"].legends
    assert [text.get_text() for text in legend.get_texts()] == comparison.methods


def test_methods_have_looks_of_their_own():
    assert len(set(figures.palette([str(number) for number in range(77)]).values())) == 77


@pytest.mark.parametrize("name", [*HOSTILE, "a\nb\x00c", r"\$x$", "$$", r"\frac{", "x" * 300])
def test_any_name_is_drawn_as_it_is(name, tmp_path):
    shown = figures.fit(name)
    assert len(shown.replace(r"\$", "$")) <= 24
    figure = figures.style.message_figure(shown, "one_column")
    with warnings.catch_warnings():
        warnings.filterwarnings("error")
        warnings.filterwarnings("ignore", r"Glyph \d+")
        save_figure(figure, tmp_path / "name.png")
        svg = save_figure(figure, tmp_path / "name.svg").read_text(encoding="utf-8")
    words = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
    for escaped, sign in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        words = words.replace(escaped, sign)
    assert words.replace(" ", "") == shown.replace(r"\$", "$").replace(" ", "")


def test_names_of_files_are_in_the_figures_as_text(hostile_report):
    svg = hostile_report.parts[1].drawn["robustness"].svg.read_text(encoding="utf-8")
    for shown in (r"$\alpha_{$", "&lt;script&gt;aler…1)&lt;/script&gt;", "a &amp; b &lt; c"):
        assert shown in svg
    assert "<script>" not in svg


def test_pyplot_and_settings_are_left_alone(comparison):
    import matplotlib
    import matplotlib.pyplot as plt

    before = dict(matplotlib.rcParams), plt.get_fignums()
    figures.score_distributions(comparison, figures.palette(comparison.methods))
    figures.rank_correlations(comparison)
    assert (dict(matplotlib.rcParams), plt.get_fignums()) == before
