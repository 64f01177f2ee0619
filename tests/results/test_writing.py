"""The three files: whole or as they were, equal to each other, and disentanglement_lib's own form."""

import math
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest
from results.trees import by_method, write_result

from irs_plugin.results import collect, read_scores, write


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    write_result(folder / "0" / "metrics" / "mean" / "mig", "mig", {"discrete_mig": 1 / 3})
    training = by_method("mine", "my_vae", seed=2**32 - 1)
    write_result(folder / "1" / "metrics" / "mean" / "irs", "irs", {"IRS": None}, training=training)
    write_result(folder / 'a, "b"' / "x", "nan", {"NA": 1e-300, "null": math.nan}, name="nan")
    return folder


def test_parquet_and_csv_hold_the_table(tree, tmp_path):
    collection = collect(tree)
    assert {path.name for path in write(collection, tmp_path / "new" / "folder")} == {
        "scores.csv",
        "scores.parquet",
        "results.json",
    }
    for name in ("scores.csv", "scores.parquet"):
        pd.testing.assert_frame_equal(read_scores(tmp_path / "new" / "folder" / name), collection.scores)


def test_an_empty_table_survives_too(tmp_path):
    write_result(tmp_path / "m" / "w", "witnesses", {"figures": []})
    collection = collect(tmp_path)
    write(collection, tmp_path)
    for name in ("scores.csv", "scores.parquet"):
        pd.testing.assert_frame_equal(read_scores(tmp_path / name), collection.scores, check_index_type=False)


def test_folders_of_any_name(tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    write_result(os.path.join(folder, "m", "mig"), "mig", {"discrete_mig": 0.5})
    collection = collect(tmp_path)
    write(collection, tmp_path)
    pd.testing.assert_frame_equal(read_scores(tmp_path / "scores.csv"), collection.scores)


def test_writing_again_leaves_nothing_else(tree):
    for _ in range(2):
        write(collect(tree), tree)
    assert sorted(path.name for path in tree.iterdir() if path.is_file()) == [
        "results.json",
        "scores.csv",
        "scores.parquet",
    ]


@pytest.mark.parametrize(
    ("writer", "name"), [("to_csv", "scores.csv"), ("to_json", "results.json"), ("to_parquet", "scores.parquet")]
)
def test_killed_while_it_writes(tree, writer, name):
    """The file that was there stays whole, byte for byte."""
    write(collect(tree), tree)
    before = (tree / name).read_bytes()
    write_result(tree / "2" / "metrics" / "mean" / "mig", "mig", {"discrete_mig": 0.5})
    script = f"""
import os, signal, sys
import pandas
from irs_plugin import results

whole = pandas.DataFrame.{writer}

def die_half_way(self, path, **options):
    whole(self, path, **options)
    os.truncate(path, os.path.getsize(path) // 2)
    os.kill(os.getpid(), signal.SIGKILL)

pandas.DataFrame.{writer} = die_half_way
results.write(results.collect(sys.argv[1]), sys.argv[1])
"""
    done = subprocess.run([sys.executable, "-c", script, str(tree)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tree / name).read_bytes() == before
    write(collect(tree), tree)
    assert (tree / name).read_bytes() != before


def test_a_writer_that_fails_leaves_the_old_file_and_no_draft(tree, monkeypatch):
    write(collect(tree), tree)
    before = {path.name: path.read_bytes() for path in tree.iterdir() if path.is_file()}

    def full(self, path, **options):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    with pytest.raises(OSError, match="No space left"):
        write(collect(tree), tree)
    assert {path.name: path.read_bytes() for path in tree.iterdir() if path.is_file()} == before


# Runs in a process of its own: gin's state and TensorFlow are the process's.
_DLIB = """
import os, sys
from irs_plugin.dlib import hook
hook.install()
import gin
import numpy as np
import pandas as pd
from disentanglement_lib.utils import aggregate_results, results

root, stock, ours = sys.argv[1:]
LONG = "a method whose name is so long that gin breaks the line on which it stands, = and all"

@gin.configurable
def model(name, random_seed, training_steps, model): pass
@gin.configurable
def my_vae(strength): pass
@gin.configurable
def dataset(name): pass
@gin.configurable
def postprocess(name, postprocess_fn): pass
@gin.configurable
def mean_representation(): pass
@gin.configurable
def evaluation(name, evaluation_fn, random_seed): pass
@gin.configurable
def mig(num_train): pass
@gin.configurable
def downstream_task(num_train): pass

def save(folder, step, result, old, called, bindings):
    gin.clear_config()
    gin.parse_config(bindings)
    for function in called:
        function()
    results.update_result_directory(os.path.join(folder, "results"), step, result, old and os.path.join(old, "results"))

for number in range(3):
    folder = os.path.join(root, str(number))
    trained, mean = os.path.join(folder, "model"), os.path.join(folder, "postprocessed", "mean")
    save(trained, "train", {"elbo": np.float32(-1.5)}, None, [model, my_vae, dataset], [
        f"model.name = {LONG!r}", f"model.random_seed = {number}", "model.training_steps = 10",
        "model.model = @my_vae", f"my_vae.strength = {number / 2}", "dataset.name = 'dummy_data'"])
    save(mean, "postprocess", {"elapsed_time": 0.5}, trained, [postprocess],
         ["postprocess.name = 'mean'", "postprocess.postprocess_fn = @mean_representation"])
    for name, function, result in (
        ("mig", mig, {"discrete_mig": np.float64(number / 3)}),
        ("downstream", downstream_task, {f"{size}:mean_test_accuracy": size / 100 for size in range(1, 41)}),
    ):
        value = 10000 if name == "mig" else list(range(1, 41))
        evaluated = os.path.join(folder, "metrics", "mean", name)
        save(evaluated, "evaluation", result, mean, [evaluation, function, dataset], [
            f"evaluation.name = {name!r}", f"evaluation.evaluation_fn = @{function.__name__}",
            "evaluation.random_seed = 0", f"{function.__name__}.num_train = {value}", "dataset.name = 'dummy_data'"])

if __name__ == "__main__":
    aggregate_results.aggregate_results_to_json(f"{root}/*/metrics/*/*/results/aggregate/evaluation.json", stock)
    from irs_plugin import results as room
    room.write(room.collect(root), ours)
    read = [aggregate_results.load_aggregated_json_results(path) for path in (stock, f"{ours}/results.json")]
    read = [frame.sort_values("path", ignore_index=True).sort_index(axis=1) for frame in read]
    assert len(read[0]) == 6 and read[0].shape[1] > 20
    pd.testing.assert_frame_equal(*read, check_exact=True)
"""


def test_a_tree_written_and_aggregated_by_dlib(tmp_path):
    """Results that dlib wrote are read, and results.json is what dlib makes of the same tree."""
    script = tmp_path / "write_with_dlib.py"
    script.write_text(_DLIB)
    places = [str(tmp_path / name) for name in ("tree", "stock.json", "ours")]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, str(script), *places], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]

    scores = read_scores(tmp_path / "ours" / "scores.csv")
    assert list(scores.model) == ["0", "0", "1", "1", "2", "2"]
    assert all(name.endswith("= and all") for name in scores.method), "gin wraps it, and dlib takes a backslash for it"
    assert set(scores.hyperparameter) == {"my_vae.strength"} and sorted(set(scores.value)) == [0.0, 0.5, 1.0]
    accuracies = scores[scores.evaluation == "downstream"]
    assert set(accuracies.score) == {0.4} and set(accuracies.sample_size) == {40}
    assert scores[scores.metric == "MIG"].score.to_list() == [0.0, 1 / 3, 2 / 3]
    assert set(scores.dataset) == {"dummy_data"} and set(scores.representation) == {"mean"}
