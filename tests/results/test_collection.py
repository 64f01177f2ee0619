"""What is found below a folder, what is passed over, and what the table says of it."""

import json
import math
import os
import subprocess
import sys

import pytest
from results.trees import by_method, seeded, write_flat, write_result

from irs_plugin.results import COLUMNS, collect

OURS = {
    "IRS": 0.5,
    "mean_score": 0.45,
    "num_active_dims": 7,
    "num_samples": 10000,
    "chance.avg_score.mean": 0.125,
    "chance.avg_score.corrected": 0.43,
    "chance.mean_score.mean": 0.12,
    "settings.diff_quantile": 1.0,
    "settings.factor_weights": "observed",
    "settings.estimator": "none",
    "sample.design": "random",
}


def only(collection):
    (row,) = collection.scores.itertuples()
    return row


def score(collection, metric, **where):
    rows = collection.scores[collection.scores.metric == metric]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    (found,) = rows.score
    return found


def test_a_study(tmp_path):
    training = {**by_method("factor_vae", "factor_vae", seed=3, gamma=10.0), "model.model_num": "12"}
    settings = {"evaluation.random_seed": "4294967295", "mig.num_train": "10000"}
    write_result(
        tmp_path / "12" / "metrics" / "mean" / "mig",
        "mig",
        {"discrete_mig": 0.25},
        training=training,
        settings=settings,
    )
    collection = collect(tmp_path)
    assert {name: str(kind) for name, kind in collection.scores.dtypes.items() if COLUMNS[name] != "str"} == {
        name: kind for name, kind in COLUMNS.items() if kind != "str"
    }
    assert only(collection)._asdict() | {"Index": 0, "chance": 0, "active": 0} == {
        "Index": 0,
        "model": "12",
        "model_num": 12,
        "dataset": "dsprites_full",
        "method": "factor_vae",
        "hyperparameter": "factor_vae.gamma",
        "value": 10.0,
        "seed": 3,
        "training_steps": 300000,
        "representation": "mean",
        "evaluation": "mig",
        "metric": "MIG",
        "score": 0.25,
        "chance": 0,
        "sample_size": 10000,
        "active": 0,
        "estimator": "",
        "evaluation_seed": 4294967295,
        "elapsed_seconds": 12.5,
        "path": "12/metrics/mean/mig/results/aggregate/evaluation.json",
    }
    assert collection.scores.chance.isna().all() and collection.scores.active.isna().all()
    assert collection.damaged == [] and collection.failures == [] and collection.study is None


@pytest.mark.parametrize(
    ("name", "model", "swept", "hyperparameter"),
    [
        ("vae", "vae", {"beta": 1.0}, "vae.beta"),
        ("beta_vae", "vae", {"beta": 16.0}, "vae.beta"),
        ("annealed_vae", "annealed_vae", {"c_max": 25.0, "gamma": 1000}, "annealed_vae.c_max"),
        ("factor_vae", "factor_vae", {"gamma": 40.0}, "factor_vae.gamma"),
        ("dip_vae_i", "dip_vae", {"lambda_od": 5.0, "lambda_d_factor": 10.0}, "dip_vae.lambda_od"),
        ("dip_vae_ii", "dip_vae", {"lambda_od": 20.0, "lambda_d_factor": 1.0}, "dip_vae.lambda_od"),
        ("beta_tc_vae", "beta_tc_vae", {"beta": 6.0}, "beta_tc_vae.beta"),
    ],
)
def test_the_hyperparameter_that_dlib_sweeps(tmp_path, name, model, swept, hyperparameter):
    write_result(tmp_path / "m" / "mig", "mig", {"discrete_mig": 0.5}, training=by_method(name, model, **swept))
    row = only(collect(tmp_path))
    assert (row.method, row.hyperparameter, row.value) == (name, hyperparameter, next(iter(swept.values())))


@pytest.mark.parametrize(
    ("model", "swept", "method"),
    [
        ("vae", {"beta": 1.0}, "beta_vae"),
        ("dip_vae", {"lambda_od": 5.0, "dip_type": "i"}, "dip_vae_i"),
        ("dip_vae", {"lambda_od": 5.0, "dip_type": "ii"}, "dip_vae_ii"),
        ("annealed_vae", {"c_max": 5.0}, "annealed_vae"),
    ],
)
@pytest.mark.parametrize("name", ["shared", "", None])
def test_a_method_without_a_name_is_its_model(tmp_path, model, swept, method, name):
    training = by_method(name, model, **swept)
    write_result(
        tmp_path / "m" / "mig",
        "mig",
        {"discrete_mig": 0.5},
        training={**training, "model.name": name and training["model.name"]},
    )
    row = only(collect(tmp_path))
    assert row.method == method and not math.isnan(row.value)


def test_the_one_setting_that_an_unknown_method_sweeps(tmp_path):
    for number, strength in enumerate((0.5, 1.5)):
        for seed in (0, 1):
            training = {
                **by_method("mine", "my_vae", seed, strength=strength),
                "model.model_num": str(2 * number + seed),
            }
            write_result(tmp_path / f"{number}{seed}" / "mig", "mig", {"discrete_mig": 0.5}, training=training)
    scores = collect(tmp_path).scores
    assert set(scores.hyperparameter) == {"my_vae.strength"}
    assert list(scores.value) == [0.5, 0.5, 1.5, 1.5]


def test_no_hyperparameter_where_two_settings_differ(tmp_path):
    for place, (strength, size) in enumerate(((0.5, 10), (1.5, 20))):
        training = {**by_method("mine", "my_vae", strength=strength), "encoder.num_latent": str(size)}
        write_result(tmp_path / str(place) / "mig", "mig", {"discrete_mig": 0.5}, training=training)
    scores = collect(tmp_path).scores
    assert set(scores.hyperparameter) == {""} and scores.value.isna().all()
    assert list(scores.groupby("hyperparameter").size()) == [2]


def test_our_score_with_its_chance_level(tmp_path):
    write_result(tmp_path / "m" / "irs", "interventional_robustness", OURS, name="irs_chance")
    collection = collect(tmp_path)
    rows = collection.scores.set_index("metric")
    assert dict(rows.score) == {"IRS": 0.5, "IRS above chance": 0.43, "IRS unweighted": 0.45}
    assert (rows.chance["IRS"], rows.chance["IRS unweighted"]) == (0.125, 0.12)
    assert math.isnan(rows.chance["IRS above chance"])
    assert set(rows.estimator) == {"supremum, observed weights"}
    assert set(rows.sample_size) == {10000} and set(rows.active) == {7}
    assert collection.metrics["IRS"].higher_is_better and collection.metrics["IRS"].headline


def test_presets_of_one_function_stay_apart(tmp_path):
    dlib = {**OURS, "settings.diff_quantile": 0.99, "settings.factor_weights": "uniform", "IRS": 0.75, "dlib_IRS": 0.76}
    write_result(tmp_path / "m" / "a", "interventional_robustness", OURS, name="irs_chance")
    write_result(
        tmp_path / "m" / "b",
        "interventional_robustness",
        dlib,
        name="irs_dlib",
        settings={"discretizer.num_bins": "20"},
    )
    write_result(tmp_path / "m" / "c", "irs", {"IRS": 0.77, "num_active_dims": -167.76}, name="irs")
    collection = collect(tmp_path)
    assert score(collection, "IRS (irs_chance)", estimator="supremum, observed weights") == 0.5
    assert score(collection, "IRS (irs_dlib)", estimator="0.99 quantile, uniform weights, 20 bins") == 0.75
    assert score(collection, "IRS (dlib, irs_dlib)") == 0.76
    assert score(collection, "IRS (dlib, irs)") == 0.77
    assert collection.metrics.keys() == set(collection.scores.metric)
    assert collection.scores.groupby("metric").evaluation.nunique().eq(1).all()
    assert collection.scores[collection.scores.evaluation == "irs"].active.isna().all(), "that is a sum of codes"
    assert collection.duplicates == []


def test_downstream_tasks_by_classifier_at_the_largest_size(tmp_path):
    for classifier, low, high in (("gradient_boosting_classifier", 0.2, 0.7), ("logistic_regression_cv", 0.1, 0.4)):
        returned = {"10:mean_test_accuracy": low, "9:mean_test_accuracy": 0.9, "1000:mean_test_accuracy": high}
        settings = {"predictor.predictor_fn": f"@{classifier}", "downstream_task.num_train": "[10, 9, 1000]"}
        write_result(tmp_path / "m" / classifier, "downstream_task", returned, name=classifier, settings=settings)
    scores = collect(tmp_path).scores.set_index("metric")
    assert dict(scores.score) == {"GBT1000": 0.7, "LR1000": 0.4}
    assert set(scores.sample_size) == {1000}


def test_unified_scores_in_their_wrapper(tmp_path):
    returned = {"importance_gbt_matrix.dci_disentanglement": 0.3, "mutual_information_matrix.mig": 0.1}
    settings = {"with_factor_names.evaluation_fn": "@unified_scores"}
    write_result(tmp_path / "m" / "u", "with_factor_names", returned, name="unified_scores", settings=settings)
    collection = collect(tmp_path)
    assert score(collection, "Unified DCI (GBT)") == 0.3
    assert score(collection, "Unified MIG (MI)") == 0.1


def test_unknown_functions_are_kept_number_by_number(tmp_path):
    returned = {"beauty": 0.5, "steps": 3, "num_train": 10, "seed": 1, "ok": True, "why": "…", "matrix": [[1.0]]}
    write_result(tmp_path / "a" / "x", "my_score", {**returned, "truth": None}, name="mine")
    write_result(tmp_path / "b" / "x", "my_score", {**returned, "truth": 0.25}, name="mine")
    collection = collect(tmp_path)
    assert set(collection.scores.metric) == {"mine: beauty", "mine: steps", "mine: truth"}
    assert math.isnan(score(collection, "mine: truth", model="a"))
    assert score(collection, "mine: truth", model="b") == 0.25
    assert collection.metrics["mine: beauty"].higher_is_better is None


def test_pictures_give_no_rows_and_are_not_lost(tmp_path):
    write_result(tmp_path / "m" / "w", "witnesses", {"score.avg_score": 0.5, "figures": ["a.png"]})
    collection = collect(tmp_path)
    assert collection.scores.empty and list(collection.scores.columns) == list(COLUMNS)
    assert collection.num_results == len(collection.flat) == 1


@pytest.mark.parametrize("undefined", [None, math.nan, -math.inf])
def test_undefined_scores_stay(tmp_path, undefined):
    write_result(tmp_path / "m" / "irs", "irs", {"IRS": undefined})
    row = only(collect(tmp_path))
    assert row.metric == "IRS (dlib)" and math.isnan(row.score)


def test_a_collapsed_model_stays(tmp_path):
    collapsed = {**OURS, "IRS": 0.0, "mean_score": None, "num_active_dims": 0}
    write_result(tmp_path / "m" / "irs", "interventional_robustness", collapsed)
    rows = collect(tmp_path).scores.set_index("metric")
    assert (rows.score["IRS"], rows.active["IRS"]) == (0.0, 0)
    assert math.isnan(rows.score["IRS unweighted"])


def damage_truncated(path):
    path.write_text(path.read_text()[:-40])


def damage_not_an_object(path):
    path.write_text("[1, 2]")


def damage_empty(path):
    path.write_text("\n")


def damage_not_text(path):
    path.write_bytes(b"\xff\xfe\x80 nothing")


def damage_no_results(path):
    path.write_text(json.dumps({"evaluation_config.evaluation.evaluation_fn": "@mig"}))


def damage_no_function(path):
    path.write_text(json.dumps({"evaluation_results.discrete_mig": 0.5}))


def damage_no_score(path):
    path.write_text(path.read_text().replace("discrete_mig", "why").replace("0.375", '"none"'))


def damage_text_for_score(path):
    path.write_text(path.read_text().replace("0.375", '"0.375"'))


def damage_truth_for_score(path):
    path.write_text(path.read_text().replace("0.375", "true"))


def damage_too_deep(path):
    path.write_text("[" * 200000)


def damage_a_folder_in_its_place(path):
    path.unlink()
    path.mkdir()


def damage_a_link_to_nothing(path):
    path.unlink()
    path.symlink_to("nowhere.json")


DAMAGES = {
    damage_truncated: "breaks off",
    damage_not_an_object: "list",
    damage_empty: "empty",
    damage_not_text: "not JSON",
    damage_no_results: "evaluation_results",
    damage_no_function: "evaluation function",
    damage_no_score: "no discrete_mig",
    damage_text_for_score: "discrete_mig is not a number but '0.375'",
    damage_truth_for_score: "not a number but 'True'",
    damage_too_deep: "",
    damage_a_folder_in_its_place: "directory",
    damage_a_link_to_nothing: "No such file",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damaged_files_are_named_and_passed_over(tmp_path, damage):
    write_result(tmp_path / "a" / "mig", "mig", {"discrete_mig": 0.5})
    damage(write_result(tmp_path / "b" / "mig", "mig", {"discrete_mig": 0.375}))
    write_result(tmp_path / "c" / "mig", "mig", {"discrete_mig": 0.5})
    collection = collect(tmp_path)
    assert list(collection.scores.model) == ["a", "c"] and collection.num_results == 2
    ((path, reason),) = collection.damaged
    assert path == "b/mig/results/aggregate/evaluation.json"
    assert DAMAGES[damage] in reason


def test_folders_that_may_not_be_read_are_named(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("nothing is closed to root")
    write_result(tmp_path / "a" / "mig", "mig", {"discrete_mig": 0.5})
    (tmp_path / "b").mkdir(mode=0)
    assert collect(tmp_path).damaged == [("b", "Permission denied")]


def test_what_is_partial_hidden_or_weights_is_not_entered(tmp_path):
    write_result(tmp_path / "0" / "metrics" / "mean" / "mig", "mig", {"discrete_mig": 0.5})
    for place in ("0/metrics/mean/dci.partial", ".trash/mig", "0/model/tfhub/x", "0/model/tf_checkpoint/x"):
        write_flat(tmp_path / place, {})
    collection = collect(tmp_path)
    assert collection.num_results == 1 and collection.damaged == []


def test_a_trained_or_postprocessed_model_is_no_result(tmp_path):
    path = write_result(tmp_path / "0" / "model", "mig", {"discrete_mig": 0.5})
    path.rename(path.with_name("train.json"))
    assert collect(tmp_path).num_results == 0


def test_links_are_followed_and_nothing_is_read_twice(tmp_path):
    elsewhere, tree = tmp_path / "elsewhere", tmp_path / "tree"
    write_result(elsewhere / "metrics" / "mean" / "mig", "mig", {"discrete_mig": 0.5})
    write_result(tree / "1" / "metrics" / "mean" / "mig", "mig", {"discrete_mig": 0.25}, training=seeded(1))
    (tree / "0").symlink_to(elsewhere)
    (tree / "circle").symlink_to(tree)
    (tree / "again").symlink_to(tree / "1")
    assert sorted(collect(tree).scores.model) == ["0", "1"]


@pytest.mark.parametrize("inside", [".", "0", "0/metrics", "0/metrics/mean", "0/metrics/mean/mig"])
def test_from_any_folder_of_a_study(tmp_path, inside):
    path = write_result(tmp_path / "0" / "metrics" / "mean" / "mig", "mig", {"discrete_mig": 0.5}, name="")
    row = only(collect(tmp_path / inside))
    assert (row.model, row.representation, row.evaluation) == ("0" if inside == "." else ".", "mean", "mig")
    assert (tmp_path / inside / row.path).samefile(path)


def test_models_evaluated_side_by_side_are_told_apart(tmp_path):
    for uuid in ("aaaaaaaa-1", "bbbbbbbb-2"):
        write_result(tmp_path / "scores" / f"{uuid[0]}_mig", "mig", {"discrete_mig": 0.5}, uuid=uuid)
        write_result(tmp_path / "scores" / f"{uuid[0]}_dci", "dci", {"disentanglement": 0.5}, uuid=uuid)
    collection = collect(tmp_path)
    assert list(collection.scores.groupby("model").size().items()) == [
        ("scores (aaaaaaaa)", 2),
        ("scores (bbbbbbbb)", 2),
    ]
    assert collection.duplicates == []


def test_duplicates_are_kept_and_reported(tmp_path):
    for folder, value in (("mig", 0.25), ("mig_again", 0.5)):
        write_result(tmp_path / "0" / "metrics" / "mean" / folder, "mig", {"discrete_mig": value}, name="mig")
    collection = collect(tmp_path)
    assert sorted(collection.scores.score) == [0.25, 0.5]
    (duplicate,) = collection.duplicates
    assert (duplicate.model, duplicate.representation, duplicate.metric) == ("0", "mean", "MIG")
    assert [path.split("/")[3] for path in duplicate.paths] == ["mig", "mig_again"]
    assert "mig_again" in " ".join(collection.warnings())


def test_representations(tmp_path):
    returned = {"discrete_mig": 0.5}
    write_result(tmp_path / "0" / "metrics" / "sampled" / "mig", "mig", returned)
    write_result(tmp_path / "a" / "mig", "mig", returned, postprocess={"postprocess.name": "'named'"})
    write_result(tmp_path / "b" / "mig", "mig", returned, postprocess={"postprocess.name": "''"})
    write_result(tmp_path / "c" / "mig", "mig", returned, postprocess={key: None for key in ("postprocess.name",)})
    assert list(collect(tmp_path).scores.representation) == ["sampled", "named", "mean", "mean"]


def test_settings_that_gin_wrapped_are_read_from_its_files(tmp_path):
    long = "a name so long that gin has to break its line before it, which dlib then takes for the value"
    path = write_result(
        tmp_path / "m" / "mig",
        "mig",
        {"discrete_mig": 0.5},
        training={"model.name": "\\", "model.random_seed": None},
    )
    gin_file = path.parents[1] / "gin" / "train.gin"
    gin_file.parent.mkdir()
    gin_file.write_text(
        "import nothing.that.exists\n\n# Parameters for model:\n# ====\n"
        f"model.name = \\\n    ('{long[:40]}'\n     '{long[40:]}')\nmodel.random_seed = 7\n"
    )
    row = only(collect(tmp_path))
    assert (row.method, row.seed) == (long, 7)


def test_settings_without_their_gin_file(tmp_path):
    write_result(tmp_path / "m" / "mig", "mig", {"discrete_mig": 0.5}, training={"model.name": "\\"})
    assert only(collect(tmp_path)).seed == 0


def test_folders_named_by_numbers(tmp_path):
    for folder in ("7", "20261201235959000000000"):
        write_result(tmp_path / folder / "mig", "mig", {"discrete_mig": 0.5})
    scores = collect(tmp_path).scores.set_index("model")
    assert scores.model_num["7"] == 7 and scores.model_num.isna().sum() == 1


def test_models_without_a_training(tmp_path):
    flat = {"evaluation_config.evaluation.evaluation_fn": "@mig", "evaluation_results.discrete_mig": 0.5}
    write_flat(tmp_path / "elsewhere" / "mig", flat)
    row = only(collect(tmp_path))
    assert (row.model, row.method, row.representation, row.metric) == ("elsewhere", "", "", "MIG")


def test_failures_and_the_study(tmp_path):
    write_result(tmp_path / "0" / "metrics" / "mean" / "mig", "mig", {"discrete_mig": 0.5})
    failed = tmp_path / "0" / "failed"
    failed.mkdir()
    record = {"step": "metrics/mean/dci", "error": "no memory", "traceback": "…", "time": "2026-12-01T00:00:00+00:00"}
    (failed / "metrics.mean.dci.json").write_text(json.dumps(record))
    (failed / "metrics.mean.sap.json").write_text("{")
    (tmp_path / "study.json").write_text('{"study": "small"}')
    collection = collect(tmp_path)
    (failure,) = collection.failures
    assert (failure.model, failure.step, failure.error) == ("0", "metrics/mean/dci", "no memory")
    assert failure.path == "0/failed/metrics.mean.dci.json"
    assert collection.study == {"study": "small"}
    assert [path for path, _ in collection.damaged] == ["0/failed/metrics.mean.sap.json"]


def test_a_damaged_study_file_is_named(tmp_path):
    (tmp_path / "study.json").write_text("[]")
    collection = collect(tmp_path)
    assert collection.study is None and [path for path, _ in collection.damaged] == ["study.json"]


def test_no_folder(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        collect(tmp_path / "missing")


def test_thousands_of_files(tmp_path):
    """2,000 results of 250 models, none lost and none mixed up."""
    for number in range(250):
        training = by_method("beta_vae", "vae", seed=number % 50, beta=float(number // 50 + 1))
        for place in range(8):
            folder = tmp_path / str(number) / "metrics" / ("mean", "sampled")[place % 2] / f"mine_{place}"
            write_result(folder, "my_score", {"found": number + place / 10}, name=f"mine_{place}", training=training)
    collection = collect(tmp_path)
    scores = collection.scores
    assert len(scores) == 2000 and collection.duplicates == []
    assert scores.score.to_list() == [int(row.model) + int(row.metric[5]) / 10 for row in scores.itertuples()]
    assert (scores.value == scores.model.astype(int) // 50 + 1).all() and (scores.seed == scores.model_num % 50).all()


def test_neither_tensorflow_nor_gin_is_imported(tmp_path):
    write_result(tmp_path / "m" / "mig", "mig", {"discrete_mig": 0.5})
    script = """
import sys
from irs_plugin import results
assert not {"pandas", "tqdm"} & sys.modules.keys()
results.write(results.collect(sys.argv[1]), sys.argv[1])
assert not {"tensorflow", "gin", "disentanglement_lib", "matplotlib", "sklearn"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
