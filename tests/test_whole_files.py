"""Files that are there whole or not at all."""

import json
import os

import pytest

from irs_plugin.whole_files import whole_file, write_json


def test_it_takes_its_name_at_the_end_and_is_on_the_disk_by_then(tmp_path, monkeypatch):
    path, events = tmp_path / "result.txt", []
    path.write_text("old")
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: events.append("fsync") or fsync(descriptor))
    monkeypatch.setattr(os, "replace", lambda *paths: events.append("replace") or replace(*paths))
    with whole_file(str(path)) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
        assert draft.parent == tmp_path
    assert events == ["fsync", "replace"]
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_all_is_as_it_was(tmp_path, error):
    path = tmp_path / "result.txt"
    path.write_text("old")
    with pytest.raises(error), whole_file(path) as draft:
        draft.write_text("half of")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_json_without_nan(tmp_path):
    path = tmp_path / "result.json"
    write_json(path, {"IRS": 0.5})
    assert json.loads(path.read_text()) == {"IRS": 0.5}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"IRS": float("nan")})
    assert json.loads(path.read_text()) == {"IRS": 0.5}


def test_others_may_read_it_as_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        write_json(tmp_path / "result.json", 1)
    finally:
        os.umask(before)
    assert (tmp_path / "result.json").stat().st_mode & 0o777 == 0o640
