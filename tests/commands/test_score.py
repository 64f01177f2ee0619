"""`irs_plugin score`: files of every kind, every option, and what it says when they are wrong."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas
import pytest

import irs_plugin
from irs_plugin.cli import main

rng = np.random.default_rng(0)
FACTORS = np.column_stack([rng.integers(0, size, 600) for size in (3, 4, 5)])
CODES = np.column_stack([FACTORS[:, 0] + 0.1 * FACTORS[:, 1], FACTORS[:, 1] + rng.normal(0, 0.3, 600)])
NAMES = ["shape", "scale", "x"]


@pytest.fixture
def files(tmp_path):
    """The same problem in every format; returns the directory."""
    np.save(tmp_path / "g.npy", FACTORS)
    np.save(tmp_path / "z.npy", CODES)
    np.savez(tmp_path / "both.npz", ys=FACTORS, mus=CODES)
    np.savez(tmp_path / "dlib.npz", ys=FACTORS.T, mus=CODES.T)
    np.savetxt(tmp_path / "g.csv", FACTORS, delimiter=",", fmt="%d")
    pandas.DataFrame(CODES, columns=["a", "b"]).to_csv(tmp_path / "z.csv", index=False)
    table = pandas.DataFrame(np.column_stack([FACTORS, CODES]), columns=[*NAMES, "a", "b"])
    table["colour"] = np.array(["red", "blue", "green"])[FACTORS[:, 0]]
    table.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path


def score(files, capsys, factors, codes, *options):
    """Run the command in this process; return what it wrote as JSON."""
    status = main(["score", str(files / factors), str(files / codes), "--no-progress", "--json", *options])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return json.loads(captured.out)


def refused(files, capsys, *arguments):
    """Run the command on bad input; return the one sentence that it says."""
    paths = [str(files / name) for name in arguments[:2]]
    status = main(["score", *paths, *arguments[2:]])
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    assert captured.err.startswith("irs_plugin score: ")
    assert captured.err.count("\n") == 1
    return captured.err


def matrix(report):
    return np.array(report["result"]["irs_matrix"], dtype=float)


@pytest.mark.parametrize(
    ("factors", "codes", "options"),
    [
        ("g.npy", "z.npy", []),
        ("g.csv", "z.csv", []),
        ("both.npz", "both.npz", ["--factors-key", "ys", "--codes-key", "mus"]),
        ("dlib.npz", "dlib.npz", ["--factors-key", "ys", "--codes-key", "mus", "--transpose", "both"]),
        ("table.csv", "table.csv", ["--factor-columns", "shape,scale,x", "--code-columns", "a,4"]),
        ("table.csv", "z.npy", ["--factor-columns", "colour,scale,x"]),
    ],
)
def test_every_format_gives_the_score_of_the_arrays(files, capsys, factors, codes, options):
    report = score(files, capsys, factors, codes, *options)
    np.testing.assert_allclose(matrix(report), irs_plugin.disentanglement_score(FACTORS, CODES).irs_matrix, atol=1e-12)


def test_parquet(files, capsys):
    # A pyarrow that does not go with the NumPy at hand raises ImportError itself.
    pytest.importorskip("pyarrow", exc_type=ImportError)
    pandas.DataFrame(FACTORS, columns=NAMES).to_parquet(files / "g.parquet")
    report = score(files, capsys, "g.parquet", "z.npy")
    assert report["factor_names"] == NAMES
    np.testing.assert_allclose(matrix(report), irs_plugin.disentanglement_score(FACTORS, CODES).irs_matrix, atol=1e-12)


def test_parquet_without_pyarrow(files, capsys, monkeypatch):
    def fail(path):
        raise ImportError("Unable to find a usable engine")

    (files / "g.parquet").write_bytes(b"")
    monkeypatch.setattr(pandas, "read_parquet", fail)
    assert "needs pyarrow: pip install pyarrow" in refused(files, capsys, "g.parquet", "z.npy")


def test_names_come_from_the_file_or_the_user(files, capsys):
    report = score(files, capsys, "table.csv", "z.csv", "--factor-columns", "colour,x")
    assert (report["factor_names"], report["latent_names"]) == (["colour", "x"], ["a", "b"])
    assert report["factor_texts"] == {"colour": ["blue", "green", "red"]}
    renamed = score(files, capsys, "g.npy", "z.npy", "--factor-names", "p, q, r", "--latent-names", "u,v")
    assert (renamed["factor_names"], renamed["latent_names"]) == (["p", "q", "r"], ["u", "v"])
    assert score(files, capsys, "g.npy", "z.npy")["factor_names"] == ["g0", "g1", "g2"]


def test_header_can_be_denied_and_insisted_on(files, capsys):
    (files / "text.csv").write_text("\n".join(np.array(["red", "blue", "green"])[FACTORS[:, 0]]) + "\n")
    assert "600" in refused(files, capsys, "text.csv", "z.npy")
    extra = np.column_stack([FACTORS[:, 1:], np.zeros(600, int)])
    np.save(files / "rest.npy", extra)
    report = score(files, capsys, "text.csv", "z.npy", "--no-header", "-S", "g0")
    assert report["result"]["groups"][0]["num_samples"] == 600


def test_options_reach_the_score(files, capsys):
    options = {
        "diff_quantile": 0.9,
        "normalizer_quantile": 0.95,
        "factor_weights": "uniform",
        "replicates": "mean",
        "expectation": "trimmed_mean",
        "trim": 0.2,
        "adjustment": "counts",
        "inactive_tolerance": 1e-3,
    }
    flags = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    report = score(files, capsys, "g.npy", "z.npy", *flags)
    expected = irs_plugin.disentanglement_score(FACTORS, CODES, **options)
    np.testing.assert_allclose(matrix(report), expected.irs_matrix, atol=1e-12)
    assert not np.allclose(matrix(report), irs_plugin.disentanglement_score(FACTORS, CODES).irs_matrix)


def test_presets(files, capsys):
    paper = score(files, capsys, "g.npy", "z.npy", "--preset", "paper")
    np.testing.assert_array_equal(matrix(paper), matrix(score(files, capsys, "g.npy", "z.npy")))
    many = np.column_stack([FACTORS, np.arange(600) % 40])
    np.save(files / "many.npy", many)
    dlib = score(files, capsys, "many.npy", "z.npy", "--preset", "dlib")
    binned = np.column_stack([FACTORS, np.minimum(many[:, 3] * 20 // 39, 19)])
    expected = irs_plugin.disentanglement_score(binned, CODES, diff_quantile=0.99, factor_weights="uniform")
    np.testing.assert_allclose(matrix(dlib), expected.irs_matrix, atol=1e-12)
    assert dlib["discretisation"]["num_merged"] == [0, 0, 0, 20]
    own = score(files, capsys, "many.npy", "z.npy", "--preset", "dlib", "--diff-quantile", "1")
    assert own["result"]["settings"]["diff_quantile"] == 1.0


def test_continuous_factors_are_binned_on_request(files, capsys):
    np.save(files / "real.npy", np.column_stack([FACTORS[:, 0], FACTORS[:, 1] + rng.uniform(0, 0.5, 600)]))
    assert "--discretise auto" in refused(files, capsys, "real.npy", "z.npy")
    report = score(files, capsys, "real.npy", "z.npy", "--discretise", "auto", "--bins", "8")
    assert report["discretisation"]["binned"] == [1]
    assert report["discretisation"]["values_before"][1] == 600
    assert score(files, capsys, "g.npy", "z.npy", "--discretise", "g2", "--bins", "2")["discretisation"]["binned"] == [
        2
    ]


def test_groups(files, capsys):
    report = score(files, capsys, "g.npy", "z.npy", "-L", "z0,z1", "-I", "g0", "-J", "1,2", "--distance", "l1")
    expected = irs_plugin.interventional_robustness(
        FACTORS, CODES, latent_dims=[0, 1], fixed_factors=[0], intervened_factors=[1, 2], distance="l1"
    )
    (group,) = report["result"]["groups"]
    assert group["irs"] == pytest.approx(expected.irs, abs=1e-12)
    assert group["settings"]["distance"] == "l1"


def test_groups_are_by_default_every_latent_by_itself_and_nothing_fixed(files, capsys):
    report = score(files, capsys, "g.npy", "z.npy", "-J", "all", "-I", "")
    assert [group["settings"]["latent_dims"] for group in report["result"]["groups"]] == [[0], [1]]
    assert [group["irs"] for group in report["result"]["groups"]] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_shifted_factors(files, capsys):
    report = score(files, capsys, "table.csv", "z.npy", "--factor-columns", "0,1,2", "--shifted-factors", "scale")
    expected = [
        irs_plugin.domain_shift_robustness(FACTORS, CODES, latent_dims=[latent], shifted_factors=[1]).irs
        for latent in (0, 1)
    ]
    assert [group["irs"] for group in report["result"]["groups"]] == pytest.approx(expected, abs=1e-12)


def test_confounder_from_a_file_or_a_column(files, capsys):
    confounder = np.random.default_rng(1).integers(0, 2, 600)
    np.save(files / "c.npy", confounder)
    expected = irs_plugin.disentanglement_score(FACTORS, CODES, adjustment="confounder", confounder=confounder)
    report = score(files, capsys, "g.npy", "z.npy", "--confounder", str(files / "c.npy"), "--chance", "3")
    np.testing.assert_allclose(matrix(report), expected.irs_matrix, atol=1e-12)
    assert report["chance"]["num_permutations"] == 3
    pandas.DataFrame(np.column_stack([FACTORS, confounder]), columns=[*NAMES, "site"]).to_csv(
        files / "sited.csv", index=False
    )
    column = score(files, capsys, "sited.csv", "z.npy", "--confounder-columns", "site", "--repeats", "2")
    np.testing.assert_allclose(matrix(column), expected.irs_matrix, atol=1e-12)
    assert column["factor_names"] == NAMES
    assert column["confounder_names"] == ["site"]


@pytest.mark.parametrize("classifier", ["logistic_regression", "random_forest", "gradient_boosting", "naive_bayes"])
def test_classifiers(files, capsys, classifier):
    flags = ["-J", "1", "-I", "0", "-L", "0", "--adjustment", "propensity", "--num-folds", "2"]
    report = score(files, capsys, "g.npy", "z.npy", *flags, "--classifier", classifier)
    assert 0.5 < report["result"]["groups"][0]["irs"] <= 1.0


def test_chance_and_repeats(files, capsys):
    report = score(files, capsys, "g.npy", "z.npy", "--chance", "5", "--repeats", "3", "--subsample", "200")
    chance = irs_plugin.chance_level(FACTORS, CODES, num_permutations=5, progress=False)
    assert report["chance"]["irs_matrix"]["mean"] == pytest.approx(chance["irs_matrix"].mean)
    repeats = irs_plugin.subsampled_scores(FACTORS, CODES, num_repeats=3, subsample_size=200, progress=False)
    assert report["repeats"]["avg_score"]["sd"] == pytest.approx(float(repeats["avg_score"].sd))
    other = score(files, capsys, "g.npy", "z.npy", "--chance", "5", "--seed", "9")
    assert other["chance"]["avg_score"]["mean"] != report["chance"]["avg_score"]["mean"]


def test_table(files, capsys):
    arguments = ["--chance", "5", "--repeats", "2", "--no-progress", "--factor-names", ",".join(NAMES)]
    assert main(["score", str(files / "g.npy"), str(files / "z.npy"), *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["latent", *NAMES, "parent", "score", "chance", "corrected", "p", "subsets", "sd"]
    result = irs_plugin.disentanglement_score(FACTORS, CODES)
    chance = irs_plugin.chance_level(FACTORS, CODES, num_permutations=5, progress=False)["disentanglement_scores"]
    first = lines[1].split()
    assert first[:6] == [
        "z0",
        *(f"{entry:.4f}" for entry in result.irs_matrix[0]),
        "shape",
        f"{chance.observed[0]:.4f}",
    ]
    assert first[6:8] == [f"{chance.mean[0]:.4f}", f"{chance.corrected[0]:.4f}"]
    text = "\n".join(lines)
    assert f"IRS {result.avg_score:.4f}" in text
    assert "600 samples" in text
    assert "without replacement" in text


def test_table_of_groups_and_of_collapsed_latents(files, capsys):
    assert (
        main(["score", str(files / "g.npy"), str(files / "z.npy"), "-S", "g1", "--chance", "3", "--no-progress"]) == 0
    )
    text = capsys.readouterr().out
    assert text.splitlines()[0].split() == ["latents", "IRS", "EMPIDA", "normaliser", "chance", "corrected", "p"]
    assert "intervened factors g1" in text
    np.save(files / "flat.npy", np.full((600, 2), 0.1, np.float32))
    assert main(["score", str(files / "g.npy"), str(files / "flat.npy")]) == 0
    text = capsys.readouterr().out
    assert "inactive" in text
    assert "collapsed" in text
    assert "0 of 2 latents active" in text


def test_json_file_is_written_beside_the_table(files, capsys):
    target = files / "result.json"
    assert main(["score", str(files / "g.npy"), str(files / "z.npy"), "--json", str(target)]) == 0
    assert "latent" in capsys.readouterr().out
    assert json.loads(target.read_text())["score"] == "disentanglement"
    assert sorted(path.name for path in files.glob("*result*")) == ["result.json"]


def test_json_file_survives_an_error(files, capsys, monkeypatch):
    target = files / "result.json"
    target.write_text("precious")
    refused(files, capsys, "g.npy", "z.npy", "--json", str(target), "--diff-quantile", "2")
    assert target.read_text() == "precious"

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    assert main(["score", str(files / "g.npy"), str(files / "z.npy"), "--json", str(target)]) == 130
    assert target.read_text() == "precious"
    assert sorted(path.name for path in files.glob("*result*")) == ["result.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.npy", "z.npy"], "there is no file"),
        (["g.txt", "z.npy"], "is none of .npz, .npy, .csv, .parquet"),
        (["both.npz", "z.npy"], "holds the arrays ys, mus; choose one by its key (--factors-key)"),
        (["both.npz", "z.npy", "--factors-key", "gs"], "none is called 'gs'"),
        (["g.npy", "z.npy", "--factors-key", "ys"], "chooses an array of an npz file"),
        (["broken.npy", "z.npy"], "cannot be read as a NumPy array"),
        (["pickled.npy", "z.npy"], "cannot be read as a NumPy array"),
        (["ragged.csv", "z.npy"], "cannot be read as a csv table"),
        (["empty.csv", "z.npy"], "cannot be read as a csv table"),
        (["broken.npz", "z.npy"], "cannot be read as a NumPy array"),
        (["cube.npy", "z.npy"], "an array of shape (2, 2, 2)"),
        (["gt.npy", "zt.npy"], "disentanglement_lib's layout (dimensions, samples)"),
        (["g.npy", "zt.npy"], "add --transpose codes"),
        (["gt.npy", "z.npy"], "add --transpose factors"),
        (["g.csv", "z.npy", "--transpose", "both"], "only npz and npy files can be read transposed"),
        (["short.npy", "z.npy"], "FACTORS has shape (599, 3) and CODES (600, 2)"),
        (["g.npy", "nan.npy"], "latents must be finite; latents[3, 1] is nan"),
        (["g.npy", "table.csv"], "column 'colour'"),
        (["g.npy", "z.npy", "-S", "g7"], "there is no factor 'g7'; there are g0, g1, g2"),
        (["g.npy", "z.npy", "-S", "g0", "-L", "z9"], "there is no latent 'z9'"),
        (["g.npy", "z.npy", "--factor-columns", "3"], "there is no column '3'"),
        (["g.npy", "z.npy", "--factor-names", "a,b"], "3 different names are needed"),
        (["g.npy", "z.npy", "-I", "0"], "groups need --intervened-factors"),
        (["g.npy", "z.npy", "-I", "0", "-J", "0"], "share [0]"),
        (["g.npy", "z.npy", "-S", "0", "-J", "1"], "leave out --fixed-factors"),
        (["g.npy", "z.npy", "-S", "0", "--preset", "dlib"], "leave out --shifted-factors"),
        (["g.npy", "z.npy", "-J", "0", "-L", ""], "latent_dims is empty"),
        (["g.npy", "z.npy", "--distance", "l1"], "--distance is for groups"),
        (["g.npy", "z.npy", "--diff-quantile", "1.5"], "diff_quantile must be a number in [0, 1]; got 1.5"),
        (["g.npy", "z.npy", "--adjustment", "confounder"], "confounder"),
        (["g.npy", "z.npy", "--bins", "5"], "--bins does nothing without --discretise"),
        (["g.npy", "z.npy", "--subsample", "5"], "--subsample does nothing without --repeats"),
        (["g.npy", "z.npy", "--chance", "1"], "--chance must be an integer of at least 2; got 1"),
        (["g.npy", "z.npy", "--json", "no/such/place.json"], "there is no directory"),
    ],
)
def test_bad_input(files, capsys, arguments, message):
    (files / "g.txt").write_text("1 2\n")
    (files / "broken.npy").write_bytes(b"\x93NUMPY\x01\x00")
    (files / "broken.npz").write_bytes(b"PK\x03\x04nonsense")
    (files / "ragged.csv").write_text("1,2\n1,2,3\n")
    (files / "empty.csv").write_text("")
    np.save(files / "pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(files / "cube.npy", np.zeros((2, 2, 2)))
    np.save(files / "gt.npy", FACTORS.T)
    np.save(files / "zt.npy", CODES.T)
    np.save(files / "short.npy", FACTORS[:-1])
    spoilt = CODES.copy()
    spoilt[3, 1] = np.nan
    np.save(files / "nan.npy", spoilt)
    assert message in refused(files, capsys, *arguments)


def test_as_a_program_without_the_deep_learning_stack(files):
    program = (
        "import sys; from irs_plugin.cli import main\n"
        "status = main(sys.argv[1:])\n"
        "heavy = {'tensorflow', 'gin', 'disentanglement_lib', 'torch'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)\n"
        "sys.exit(status or bool(heavy))\n"
    )
    arguments = ["score", "g.csv", "z.csv", "--json", "out.json", "--chance", "2", "--repeats", "2", "-S", "0"]
    arguments += ["--adjustment", "propensity", "--classifier", "naive_bayes", "--discretise", "all"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=files, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "[]"
    assert done.stdout.startswith("latents")
    assert json.loads((files / "out.json").read_text())["score"] == "domain shift"
    wrong = subprocess.run(
        [sys.executable, "-m", "irs_plugin.cli", "score", "g.csv", "nowhere.csv"],
        cwd=files,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert wrong.returncode == 2
    assert wrong.stderr == "irs_plugin score: there is no file nowhere.csv\n"
