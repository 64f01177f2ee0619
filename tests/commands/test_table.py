"""The table of scores."""

import json

from irs_plugin.cli import main


def write(folder, model, function, name, results, seed=0):
    path = folder / "results" / "aggregate" / "evaluation.json"
    path.parent.mkdir(parents=True)
    settings = {
        "train_config.model.name": f"'{model}'",
        "train_config.model.random_seed": str(seed),
        "evaluation_config.evaluation.evaluation_fn": f"@{function}",
        "evaluation_config.evaluation.name": f"'{name}'",
    }
    path.write_text(json.dumps({**settings, **{f"evaluation_results.{key}": value for key, value in results.items()}}))


def test_models_as_rows_metrics_as_columns(tmp_path, capsys):
    write(tmp_path / "a" / "mig", "vae", "mig", "mig", {"discrete_mig": 0.25})
    ours = {"IRS": 0.5, "chance.avg_score.mean": 0.125, "num_active_dims": 7}
    write(tmp_path / "a" / "irs", "vae", "interventional_robustness", "irs_chance", ours)
    write(tmp_path / "b" / "mig", "factor_vae", "mig", "mig", {"discrete_mig": 0.75})
    assert main(["table", str(tmp_path)]) == 0
    names, headings, *rows = capsys.readouterr().out.splitlines()
    assert names.split() == ["irs_chance"]
    assert headings.split() == ["IRS", "chance", "active", "MIG"]
    assert rows[0].split() == ["factor_vae,", "seed", "0", "–", "–", "–", "0.750"]
    assert rows[1].split() == ["vae,", "seed", "0", "0.500", "0.125", "7", "0.250"]


def test_nothing_there(tmp_path, capsys):
    assert main(["table", str(tmp_path)]) == 2
    assert "nothing below" in capsys.readouterr().err


def test_two_results_for_one_place(tmp_path, capsys):
    for folder in ("a", "b"):
        write(tmp_path / folder, "vae", "mig", "mig", {"discrete_mig": 0.25})
    assert main(["table", str(tmp_path)]) == 2
    assert "another 'MIG'" in capsys.readouterr().err
