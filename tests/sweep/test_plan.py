"""What a sweep has to do is what ``dlib_reproduce`` would do, less what is there."""

import functools
import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from irs_plugin.dlib import scripts
from irs_plugin.studies import STUDIES
from irs_plugin.sweep.plan import plan_study, plan_trained


def mark_complete(step):
    path = step.folder / step.mark if step.mark else step.folder / "picture.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")


def trained(folder):
    (folder / "tfhub").mkdir(parents=True)
    (folder / "results/gin").mkdir(parents=True)
    (folder / "results/gin/train.gin").write_text("dataset.name = 'dummy_data'\n")
    return folder


@pytest.mark.parametrize("study", STUDIES)
def test_one_model_is_what_dlib_reproduce_makes_of_it(study, tmp_path, monkeypatch):
    """Run the stock script with its four steps replaced by ones that note how they are called."""
    from absl import app, flags
    from disentanglement_lib.evaluation import evaluate
    from disentanglement_lib.methods.unsupervised import train
    from disentanglement_lib.postprocessing import postprocess
    from disentanglement_lib.visualize import visualize_model

    calls = []
    for module, name, kind in (
        (train, "train_with_gin", "train"),
        (visualize_model, "visualize", "visualize"),
        (postprocess, "postprocess_with_gin", "postprocess"),
        (evaluate, "evaluate_with_gin", "metrics"),
    ):
        monkeypatch.setattr(module, name, lambda *args, kind=kind: calls.append((kind, *args)))
    number = 5
    argv = [
        "dlib_reproduce",
        f"--study={study}",
        f"--model_num={number}",
        f"--output_directory={tmp_path}/{{model_num}}",
    ]
    # Flags of its own, because those of the process can be defined only once.
    own = flags.FlagValues()
    monkeypatch.setattr(flags, "FLAGS", own)
    for name in ("DEFINE_string", "DEFINE_integer", "DEFINE_boolean"):
        monkeypatch.setattr(flags, name, functools.partial(getattr(flags, name), flag_values=own))
    monkeypatch.setattr(app, "run", lambda main: main(own(argv)))
    runpy.run_path(str(scripts.find("dlib_reproduce")), run_name="__main__")

    (model,) = plan_study(STUDIES[study](), tmp_path, only=[number]).models
    ours = []
    for step in model.steps:
        files, bindings = [str(step.config)], list(step.bindings)
        if step.kind == "train":
            ours.append(("train", str(step.folder), False, files, bindings))
        elif step.kind == "visualize":
            ours.append(("visualize", str(step.source), str(step.folder), False))
        else:
            ours.append((step.kind, str(step.source), str(step.folder), False, files, bindings))
    assert len(ours) > 15
    assert ours == calls


def test_complete_steps_are_not_missing(tiny_study, tmp_path):
    plan = plan_study(tiny_study, tmp_path / "out")
    model = plan.models[1]
    assert [step.name for step in model.missing()] == [step.name for step in model.steps]
    for step in model.steps[:3]:
        mark_complete(step)
    assert model.missing() == list(model.steps[3:])
    # A file cut short is not a result.
    cut = model.steps[2]
    (cut.folder / cut.mark).write_text('{"a": 1')
    assert model.missing() == list(model.steps[2:])


def test_choosing_models(tmp_path):
    study = STUDIES["irs_study_v1"]()
    plan = plan_study(study, tmp_path, where=["dataset.name=cars3d", "model.name=beta_vae", "vae.beta=6"])
    assert len(plan.models) == 50
    assert all("vae.beta = 6.0" in model.bindings for model in plan.models)
    assert [model.name for model in plan_study(study, tmp_path, only=[3, 1, 3]).models] == ["1", "3"]
    with pytest.raises(ValueError, match="models 0 to 12949, not \\[12950\\]"):
        plan_study(study, tmp_path, only=[12950])
    with pytest.raises(ValueError, match=r"no model of irs_study_v1 has model\.name=nothing"):
        plan_study(study, tmp_path, where=["model.name=nothing"])
    with pytest.raises(ValueError, match="KEY=VALUE"):
        plan_study(study, tmp_path, where=["model.name"])


def test_bindings_of_the_user_come_last(tiny_study, tmp_path):
    plan = plan_study(
        tiny_study, tmp_path, model_bindings=["model.training_steps = 9"], metric_bindings=["dci.num_train = 7"]
    )
    for model in plan.models:
        assert model.steps[0].bindings[-1] == "model.training_steps = 9"
        for step in model.steps:
            assert ("dci.num_train = 7" in step.bindings) == (step.kind == "metrics")


def test_seeds_differ_and_are_those_of_every_model(tiny_study, tmp_path):
    study = replace(tiny_study, postprocess_configs=STUDIES["irs_study_v1"]().postprocess_configs)
    seeds = [
        [b for step in model.steps for b in step.bindings if "random_seed" in b and step.kind != "train"]
        for model in plan_study(study, tmp_path).models
    ]
    assert len(set(seeds[0])) == 2 + 2 * 3
    assert seeds[0] == seeds[1] == seeds[2]


def test_models_trained_elsewhere(tiny_study, tmp_path):
    folders = [trained(tmp_path / "runs" / name / seed / "model") for name in ("a", "b") for seed in ("0", "1")]
    plan = plan_trained([str(tmp_path / "runs/*/*/model")], tiny_study, tmp_path / "out", visualize=False)
    assert [model.name for model in plan.models] == ["a_0", "a_1", "b_0", "b_1"]
    assert [model.trained for model in plan.models] == folders
    first = plan.models[0].steps[0]
    assert first.name == "postprocess/mean"
    assert first.source == folders[0]
    assert first.folder == tmp_path / "out/a_0/postprocessed/mean"
    (one,) = plan_trained([str(folders[2])], tiny_study, tmp_path / "out").models
    assert one.name == "0"


def test_names_of_models_trained_elsewhere_are_distinct(tiny_study, tmp_path):
    found = [str(trained(tmp_path / "runs" / path)) for path in ("x/model", "x_model/model", "model")]
    plan = plan_trained(found, tiny_study, tmp_path / "out")
    assert len({model.name for model in plan.models}) == 3
    found = [str(trained(tmp_path / path / "model")) for path in ("a/b_c", "a_b/c")]
    plan = plan_trained(found, tiny_study, tmp_path / "out")
    assert [model.name for model in plan.models] == ["a__b_c", "a_b__c"]


def test_what_is_no_model_is_refused(tiny_study, tmp_path):
    with pytest.raises(ValueError, match="no folder matches"):
        plan_trained([str(tmp_path / "nowhere/*")], tiny_study, tmp_path / "out")
    (tmp_path / "runs/x").mkdir(parents=True)
    with pytest.raises(ValueError, match="is no trained model, it has no tfhub"):
        plan_trained([str(tmp_path / "runs/*")], tiny_study, tmp_path / "out")


def test_a_folder_that_holds_something_else_is_refused(tiny_study, tmp_path):
    path = tmp_path / "out/study.json"
    plan = plan_study(tiny_study, tmp_path / "out", only=[0, 1])
    path.parent.mkdir()
    path.write_text(json.dumps(plan.check_against_record(path)))
    # More models of the same study join those that are there.
    merged = plan_study(tiny_study, tmp_path / "out", only=[2]).check_against_record(path)
    assert sorted(merged["models"]) == ["0", "1", "2"]
    with pytest.raises(ValueError, match="holds the study 'tiny', not 'other'"):
        plan_study(replace(tiny_study, name="other"), tmp_path / "out").check_against_record(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="not the record of a sweep"):
        plan.check_against_record(path)


def test_results_of_other_settings_are_not_mixed_in(tiny_study, tmp_path):
    path = tmp_path / "out/study.json"
    plan = plan_study(tiny_study, tmp_path / "out")
    path.parent.mkdir()
    path.write_text(json.dumps(plan.check_against_record(path)))
    longer = plan_study(tiny_study, tmp_path / "out", model_bindings=["model.training_steps = 7"])
    metric = tiny_study.metric_configs[0]
    metric.write_text(metric.read_text() + "dci.num_train = 31\n")
    changed = plan_study(tiny_study, tmp_path / "out")
    # As long as nothing was made by them, settings may change.
    longer.check_against_record(path)
    changed.check_against_record(path)
    for step in plan.models[1].steps:
        mark_complete(step)
    with pytest.raises(ValueError, match=r"out/1/model was made by .*steps = 6.*, not by .*steps = 7"):
        longer.check_against_record(path)
    with pytest.raises(ValueError, match=r"dci\.gin, or what it includes, has changed since .*out/1/metrics/mean/dci"):
        changed.check_against_record(path)
    other = plan_study(tiny_study, tmp_path / "out", metric_bindings=["dci.num_test = 5"])
    with pytest.raises(ValueError, match="has changed since"):
        other.check_against_record(path)


def test_a_change_in_an_included_file_is_noticed(tiny_study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("base.gin").write_text("dci.num_test = 5\n")
    metric = tiny_study.metric_configs[0]
    metric.write_text(metric.read_text() + 'include "base.gin"\n')
    before = plan_study(tiny_study, tmp_path / "out").record["configs"]
    Path("base.gin").write_text("dci.num_test = 6\n")
    after = plan_study(tiny_study, tmp_path / "out").record["configs"]
    assert [name for name in before if before[name] != after[name]] == ["gin/dci.gin"]


def test_two_metrics_of_one_name_are_refused(tiny_study, tmp_path):
    other = tmp_path / "other/dci.gin"
    other.parent.mkdir()
    other.write_text("")
    with pytest.raises(ValueError, match="two metrics are called dci"):
        plan_study(replace(tiny_study, metric_configs=(*tiny_study.metric_configs, other)), tmp_path / "out")


def test_labels_tell_models_apart(tmp_path):
    plan = plan_study(STUDIES["irs_study_small"](), tmp_path)
    assert plan.models[4].label == "dsprites_full, factor_vae, gamma 10.0, seed 0"
    assert len({model.label for model in plan.models}) == 14
