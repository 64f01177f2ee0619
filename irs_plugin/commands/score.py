"""Score arrays of generative factors and codes saved by any framework.

FACTORS holds (num_samples, num_factors), CODES (num_samples, num_latents): npz, npy, csv (with or without a line of
names) or parquet. Without groups every latent is scored against every factor (the disentanglement score);
--shifted-factors asks for robustness to a domain shift, --fixed-factors and --intervened-factors for any groups.
Factors, latents and columns are listed with commas, by name or by position from 0.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import irs_plugin
from irs_plugin import array_files
from irs_plugin.array_files import Columns
from irs_plugin.whole_files import write_json

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    "dlib": {"diff_quantile": 0.99, "factor_weights": "uniform", "discretise": "all", "bins": 20},
}
CLASSIFIERS = ("logistic_regression", "random_forest", "gradient_boosting", "naive_bayes")

# Options that are handed to the score under their own name.
_SCORE_OPTIONS = (
    "diff_quantile",
    "normalizer_quantile",
    "expectation",
    "trim",
    "replicates",
    "inactive_tolerance",
    "adjustment",
    "num_folds",
    "clip",
    "min_support",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("factors", metavar="FACTORS", help="file with the factors")
    parser.add_argument("codes", metavar="CODES", help="file with the codes (may be the same file)")
    _add_file_arguments(parser.add_argument_group("files"))
    _add_score_arguments(parser.add_argument_group("score"))
    _add_adjustment_arguments(parser.add_argument_group("confounded data"))
    _add_trust_arguments(parser.add_argument_group("how far to trust it"))


def _add_file_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--factors-key", metavar="KEY", help="array of FACTORS, if that is an npz file with several")
    group.add_argument("--codes-key", metavar="KEY", help="array of CODES, likewise")
    group.add_argument("--factor-columns", metavar="COLUMNS", help="columns of FACTORS that are factors; default: all")
    group.add_argument("--code-columns", metavar="COLUMNS", help="columns of CODES that are latents; default: all")
    group.add_argument("--factor-names", metavar="NAMES", help="what to call the factors")
    group.add_argument("--latent-names", metavar="NAMES", help="what to call the latents")
    group.add_argument("--header", action=argparse.BooleanOptionalAction, help="csv files begin with a line of names")
    group.add_argument(
        "--transpose",
        choices=("factors", "codes", "both"),
        help="arrays are laid out (dimensions, samples), as disentanglement_lib's ys and mus: both",
    )
    group.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="write JSON to FILE, or instead of the table to stdout"
    )


def _add_score_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--preset", choices=PRESETS, default="paper", help="where options not given come from")
    group.add_argument(
        "-L", "--latent-dims", metavar="LATENTS", help="score these as one group; default: each by itself"
    )
    group.add_argument("-I", "--fixed-factors", metavar="FACTORS", help="factors held fixed, possibly '' for none")
    group.add_argument("-J", "--intervened-factors", metavar="FACTORS", help="factors intervened on")
    group.add_argument("-S", "--shifted-factors", metavar="FACTORS", help="domain shift: these move, all others stay")
    group.add_argument("--distance", choices=("l2", "l1", "linf", "mahalanobis"), help="between codes of a group")
    group.add_argument("--diff-quantile", type=float, metavar="Q", help="quantile for the supremum; 1 is the paper")
    group.add_argument("--normalizer-quantile", type=float, metavar="Q", help="the same for the normaliser")
    group.add_argument("--factor-weights", choices=("observed", "uniform"), help="weight of a factor's realisations")
    group.add_argument("--replicates", choices=("mean", "separate"), help="samples that agree in all factors")
    group.add_argument("--expectation", choices=("mean", "trimmed_mean", "median"), help="estimator of E[Z]")
    group.add_argument("--trim", type=float, metavar="SHARE", help="cut off either end by the trimmed mean")
    group.add_argument(
        "--inactive-tolerance", type=float, metavar="T", help="relative spread below which a latent is off"
    )
    group.add_argument(
        "--discretise", metavar="FACTORS", help="bin these first, 'all', or 'auto' for those that are continuous"
    )
    group.add_argument("--bins", type=int, metavar="N", help="number of bins, default 20")
    group.add_argument("--bin-strategy", choices=("uniform", "quantile", "kmeans"), default="uniform")


def _add_adjustment_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--adjustment", choices=("none", "counts", "propensity", "confounder"))
    group.add_argument("--confounder", metavar="FILE", help="observed confounder, a row per sample")
    group.add_argument("--confounder-key", metavar="KEY", help="array of that file, if it is an npz file with several")
    group.add_argument("--confounder-columns", metavar="COLUMNS", help="the confounder is in these columns of FACTORS")
    group.add_argument("--classifier", choices=CLASSIFIERS, help="of scikit-learn, for propensities")
    group.add_argument("--num-folds", type=int, metavar="N", help="folds of the cross-fitting")
    group.add_argument("--clip", type=float, metavar="P", help="lower bound of propensities")
    group.add_argument("--min-support", type=float, metavar="SHARE", help="support below which a note is made")


def _add_trust_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--chance", nargs="?", const=200, type=int, metavar="B", help="chance level from B permutations (200)"
    )
    group.add_argument(
        "--repeats", nargs="?", const=10, type=int, metavar="R", help="spread over R random subsets (10)"
    )
    group.add_argument("--subsample", type=int, metavar="N", help="size of those subsets; default: half of the samples")
    group.add_argument("--seed", type=int, default=0, help="of permutations, subsets, folds and k-means")
    group.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads; -1, the default, for all cores")
    group.add_argument("--progress", action=argparse.BooleanOptionalAction, default=True, help="show progress bars")


@dataclass
class _Problem:
    """What was read and asked for, checked; `described` collects what goes into the report."""

    factors: Columns
    latents: Columns
    score: Callable[..., Any]
    kind: str
    confounder: Columns | None = None
    described: dict[str, Any] = field(default_factory=dict)

    @property
    def aligned(self) -> dict[str, np.ndarray]:
        return {} if self.confounder is None else {"confounder": self.confounder.values}


def run(args: argparse.Namespace) -> int:
    from irs_plugin.commands.score_report import as_table
    from irs_plugin.robustness.adjustment import SupportWarning

    if args.json not in (None, "-"):
        array_files.check_writable(args.json)
    with warnings.catch_warnings():
        # Each comes back as a note of the result.
        warnings.simplefilter("ignore", SupportWarning)
        report = _report(_problem(args), args)
    if args.json == "-":
        print(json.dumps(report, indent=2, allow_nan=False))
        return 0
    if args.json is not None:
        write_json(args.json, report)
    print(as_table(report))
    return 0


def _problem(args: argparse.Namespace) -> _Problem:
    _check_counts(args)
    factors, latents, confounder = _read(args)
    given = {**PRESETS[args.preset], **{name: value for name, value in vars(args).items() if value is not None}}
    described: dict[str, Any] = {}
    if "discretise" in given:
        factors, described["discretisation"] = _discretise(factors, given)
    elif "bins" in given:
        raise ValueError("--bins does nothing without --discretise.")
    score, kind = _score(given, factors, latents, confounder)
    return _Problem(factors, latents, score, kind, confounder, described)


def _check_counts(args: argparse.Namespace) -> None:
    from irs_plugin.robustness.wrapping import check_count

    if args.subsample is not None and args.repeats is None:
        raise ValueError("--subsample does nothing without --repeats.")
    for name, least in (("chance", 2), ("repeats", 2), ("subsample", 1), ("bins", 2), ("seed", 0)):
        if getattr(args, name) is not None:
            check_count(getattr(args, name), f"--{name}", least)


def _read(args: argparse.Namespace) -> tuple[Columns, Columns, Columns | None]:
    read = partial(array_files.read_columns, header=args.header)
    factors = read(
        args.factors,
        prefix="g",
        key=args.factors_key,
        key_option="--factors-key",
        transpose=args.transpose in ("factors", "both"),
    )
    latents = read(
        args.codes,
        prefix="z",
        key=args.codes_key,
        key_option="--codes-key",
        transpose=args.transpose in ("codes", "both"),
    )
    _check_layout(factors, latents)
    confounder = None
    if args.confounder is not None and args.confounder_columns is not None:
        raise ValueError("--confounder and --confounder-columns both name the confounder; give one of them.")
    if args.confounder is not None:
        confounder = read(args.confounder, prefix="c", key=args.confounder_key, key_option="--confounder-key")
        if len(confounder.values) != len(latents.values):
            raise ValueError(
                f"{args.confounder} has {len(confounder.values)} rows, but there are {len(latents.values)} samples."
            )
    elif args.confounder_columns is not None:
        confounder = factors.select(array_files.positions(args.confounder_columns, factors.names, "column"))
    if args.factor_columns is not None:
        factors = factors.select(array_files.positions(args.factor_columns, factors.names, "column"))
    elif args.confounder_columns is not None:
        factors = factors.select([k for k, name in enumerate(factors.names) if name not in confounder.names])
    if args.code_columns is not None:
        latents = latents.select(array_files.positions(args.code_columns, latents.names, "column"))
    if latents.texts:
        raise ValueError(f"codes must be numbers; column {next(iter(latents.texts))!r} of {args.codes} holds text.")
    return _renamed(factors, args.factor_names), _renamed(latents, args.latent_names), confounder


def _check_layout(factors: Columns, latents: Columns) -> None:
    shapes = f"FACTORS has shape {factors.values.shape} and CODES {latents.values.shape}"
    lying = [columns.values.shape[0] < columns.values.shape[1] for columns in (factors, latents)]
    which = {(True, True): "both", (True, False): "factors", (False, True): "codes"}.get(tuple(lying))
    if which is not None:
        raise ValueError(
            f"{shapes}; disentanglement_lib's layout (dimensions, samples) must be turned into (samples, dimensions): "
            f"add --transpose {which}."
        )
    if len(factors.values) != len(latents.values):
        raise ValueError(f"{shapes}; both need one row per sample, in the same order.")


def _renamed(columns: Columns, names: str | None) -> Columns:
    if names is None:
        return columns
    given = [name.strip() for name in names.split(",")]
    if len(given) != len(columns.names) or len(set(given)) != len(given):
        raise ValueError(
            f"{len(columns.names)} different names are needed for {', '.join(columns.names)}; got {given}."
        )
    return columns.rename(given)


def _discretise(factors: Columns, given: dict[str, Any]) -> tuple[Columns, dict[str, Any]]:
    wanted = given["discretise"]
    chosen = None if wanted == "auto" else array_files.positions(wanted, factors.names, "factor")
    binned = irs_plugin.discretise(
        factors.values,
        factors=chosen,
        num_bins=given.get("bins", 20),
        strategy=given["bin_strategy"],
        seed=given["seed"],
    )
    return Columns(binned.gen_factors, factors.names, factors.texts), binned.to_dict()


def _score(
    given: dict[str, Any], factors: Columns, latents: Columns, confounder: Columns | None
) -> tuple[Callable[..., Any], str]:
    options = {name: given[name] for name in _SCORE_OPTIONS if name in given}
    if confounder is not None:
        options.setdefault("adjustment", "confounder")
    if options.get("adjustment") in ("propensity", "confounder"):
        options["seed"] = given["seed"]
    if "classifier" in given:
        options["classifier"] = _classifier(given["classifier"], given["seed"])
    grouped = [
        name for name in ("latent_dims", "fixed_factors", "intervened_factors", "shifted_factors") if name in given
    ]
    if not grouped:
        if "distance" in given:
            raise ValueError("--distance is for groups of latents; the disentanglement score takes one at a time.")
        if "factor_weights" in given:
            options["factor_weights"] = given["factor_weights"]
        return partial(irs_plugin.disentanglement_score, **options), "disentanglement"
    if "factor_weights" in given:
        raise ValueError(
            "uniform or observed factor weights (and the preset dlib) are for the disentanglement score; leave out "
            + ", ".join(f"--{name.replace('_', '-')}" for name in grouped)
            + "."
        )
    if "distance" in given:
        options["distance"] = given["distance"]
    return _group_score(given, factors, latents, options)


def _group_score(
    given: dict[str, Any], factors: Columns, latents: Columns, options: dict[str, Any]
) -> tuple[Callable[..., Any], str]:
    def group(name: str) -> list[int]:
        return array_files.positions(given[name], factors.names, "factor")

    if "shifted_factors" in given:
        if "fixed_factors" in given or "intervened_factors" in given:
            raise ValueError(
                "--shifted-factors says which factors move; leave out --fixed-factors and --intervened-factors."
            )
        score, kind = (
            partial(irs_plugin.domain_shift_robustness, shifted_factors=group("shifted_factors")),
            "domain shift",
        )
    elif "intervened_factors" in given:
        fixed = group("fixed_factors") if "fixed_factors" in given else []
        score = partial(
            irs_plugin.interventional_robustness, fixed_factors=fixed, intervened_factors=group("intervened_factors")
        )
        kind = "interventional"
    else:
        raise ValueError("groups need --intervened-factors (with or without --fixed-factors) or --shifted-factors.")
    score = partial(score, **options)
    if "latent_dims" in given:
        dims = [array_files.positions(given["latent_dims"], latents.names, "latent")]
    else:
        dims = [[latent] for latent in range(len(latents.names))]
    return partial(_GroupScores.measure, score, dims), kind


@dataclass(frozen=True)
class _GroupScores:
    """Robustness of several groups of latents; a score that can be wrapped, as it has an `irs`."""

    results: tuple[Any, ...]

    @classmethod
    def measure(
        cls, score: Callable[..., Any], dims: list[list[int]], factors: np.ndarray, latents: np.ndarray, **aligned: Any
    ) -> _GroupScores:
        return cls(tuple(score(factors, latents, latent_dims=group, **aligned) for group in dims))

    @property
    def irs(self) -> np.ndarray:
        return np.array([result.irs for result in self.results])

    def to_dict(self) -> dict[str, Any]:
        """Without the witnesses: there is one for every realisation of the fixed factors."""
        left_out = ("witness", "pida", "realisations", "mpida", "weights", "counts", "num_interventions")
        return {
            "groups": [
                {name: value for name, value in result.to_dict().items() if name not in left_out}
                for result in self.results
            ]
        }


def _classifier(name: str, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "logistic_regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "random_forest": RandomForestClassifier(n_estimators=100, min_samples_leaf=5, random_state=seed),
        "gradient_boosting": HistGradientBoostingClassifier(random_state=seed),
        "naive_bayes": GaussianNB(),
    }[name]


def _report(problem: _Problem, args: argparse.Namespace) -> dict[str, Any]:
    arrays = (problem.factors.values, problem.latents.values)
    report = {
        "irs_plugin": irs_plugin.__version__,
        "score": problem.kind,
        "factors": args.factors,
        "codes": args.codes,
        "preset": args.preset,
        "factor_names": list(problem.factors.names),
        "latent_names": list(problem.latents.names),
        "factor_texts": problem.factors.texts,
        "confounder_names": None if problem.confounder is None else list(problem.confounder.names),
        **problem.described,
        "result": problem.score(*arrays, **problem.aligned).to_dict(),
    }
    wrapped = {
        "score": problem.score,
        "aligned": problem.aligned,
        "seed": args.seed,
        "n_jobs": args.jobs,
        "progress": args.progress,
    }
    if args.chance is not None:
        report["chance"] = irs_plugin.chance_level(*arrays, num_permutations=args.chance, **wrapped).to_dict()
    if args.repeats is not None:
        repeats = irs_plugin.subsampled_scores(
            *arrays, num_repeats=args.repeats, subsample_size=args.subsample, **wrapped
        )
        report["repeats"] = repeats.to_dict()
    return report
