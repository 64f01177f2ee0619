"""Put a finished study into docs/study: page, figures, scores, and the tables of docs/study/README.md.

irs_plugin sweep --study irs_study_small --output FOLDER --no_visualizations
python docs/study.py FOLDER
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import pandas as pd

from irs_plugin.report.comparison import Comparison, Ranking, compare, correlations, rank
from irs_plugin.report.page import write_report
from irs_plugin.results import collect, write

TARGET = Path(__file__).with_name("study")
# What the page may weigh in the repository; pictures that do not fit are linked to.
PAGE = 4_000_000


def ranking_table(comparison: Comparison, ranking: Ranking) -> str:
    """Means ± standard deviations and ranks of the methods, a row for each headline metric."""
    rows = [["", *ranking.methods], ["---", *("---:" for _ in ranking.methods)]]
    for label in (measure.label for measure in comparison.headlines):
        cells = []
        for method in ranking.methods:
            mean, deviation = ranking.means.loc[method, label], ranking.deviations.loc[method, label]
            place = ranking.ranks.loc[method, label]
            cell = f"{mean:.3f}" + ("" if pd.isna(deviation) else f" ± {deviation:.3f}")
            cells.append(cell + ("" if pd.isna(place) else f" ({place:g})"))
        rows.append([label, *cells])
    rows.append(["mean rank", *(f"{ranking.mean_ranks[method]:.2f}" for method in ranking.methods)])
    return markdown(rows)


def model_table(comparison: Comparison) -> str:
    """Every model's headline scores."""
    labels = [measure.label for measure in comparison.headlines]
    rows = [["model", "", *labels], ["---", "---", *("---:" for _ in labels)]]
    for name, model in comparison.models.iterrows():
        what = f"{model.method}, {model.hyperparameter} {model.value:g}, seed {model.seed}"
        rows.append([str(name), what, *(f"{comparison.scores.loc[name, label]:.3f}" for label in labels)])
    return markdown(rows)


def agreement_table(comparison: Comparison) -> str:
    """Rank correlation of robustness with every other headline metric."""
    found, common = correlations(comparison)
    ours = comparison.robustness.label
    others: pd.Series = found.loc[ours].drop(ours).sort_values(ascending=False)
    rows = [["", f"Spearman's ρ with {ours}", "models"], ["---", "---:", "---:"]]
    rows += [[label, f"{value:.2f}", str(common.loc[ours, label])] for label, value in others.items()]
    return markdown(rows)


def markdown(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder of the sweep")
    collection = collect(parser.parse_args().folder, progress=True)
    for line in collection.warnings():
        print(line, file=sys.stderr)
    write_report(collection, TARGET, page_size=PAGE)
    for path in write(collection, TARGET):
        if path.name != "scores.csv":
            path.unlink()
    (comparison,) = compare(collection.scores, collection.metrics)
    tables = {
        "ranking": ranking_table(comparison, rank(comparison)),
        "models": model_table(comparison),
        "agreement": agreement_table(comparison),
    }
    readme = TARGET / "README.md"
    text = readme.read_text(encoding="utf-8")
    for name, table in tables.items():
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end -->)"
        text, found = re.subn(pattern, lambda match, table=table: match[1] + table + match[2], text, flags=re.DOTALL)
        if not found:
            raise SystemExit(f"{readme} has no place for the table {name!r}")
    readme.write_text(text, encoding="utf-8")
    print(readme)
    return 0


if __name__ == "__main__":
    sys.exit(main())
