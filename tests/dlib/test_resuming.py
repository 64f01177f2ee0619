"""Training that is killed and resumed ends bit for bit like training that was never interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from trainings import METHODS

from irs_plugin.dlib.resuming import resumable_training
from irs_plugin.dlib.snapshots import Snapshots
from irs_plugin.dlib.training_input import TrainingInput

SIGKILL, SIGTERM, SIGINT = int(signal.SIGKILL), int(signal.SIGTERM), int(signal.SIGINT)


def write(folder, number):
    Snapshots(folder).write(number, {"number": number}, lambda path: (path / "data").write_bytes(bytes([number]) * 99))


def latest(folder):
    """The number of the latest snapshot, whose content must be right, or None."""
    found = Snapshots(folder).latest()
    if found is None:
        return None
    path, state = found
    assert (path / "data").read_bytes() == bytes([state["number"]]) * 99
    return state["number"]


def test_the_latest_snapshot_counts_and_the_one_before_is_kept(tmp_path):
    assert latest(tmp_path) is None
    for number in (1, 2, 10, 11):
        write(tmp_path, number)
        assert latest(tmp_path) == number
    assert sorted(int(path.name.rpartition("-")[2]) for path in tmp_path.iterdir()) == [10, 11]


@pytest.mark.parametrize("name", ["data", "state.json", "SHA256SUMS"])
@pytest.mark.parametrize("damage", ["truncated", "changed", "missing"])
def test_a_damaged_snapshot_is_discarded(tmp_path, name, damage):
    write(tmp_path, 1)
    write(tmp_path, 2)
    (file,) = tmp_path.glob(f"*2/{name}")
    content = file.read_bytes()
    file.unlink()
    if damage != "missing":
        file.write_bytes(content[:-20] if damage == "truncated" else b"?" + content[1:])
    with pytest.warns(UserWarning, match="2 is damaged and is removed"):
        assert latest(tmp_path) == 1
    write(tmp_path, 2)
    assert latest(tmp_path) == 2


def run_script(script, folder):
    """What a script that kills forks of itself prints last."""
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-W", "error::UserWarning", "-c", script, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.lower())


KILL_AT_EVERY_LINE = """
import os, signal, sys
os.fsync = lambda descriptor: None  # is for when the machine goes down
from pathlib import Path
from test_resuming import latest, write

def kill_at(line):
    seen = 0
    def trace(frame, event, argument):
        nonlocal seen
        if not frame.f_code.co_filename.endswith(("snapshots.py", "shutil.py")):
            return None
        seen += event == "line"
        if seen == line:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace
    sys.settrace(trace)

found, line = [], 0
while True:
    line += 1
    folder = Path(sys.argv[1]) / str(line)
    folder.mkdir()
    for number in (1, 2):
        write(folder, number)
    child = os.fork()
    if not child:
        kill_at(line)
        write(folder, 3)
        sys.settrace(None)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    found.append(latest(folder))
    write(folder, 4)
    assert latest(folder) == 4
    assert len(list(folder.iterdir())) == 2, list(folder.iterdir())
    if status == 0:
        break
    assert status == signal.SIGKILL
print(found)
"""


def test_a_kill_at_any_line_leaves_a_whole_snapshot(tmp_path):
    found = run_script(KILL_AT_EVERY_LINE, tmp_path)
    assert len(found) > 60
    assert set(found) == {2, 3}
    assert found == sorted(found)


KILL_AT_EVERY_REMOVAL = """
import os, signal, sys
os.fsync = lambda descriptor: None  # is for when the machine goes down
from pathlib import Path
from irs_plugin.dlib import resuming
from test_resuming import write

def remove(folder, number):
    removed = 0
    def deadly(original):
        def remove(*arguments, **keywords):
            nonlocal removed
            original(*arguments, **keywords)
            removed += 1
            if removed == number:
                os.kill(os.getpid(), signal.SIGKILL)
        return remove
    with resuming.resumable_training(folder):
        resumption = resuming.current()
        resumption.checkpoints.mkdir()
        (resumption.checkpoints / "checkpoint").write_text("")
        for number_of_snapshot in (1, 2):
            write(folder, number_of_snapshot)
        resumption.finished = True
        os.unlink, os.rmdir = map(deadly, (os.unlink, os.rmdir))

found, number, status = [], 0, None
while status != 0:
    number += 1
    folder = Path(sys.argv[1]) / str(number)
    child = os.fork()
    if not child:
        remove(folder, number)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status == 0:
        assert not folder.exists()
        break
    with resuming.resumable_training(folder):
        latest = resuming.current().snapshots.latest()
    found.append(latest is not None)
print(found)
"""


def test_a_kill_while_a_finished_training_is_removed_leaves_what_can_be_taken_up(tmp_path):
    found = run_script(KILL_AT_EVERY_REMOVAL, tmp_path)
    assert len(found) > 8
    # The latest snapshot is there as long as an older one is.
    assert set(found) == {True, False}
    assert found == sorted(found, reverse=True)


class Data:
    """Needs one draw or two for an observation, so that no count of draws tells where the random state stands."""

    observation_shape, factors_num_values = [1], [5]

    def sample_observations(self, num, random_state):
        return random_state.randint(10**6, size=(num, 1)) + random_state.randint(2) * random_state.randn(num, 1)


def take(batches, number):
    return np.concatenate([next(batches) for _ in range(number)])


def test_data_go_on_where_the_used_batches_ended_however_many_were_drawn():
    whole = TrainingInput(Data(), 0, batch_size=4)
    drawn = take(whole.batches(), 10)
    for batches in range(1, 7):
        whole.used(batches)
    state = json.loads(json.dumps(whole.state_after(6)))
    rest = TrainingInput(Data(), 0, batch_size=4)
    rest.start_after(6, state)
    assert rest.state_after(6) == state
    np.testing.assert_array_equal(take(rest.batches(), 4), drawn[24:])
    assert rest.state_after(10) == whole.state_after(10)
    with pytest.raises(KeyError):
        whole.state_after(5)


def test_a_folder_that_is_not_for_this_training_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")
    with pytest.raises(ValueError, match="mine holds other files"), resumable_training(tmp_path / "mine"):
        pass
    assert (tmp_path / "mine" / "thesis.txt").exists()
    with (
        resumable_training(tmp_path / "shared"),
        pytest.raises(ValueError, match=r"another process trains with .*shared"),
        resumable_training(tmp_path / "shared"),
    ):
        pass
    assert (tmp_path / "shared").exists()


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    """Have models trained by processes of their own: see ``trainings``. Returns the signal that ended it, and more."""
    pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("trainings")
    answer, log = folder / "answer.json", folder / "log.txt"
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_NUM_INTRAOP_THREADS": "1",
        "TF_NUM_INTEROP_THREADS": "1",
    }
    command = [sys.executable, str(Path(__file__).with_name("trainings.py")), str(answer)]
    with (
        open(log, "w", encoding="utf-8") as errors,
        subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):

        def do(what="train", error=None, **request):
            request = {key: str(value) if isinstance(value, Path) else value for key, value in request.items()}
            print(json.dumps({"do": what, **request}), file=process.stdin, flush=True)
            ended_by = int(process.stdout.readline())
            result = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else {}
            if ended_by == 0 and error is None:
                assert "error" not in result, log.read_text(encoding="utf-8")[-3000:]
            return (ended_by, result)

        yield do
        process.stdin.close()


@pytest.fixture(scope="module")
def whole(train, tmp_path_factory):
    """What a method's training leaves when it is not interrupted, and not resumable either."""
    known = {}

    def contents(method):
        if method not in known:
            path = tmp_path_factory.mktemp(method) / "model"
            train(method=method, model_dir=path)
            known[method] = train("contents", model_dir=path)[1]
        return known[method]

    return contents


@pytest.fixture
def places(tmp_path):
    return {"model_dir": tmp_path / "model", "folder": tmp_path / "training"}


def assert_same(train, places, expected):
    """The model is what it would have been without interruption, and nothing else is left."""
    assert train("contents", model_dir=places["model_dir"])[1] == expected
    assert not places["folder"].exists()


def latest_number(folder):
    return max((int(path.name.rpartition("-")[2]) for path in folder.glob("snapshot-*")), default=None)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ends_as_if_it_had_not_been_killed(train, whole, places, method):
    step = 2 if method == "factor_vae" else 1
    assert train(method=method, **places, every=0.0, signals=[[4, SIGKILL]]) == (SIGKILL, {})
    assert not places["model_dir"].exists()
    assert train(method=method, **places) == (0, [3 * step, 8])
    assert_same(train, places, whole(method))


def test_without_interruption_and_killed_before_the_first_snapshot(train, whole, places):
    assert train(method="vae", **places, signals=[[3, SIGKILL]])[0] == SIGKILL
    assert train(method="vae", **places) == (0, [0, 8])
    assert_same(train, places, whole("vae"))


def test_killed_again_and_again_while_snapshots_are_written_and_after_training(train, whole, places):
    found = []
    for place in ("variables", "checksums", "named", "removal", "export", None):
        ended_by, told = train(method="vae", **places, every=0.0, kill_in=place)
        assert ended_by == (SIGKILL if place else 0)
        found.append(latest_number(places["folder"]))
    # Nothing that was there is lost, and nothing is left in the end.
    assert found[0] == 1
    assert found[:-1] == sorted(found[:-1])
    assert found[-2:] == [8, None]
    assert told == [8, 8]
    assert_same(train, places, whole("vae"))


def test_terminated_it_takes_a_snapshot_first(train, whole, places):
    assert train(method="vae", **places, signals=[[3, SIGTERM]])[0] == SIGTERM
    ended_by, result = train(method="vae", **places, signals=[[3, SIGINT]], error="KeyboardInterrupt")
    assert (ended_by, result["error"]) == (0, "KeyboardInterrupt: ")
    assert train(method="vae", **places, signals=[[2, SIGTERM]], handler=True) == (0, [6, 8, "SIGTERM"])
    assert_same(train, places, whole("vae"))


def test_damaged_snapshots_cost_what_they_held(train, whole, places):
    assert train(method="vae", **places, every=0.0, signals=[[5, SIGKILL]])[0] == SIGKILL
    (damaged,) = places["folder"].glob("*4/variables.data*")
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    assert train(method="vae", **places, signals=[[1, SIGKILL]])[0] == SIGKILL
    assert [path.name[-1] for path in places["folder"].glob("snapshot-*")] == ["3"]
    (damaged,) = places["folder"].glob("*3/state.json")
    damaged.write_text("{}")
    assert train(method="vae", **places) == (0, [0, 8])
    assert_same(train, places, whole("vae"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bindings": {"vae.beta": "8.0"}}, r"bindings \(snapshot: \['vae.beta = 4.0'\]; now: \['vae.beta = 8.0'\]\)"),
        ({"bindings": {"model.random_seed": "4"}}, r"data \(snapshot: DummyData .* seed \d+; now"),
        ({"bindings": {"model.training_steps": "9"}}, r"last step \(snapshot: 8; now: 9\)"),
        ({"method": "beta_tc_vae"}, r"model \("),
        ({"environment": {"TF_NUM_INTRAOP_THREADS": "2"}}, r"threads \(snapshot: {'INTRAOP': '1'}; now: {'INTRAOP'"),
    ],
)
def test_a_snapshot_of_another_training_is_refused(train, refused, changed, message):
    _, result = train(**{"method": "vae", **refused, **changed}, error=ValueError)
    assert result["error"].startswith("ValueError: ")
    assert re.search(message, result["error"]), result["error"]
    assert result["error"].partition("\n")[0].endswith("delete the folder to start over")
    assert list(refused["folder"].glob("snapshot-*2"))


@pytest.fixture(scope="module")
def refused(train, tmp_path_factory):
    """A folder that holds snapshots of a plain VAE."""
    folder = tmp_path_factory.mktemp("refused")
    places = {"model_dir": folder / "model", "folder": folder / "training"}
    train(method="vae", **places, every=0.0, signals=[[3, SIGKILL]])
    return places
