"""Put a finished study into docs/study: page, figures, scores, and the tables of docs/study/README.md.

irs_plugin sweep --study irs_study_small --output FOLDER --no_visualizations
python docs/study.py FOLDER
"""

from __future__ import annotations

import argparse
import json
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


def latent_table(folder: Path) -> str:
    """Latents that the mutual information metric takes for modular and that interventions move: the widest gaps."""
    latents = []
    for path in sorted(folder.glob("*/metrics/mean")):
        irs, mi, fi = (
            json.loads((path / metric / "results/json/evaluation_results.json").read_text(encoding="utf-8"))
            for metric in ("irs_chance", "mutual_information", "feature_importance")
        )
        rows = zip(irs["disentanglement_scores"], mi["scores"], fi["scores"], irs["parent_names"], strict=True)
        latents += [(path.parents[1].name, number, *row) for number, row in enumerate(rows) if None not in row]
    scores = pd.DataFrame(latents, columns=["model", "latent", "IRS", "MI", "FI", "parent"])
    correlation = scores[["IRS", "MI", "FI"]].corr(method="spearman")["IRS"]
    widest = scores.assign(gap=scores.MI - scores.IRS).nlargest(5, "gap")
    rows = [["model", "latent", "parent", "IRS", "MI", "FI"], ["---:", "---:", "---", "---:", "---:", "---:"]]
    for row in widest.itertuples():
        rows.append([row.model, str(row.latent), row.parent, f"{row.IRS:.2f}", f"{row.MI:.2f}", f"{row.FI:.2f}"])
    modular = scores[scores.MI >= 0.9]
    return (
        f"Of {len(scores)} active latents {len(modular)} have an MI score of at least 0.9; their IRS goes from "
        f"{modular.IRS.min():.2f} to {modular.IRS.max():.2f}. Over all latents Spearman's ρ of IRS is "
        f"{correlation['MI']:.2f} with the MI score and {correlation['FI']:.2f} with the FI score. The widest gaps:\n\n"
        f"{markdown(rows)}"
    )


def markdown(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder of the sweep")
    folder = parser.parse_args().folder
    collection = collect(folder, progress=True)
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
        "latents": latent_table(folder),
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
