"""A study's output folder as a sweep leaves it, with made-up scores: for tests of what reads it."""

import json
from pathlib import Path

import numpy as np

METHODS = (
    ("vae", "@vae()", "vae.beta", (1.0, 1.0)),
    ("beta_vae", "@vae()", "vae.beta", (4.0, 16.0)),
    ("factor_vae", "@factor_vae()", "factor_vae.gamma", (10.0, 40.0)),
    ("dip_vae_i", "@dip_vae()", "dip_vae.lambda_od", (5.0, 20.0)),
    ("dip_vae_ii", "@dip_vae()", "dip_vae.lambda_od", (5.0, 20.0)),
    ("beta_tc_vae", "@beta_tc_vae()", "beta_tc_vae.beta", (4.0, 10.0)),
    ("annealed_vae", "@annealed_vae()", "annealed_vae.c_max", (5.0, 25.0)),
)
FACTORS = ("shape", "scale", "orientation", "posX", "posY")

# Evaluation -> function, and the keys of its numbers with their lowest and highest value.
EVALUATIONS = {
    "beta_vae_sklearn": ("beta_vae_sklearn", {"eval_accuracy": (0.5, 1.0)}),
    "factor_vae_metric": ("factor_vae_score", {"eval_accuracy": (0.4, 0.9)}),
    "mig": ("mig", {"discrete_mig": (0.02, 0.35)}),
    "sap_score": ("sap_score", {"SAP_score": (0.01, 0.1)}),
    "dci": (
        "dci",
        {"disentanglement": (0.05, 0.6), "completeness": (0.1, 0.6), "informativeness_test": (0.6, 0.9)},
    ),
    "modularity_explicitness": (
        "modularity_explicitness",
        {"modularity_score": (0.7, 0.95), "explicitness_score_test": (0.6, 0.9)},
    ),
    "feature_importance": ("feature_importance", {"average": (0.1, 0.7), "avg_informativeness": (0.5, 0.9)}),
    "mutual_information": ("mutual_information", {"average": (0.6, 0.95), "avg_informativeness": (0.2, 0.9)}),
    "downstream_task_logistic_regression": ("downstream_task", {"1000:mean_test_accuracy": (0.3, 0.7)}),
    "downstream_task_boosted_trees": ("downstream_task", {"100:mean_test_accuracy": (0.3, 0.8)}),
    "unsupervised": (
        "unsupervised_metrics",
        {
            "gaussian_total_correlation": (12.0, 1.0),
            "gaussian_wasserstein_correlation": (3.0, 0.1),
            "gaussian_wasserstein_correlation_norm": (0.3, 0.01),
            "mutual_info_score": (0.2, 0.02),
        },
    ),
}


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def write_study(
    root,
    *,
    methods=METHODS,
    seeds=1,
    dataset="dsprites_full",
    representations=("mean",),
    evaluations=tuple(EVALUATIONS),
    first=0,
    name="irs_study_small",
):
    """Write every result of a study, and its study.json.

    Returns:
        Names of the models.
    """
    root = Path(root)
    draw = np.random.RandomState(first)
    models = {}
    for method, function, swept, values in methods:
        for value in values:
            for seed in range(seeds):
                number = first + len(models)
                # Models that differ in nothing else are told apart by their seeds.
                seed = seed + sum(other[:2] == (method, value) for other in models.values())
                models[str(number)] = (method, value, seed)
                quality = draw.uniform()
                bindings = {
                    "dataset.name": f"'{dataset}'",
                    "model.name": repr(method),
                    "model.model": function,
                    swept: value,
                    "model.training_steps": 5000,
                    "model.random_seed": seed,
                    "model.model_num": number,
                    "encoder.encoder_fn": "@conv_encoder",
                    "encoder.num_latent": 10,
                }
                for representation in representations:
                    write_model(root, str(number), bindings, representation, quality, draw, evaluations)
    study = {
        "study": name,
        "models": {
            number: [f"dataset.name = '{dataset}'", f"model.name = {method!r}", f"model.random_seed = {seed}"]
            for number, (method, _, seed) in models.items()
        },
        "postprocess": list(representations),
        "metrics": sorted({*evaluations, "irs_chance", "irs_dlib"}),
        "versions": {"irs_plugin": "0.1.0", "tensorflow": "2.21.0", "numpy": "2.5.0"},
        "command": f"irs_plugin sweep --study {name}",
    }
    write_json(root / "study.json", study)
    return list(models)


def write_model(root, model, bindings, representation, quality, draw, evaluations):
    train = {f"train_config.{key}": str(value) for key, value in bindings.items()}
    train["train_results.uuid"] = f"{model}-training"
    write_json(root / model / "model/results/aggregate/train.json", train)
    post = {"postprocess_config.postprocess.name": f"'{representation}'"}
    write_json(root / model / f"postprocessed/{representation}/results/aggregate/postprocess.json", {**train, **post})

    def write(evaluation, function, results):
        config = {
            "dataset.name": bindings["dataset.name"],
            "evaluation.evaluation_fn": f"@{function}",
            "evaluation.name": f"'{evaluation}'",
            "evaluation.random_seed": 7,
            f"{function}.num_train": 10000,
        }
        if function == "downstream_task":
            predictor = "logistic_regression_cv" if "logistic" in evaluation else "gradient_boosting_classifier"
            config["predictor.predictor_fn"] = f"@{predictor}"
        values = {f"evaluation_config.{key}": str(value) for key, value in config.items()}
        values |= {f"evaluation_results.{key}": value for key, value in results.items()}
        values["evaluation_results.elapsed_time"] = 12.5
        folder = root / model / "metrics" / representation / evaluation / "results"
        write_json(folder / "aggregate/evaluation.json", {**train, **post, **values})
        (folder / "gin").mkdir(parents=True, exist_ok=True)
        lines = [f"{key} = {value}" for key, value in bindings.items()]
        (folder / "gin/train.gin").write_text("\n".join(["# Parameters", *lines, ""]), encoding="utf-8")

    for evaluation in evaluations:
        function, ranges = EVALUATIONS[evaluation]
        write(
            evaluation,
            function,
            {
                key: low + (high - low) * float(np.clip(quality + draw.normal(0, 0.2), 0, 1))
                for key, (low, high) in ranges.items()
            },
        )
    for evaluation, chance in (("irs_chance", 0.12), ("irs_dlib", None)):
        write(evaluation, "interventional_robustness", robustness(quality, draw, chance))


def robustness(quality, draw, chance=None):
    """Results of the interventional robustness score: ten latents, two of them inactive."""
    latents = [float(np.clip(0.3 + 0.5 * quality + draw.normal(0, 0.1), 0, 1)) for _ in range(10)]
    inactive = {3, 8}
    scores = [None if latent in inactive else score for latent, score in enumerate(latents)]
    average = float(np.mean([score for score in scores if score is not None]))
    results = {
        "IRS": average,
        "mean_score": average - 0.01,
        "disentanglement_scores": scores,
        "parents": [None if latent in inactive else latent % 5 for latent in range(10)],
        "parent_names": [None if latent in inactive else FACTORS[latent % 5] for latent in range(10)],
        "max_deviations": [0.0 if latent in inactive else 1.0 + latent / 10 for latent in range(10)],
        "active": [latent not in inactive for latent in range(10)],
        "num_active_dims": 8,
        "num_samples": 10000,
        "reason": None,
        "settings.diff_quantile": 1.0,
        "settings.factor_weights": "observed",
    }
    if chance is not None:
        level = chance + float(draw.normal(0, 0.005))
        results |= {"chance.avg_score.mean": level, "chance.avg_score.corrected": (average - level) / (1 - level)}
    return results


def result_file(root, model, evaluation, representation="mean"):
    return Path(root) / model / "metrics" / representation / evaluation / "results/aggregate/evaluation.json"


def change_results(path, **results):
    """Overwrite entries of a result file; `_` in a name stands for what a keyword cannot hold."""
    values = json.loads(path.read_text(encoding="utf-8"))
    values |= {f"evaluation_results.{key}": value for key, value in results.items()}
    write_json(path, values)


def collapse(root, model, representation="mean"):
    """Make a model one whose latents are all inactive."""
    for evaluation in ("irs_chance", "irs_dlib"):
        change_results(
            result_file(root, model, evaluation, representation),
            IRS=0.0,
            mean_score=0.0,
            num_active_dims=0,
            active=[False] * 10,
            disentanglement_scores=[None] * 10,
            parents=[None] * 10,
            parent_names=[None] * 10,
            max_deviations=[0.0] * 10,
            reason="no latent is active",
        )


def fail(root, model, step, error="ValueError: out of luck", traceback="Traceback (most recent call last):\n  boom\n"):
    """Record that a step failed, and take its result away."""
    record = {"step": step, "error": error, "traceback": traceback, "time": "2026-11-30T12:00:00"}
    write_json(Path(root) / model / "failed" / f"{step.replace('/', '.')}.json", record)
    if step.startswith("metrics/"):
        _, representation, evaluation = step.split("/")
        result_file(root, model, evaluation, representation).unlink()
