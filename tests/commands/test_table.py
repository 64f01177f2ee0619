"""The table of scores."""

from results.trees import by_method, seeded, write_flat, write_result

from irs_plugin.cli import main

OURS = {"IRS": 0.5, "chance.avg_score.mean": 0.125, "num_active_dims": 7}


def write(folder, model, function, name, returned, seed=0):
    write_result(folder, function, returned, name=name, training={"model.name": repr(model), **seeded(seed)})


def printed(folder, capsys):
    assert main(["table", str(folder)]) == 0
    return capsys.readouterr().out.splitlines()


def test_models_as_rows_metrics_as_columns(tmp_path, capsys):
    write(tmp_path / "a" / "mig", "vae", "mig", "mig", {"discrete_mig": 0.25})
    write(tmp_path / "a" / "irs", "vae", "interventional_robustness", "irs_chance", OURS)
    write(tmp_path / "b" / "mig", "factor_vae", "mig", "mig", {"discrete_mig": 0.75})
    names, headings, *rows = printed(tmp_path, capsys)
    assert names.split() == ["irs_chance"]
    assert headings.split() == ["IRS", "chance", "active", "MIG"]
    assert rows[0].split() == ["factor_vae,", "seed", "0", "–", "–", "–", "0.750"]
    assert rows[1].split() == ["vae,", "seed", "0", "0.500", "0.125", "7", "0.250"]


def test_presets_stand_side_by_side(tmp_path, capsys):
    for name, score in (("irs_paper", 0.5), ("irs_dlib", 0.75)):
        returned = {"IRS": score, "num_active_dims": 0 if name == "irs_paper" else 10, "dlib_IRS": 0.7}
        write(tmp_path / "a" / name, "vae", "interventional_robustness", name, returned)
    names, headings, row = printed(tmp_path, capsys)
    assert names.split() == ["irs_dlib", "irs_paper"]
    assert headings.split() == ["IRS", "active", "IRS", "active"]
    assert row.split() == ["vae,", "seed", "0", "0.750", "10", "0.500", "0"]


def test_scores_that_are_undefined_are_dashes(tmp_path, capsys):
    write(tmp_path / "a" / "mig", "vae", "mig", "mig", {"discrete_mig": None})
    write(tmp_path / "b" / "mig", "vae", "mig", "mig", {"discrete_mig": 0.5}, seed=1)
    _, first, second = printed(tmp_path, capsys)
    assert (first.split()[-1], second.split()[-1]) == ("–", "0.500")


def test_rows_are_told_apart_by_what_differs(tmp_path, capsys):
    for beta in (4.0, 16.0):
        for representation in ("mean", "sampled"):
            folder = tmp_path / f"beta{beta}" / "metrics" / representation / "mig"
            write_result(folder, "mig", {"discrete_mig": 0.5}, training=by_method("beta_vae", "vae", beta=beta))
    write(tmp_path / "alone" / "metrics" / "mean" / "mig", "vae", "mig", "mig", {"discrete_mig": 0.5})
    labels = [row.rpartition("  ")[0].strip() for row in printed(tmp_path, capsys)[1:]]
    assert labels == [
        "beta_vae, seed 0, vae.beta = 4, mean",
        "beta_vae, seed 0, vae.beta = 4, sampled",
        "beta_vae, seed 0, vae.beta = 16, mean",
        "beta_vae, seed 0, vae.beta = 16, sampled",
        "vae, seed 0",
    ]


def test_damaged_results_are_named(tmp_path, capsys):
    write(tmp_path / "a" / "mig", "vae", "mig", "mig", {"discrete_mig": 0.25})
    write_flat(tmp_path / "b" / "mig", {})
    assert main(["table", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert "0.250" in told.out and "passed over b/mig" in told.err


def test_pictures_only(tmp_path, capsys):
    write(tmp_path / "a" / "w", "vae", "witnesses", "witnesses", {"figures": ["a.png"]})
    assert main(["table", str(tmp_path)]) == 2
    assert "pictures" in capsys.readouterr().err


def test_nothing_there(tmp_path, capsys):
    assert main(["table", str(tmp_path)]) == 2
    assert "nothing below" in capsys.readouterr().err


def test_two_results_for_one_place(tmp_path, capsys):
    for folder in ("a", "b"):
        write(tmp_path / folder, "vae", "mig", "mig", {"discrete_mig": 0.25})
    assert main(["table", str(tmp_path)]) == 2
    assert "another 'MIG'" in capsys.readouterr().err
