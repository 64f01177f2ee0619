"""Every metric configuration evaluates a model through stock disentanglement_lib and writes plain JSON."""

import json
from pathlib import Path

import numpy as np
import pytest
from integration.conftest import run_script

from irs_plugin.config_files import config_names, find_config

METRICS = [name for name in config_names() if name.startswith("metrics/")]

_SUB_GRID = "{0: 5, 1: 5, 2: 3, " + ", ".join(f"{k}: 1" for k in range(3, 10)) + "}"
# Smaller samples, and what a file leaves to its user.
SMALLER = {
    "irs_grid": {"grid_sampling.sub_grid": _SUB_GRID},
    "irs_chance": {"interventional_robustness.num_permutations": "3"},
    "irs_repeats": {"repeated_scores.num_repeats": "2"},
    "chance_level": {"chance_level.num_permutations": "3"},
    "convergence": {
        "convergence.num_draws": "2",
        "convergence.num_permutations": "2",
        "convergence.sizes": "[50, 200]",
    },
    "group_robustness": {
        "group_robustness.latent_dims": "[0, 3]",
        "group_robustness.fixed_factors": "[1]",
        "group_robustness.intervened_factors": "[0, 2]",
    },
    "domain_shift_robustness": {
        "domain_shift_robustness.latent_dims": "[0]",
        "domain_shift_robustness.shifted_factors": "[2]",
        "grid_sampling.sub_grid": _SUB_GRID,
    },
    "robustness_tradeoff": {
        "robustness_tradeoff.target": "0",
        "robustness_tradeoff.nuisance_factors": "[2]",
        "robustness_tradeoff.exhaustive_limit": "1",
        "robustness_tradeoff.cv": "2",
        "robustness_tradeoff.thresholds": "[0.0, 0.2]",
        "grid_sampling.sub_grid": _SUB_GRID,
    },
    "feature_importance": {"feature_importance.min_samples_leaf": "10", "feature_importance.num_trees": "5"},
    "importance_matrices": {"importance_matrices.min_samples_leaf": "10", "importance_matrices.num_trees": "5"},
    "beta_vae_sklearn": {
        "beta_vae_sklearn.batch_size": "4",
        "beta_vae_sklearn.num_train": "40",
        "beta_vae_sklearn.num_eval": "10",
    },
    "factor_vae_metric": {
        "factor_vae_score.batch_size": "4",
        "factor_vae_score.num_train": "40",
        "factor_vae_score.num_eval": "10",
        "factor_vae_score.num_variance_estimate": "64",
        "prune_dims.threshold": "0.0",
    },
    "dci": {"dci.num_train": "60", "dci.num_test": "20"},
    "sap_score": {"sap_score.num_train": "60", "sap_score.num_test": "20"},
    "modularity_explicitness": {"modularity_explicitness.num_train": "100", "modularity_explicitness.num_test": "50"},
    "downstream_task": {"downstream_task.num_train": "[40]", "downstream_task.num_test": "20"},
    "fairness": {"fairness.num_train": "40", "fairness.num_test_points_per_class": "4"},
    "mig": {"mig.num_train": "100"},
    "unified_scores": {"unified_scores.num_train": "60", "unified_scores.num_test": "20"},
}
# The key by which each result is known.
KEYS = {
    "beta_vae_sklearn": "eval_accuracy",
    "chance_level": "avg_score.corrected",
    "conditional_densities": "densities",
    "convergence": "steps",
    "dci": "disentanglement",
    "downstream_task": "40:mean_test_accuracy",
    "factor_vae_metric": "eval_accuracy",
    "fairness": "mean_fairness:mean_pred:mean_sens",
    "feature_importance": "scores",
    "importance_matrices": "mutual_information.scores",
    "interventional_effects": "effects",
    "irs_repeats": "avg_score.sd",
    "mig": "discrete_mig",
    "modularity_explicitness": "modularity_score",
    "mutual_information": "average",
    "robustness_tradeoff": "choices",
    "sap_score": "SAP_score",
    "unified_scores": "mutual_information_matrix.mig",
    "unsupervised_metrics": "gaussian_total_correlation",
    "witnesses": "witnesses",
}


def _bindings(stem):
    text = find_config(f"metrics/{stem}").read_text()
    function = next((line.split("@")[1] for line in text.splitlines() if "evaluation_fn" in line), None)
    function = function or "interventional_robustness"
    own = SMALLER.get(stem, {})
    sized = any(key.endswith("num_train") or "sub_grid" in key for key in own)
    return own if sized else {f"{function}.num_train": "200", **own}


def _no_constant(name):
    raise AssertionError(f"{name} in a results file")


@pytest.mark.parametrize("name", METRICS)
def test_evaluates(name, representation, tmp_path):
    import gin
    from disentanglement_lib.evaluation import evaluate

    stem = Path(name).stem
    bindings = [f"{key} = {value}" for key, value in _bindings(stem).items()]
    gin.clear_config()
    evaluate.evaluate_with_gin(str(representation), str(tmp_path / "out"), False, [name], bindings)
    text = (tmp_path / "out" / "results" / "json" / "evaluation_results.json").read_text()
    results = json.loads(text, parse_constant=_no_constant)
    assert results[KEYS.get(stem, "IRS")] is not None
    aggregate = json.loads((tmp_path / "out" / "results" / "aggregate" / "evaluation.json").read_text())
    assert aggregate[f"evaluation_results.{KEYS.get(stem, 'IRS')}"] == results[KEYS.get(stem, "IRS")]
    for path in results.get("figures", []):
        assert Path(path).parent == representation / "artifacts" / stem
        assert Path(path).stat().st_size > 1000


def test_dlib_preset_beside_dlib(representation, tmp_path):
    small = {"irs_dlib": "interventional_robustness.num_train", "irs": "irs.num_train"}
    found = {}
    for stem, size in small.items():
        flags = (f"--gin_config=metrics/{stem}.gin", f"--input_dir={representation}", f"--output_dir={stem}")
        run_script("dlib_evaluate", *flags, bindings={size: "500"}, cwd=tmp_path)
        found[stem] = json.loads((tmp_path / stem / "results" / "json" / "evaluation_results.json").read_text())
    ours, theirs = found["irs_dlib"], found["irs"]
    assert ours["dlib_IRS"] == theirs["IRS"]
    assert ours["IRS"] == pytest.approx(theirs["IRS"], abs=1e-6)
    assert ours["num_active_dims"] == 10
    assert len(ours["disentanglement_scores"]) == 10
    assert np.shape(ours["irs_matrix"]) == (10, 10)


def test_aggregates_with_dlib(representation, tmp_path):
    flags = ("--gin_config=metrics/irs_paper.gin", f"--input_dir={representation}", "--output_dir=irs")
    run_script("dlib_evaluate", *flags, bindings={"interventional_robustness.num_train": "100"}, cwd=tmp_path)
    pattern = f"{tmp_path}/*/results/aggregate/evaluation.json"
    flags = (f"--result_file_pattern={pattern}", f"--output_path={tmp_path}/all.json")
    run_script("dlib_aggregate_results", *flags, cwd=tmp_path)
    table = json.loads((tmp_path / "all.json").read_text())
    written = json.loads((tmp_path / "irs" / "results" / "json" / "evaluation_results.json").read_text())
    # pandas writes ten digits.
    assert table["evaluation_results.IRS"]["0"] == pytest.approx(written["IRS"], abs=1e-9)
    assert np.shape(table["evaluation_results.irs_matrix"]["0"]) == (10, 10)
    assert table["evaluation_results.settings.factor_weights"]["0"] == "observed"
