import os
import shutil
import sys

import pytest

from irs_plugin.report import tensorboard as events

pytest.importorskip("tensorboard", reason="tensorboard is not installed")


@pytest.fixture(scope="module")
def written(collection, report, tmp_path_factory):
    folder = tmp_path_factory.mktemp("events")
    (folder / "0").mkdir()
    (folder / "0" / "events.out.tfevents.1.theirs").write_bytes(b"")
    events.write_events(collection, report, folder)
    # Again: what was written before is replaced.
    events.write_events(collection, report, folder)
    return folder


def accumulated(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return EventAccumulator(str(folder)).Reload()


def test_scores_are_scalars(written, collection):
    found = accumulated(written / "0")
    rows = collection.scores[collection.scores.model == "0"]
    for row in rows.itertuples():
        (scalar,) = found.Scalars(row.metric)
        assert scalar.value == pytest.approx(row.score)
    assert found.Scalars("chance of IRS (irs_chance)")[0].value == pytest.approx(rows.chance.dropna().iloc[0])
    assert len(found.Tags()["scalars"]) == len(rows) + 1


def test_missing_scores_are_left_out(written):
    assert "DCI" not in accumulated(written / "5").Tags()["scalars"]


def test_figures_and_what_evaluations_drew_are_images(written, report):
    found = accumulated(written / "report")
    tags = {f"dsprites_full, mean: {drawn.title}": drawn.png for drawn in report.parts[0].drawn.values()}
    assert set(found.Tags()["images"]) == set(tags)
    for tag, path in tags.items():
        assert found.Images(tag)[0].encoded_image_string == path.read_bytes()
    (tag,) = accumulated(written / "0").Tags()["images"]
    assert tag == "postprocessed/mean/artifacts/interventional_effects/effects.png"
    assert accumulated(written / "0").Images(tag)[0].width == 2000


def test_only_our_own_earlier_files_are_replaced(written):
    names = [path.name for path in (written / "0").iterdir()]
    assert len(names) == 2
    assert "events.out.tfevents.1.theirs" in names


def test_the_hparams_plugin_finds_every_model(written, collection):
    from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
    from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
    from tensorboard.context import RequestContext
    from tensorboard.plugins.base_plugin import TBContext
    from tensorboard.plugins.hparams import api_pb2, backend_context, get_experiment, list_session_groups

    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(written))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(written))
    context = backend_context.Context(TBContext(logdir=str(written), data_provider=provider))
    experiment = get_experiment.Handler(RequestContext(), context, "", api_pb2.GetExperimentRequest()).run()
    assert {metric.name.tag for metric in experiment.metric_infos} == set(collection.metrics)
    request = api_pb2.ListSessionGroupsRequest(
        slice_size=100,
        col_params=[api_pb2.ColParams(metric=metric.name) for metric in experiment.metric_infos],
        allowed_statuses=list(api_pb2.Status.values()),
    )
    groups = list_session_groups.Handler(RequestContext(), context, "", request).run().session_groups
    found = {group.name: group for group in groups}
    assert set(found) == set(collection.scores.model)
    model = found["4"]
    assert model.hparams["method"].string_value == "factor_vae"
    assert model.hparams["value"].number_value == 10.0
    values = {value.name.tag: value.value for value in model.metric_values}
    row = collection.scores[(collection.scores.model == "4") & (collection.scores.metric == "MIG")].iloc[0]
    assert values["MIG"] == pytest.approx(row.score)


def test_runs_have_names_that_are_safe_and_their_own():
    assert events._run_names(["0", "../x", "a/b", "$a", "<a", ""]) == ["0", "_/x", "a/b", "_a", "_a_", "model"]


def test_several_representations_are_runs_of_their_own(tmp_path, study):
    from irs_plugin.report.page import write_report
    from irs_plugin.results import collect

    for representation in ("mean", "sampled"):
        source = study / "0/metrics/mean/mig"
        shutil.copytree(source, tmp_path / "study/0/metrics" / representation / "mig")
    collection = collect(tmp_path / "study")
    events.write_events(collection, write_report(collection, tmp_path / "report"), tmp_path / "events")
    runs = sorted(os.path.relpath(path.parent, tmp_path / "events") for path in (tmp_path / "events").rglob("events*"))
    assert runs == [".", "0/dsprites_full/mean", "0/dsprites_full/sampled", "report"]


def test_without_the_package_one_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ValueError, match=r"pip install tensorboard, or leave --tensorboard out\.$"):
        events.require_tensorboard()
