import os
import shutil
import warnings

import numpy as np
import pytest
from report.study_tree import METHODS, collapse, fail, result_file, write_study

# Evaluations, where there need not be many.
FEW = ("dci", "mig", "unsupervised")
# Letters and signs that mean something to HTML, to matplotlib or to nobody.
HOSTILE = ("<script>alert(1)</script>", r"$\alpha_{$", "a & b < c", "naïve Ωモデル " + "very_" * 30 + "long")


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """Fourteen models; 3 has collapsed, 5 failed at DCI, 9 in training; a result of 6 is damaged."""
    root = tmp_path_factory.mktemp("study")
    write_study(root)
    collapse(root, "3")
    fail(root, "5", "metrics/mean/dci")
    for part in ("model", "metrics", "postprocessed"):
        shutil.rmtree(root / "9" / part)
    fail(root, "9", "train", "FloatingPointError: the loss is <not> a number")
    result_file(root, "6", "mig").write_text('{"broken', encoding="utf-8")
    draw_pictures(root, "0")
    return root


@pytest.fixture(scope="session")
def collection(study):
    from irs_plugin.results import collect

    return collect(study)


@pytest.fixture
def small_study(tmp_path):
    """Four models and few metrics, with pictures of two models."""
    write_study(tmp_path / "study", methods=METHODS[:2], evaluations=FEW)
    for model in ("0", "3"):
        draw_pictures(tmp_path / "study", model)
    return tmp_path / "study"


@pytest.fixture(scope="session")
def report(collection, tmp_path_factory):
    from irs_plugin.report.page import write_report

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return write_report(collection, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory):
    """Two data sets and representations; methods with names that must not be taken for anything else."""
    from irs_plugin.report.page import write_report
    from irs_plugin.results import collect

    root = tmp_path_factory.mktemp("hostile")
    methods = [(name, "@vae()", "vae.beta", (1.0, 4.0)) for name in HOSTILE]
    write_study(root / "a", methods=methods, seeds=3, representations=("mean", "sampled"), evaluations=FEW)
    write_study(root / "b", methods=METHODS[:2], dataset="cars3d", first=100, evaluations=FEW)
    fail(root / "a", "1", "metrics/mean/dci", "<img src=x onerror=alert(2)>", "<b>traceback</b>")
    (root / "a" / "2").rename(root / "a" / "<b>$x^2$ & 'co'")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return write_report(collect(root), tmp_path_factory.mktemp("hostile_report"))


def draw_pictures(root, model):
    """A plot with transparency, a photograph, an animation and a file that is none of these."""
    from PIL import Image

    shown = np.random.RandomState(0).randint(0, 255, (40, 60, 3), dtype=np.uint8)
    artifacts = root / model / "postprocessed/mean/artifacts/interventional_effects"
    visualizations = root / model / "visualizations/reconstructions"
    artifacts.mkdir(parents=True)
    visualizations.mkdir(parents=True)
    Image.new("RGBA", (2000, 1000), (0, 0, 0, 0)).save(artifacts / "effects.png")
    Image.fromarray(shown).save(visualizations / "reconstructions.jpg")
    frames = [Image.new("RGB", (30, 20), colour) for colour in ("red", "lime", "blue")]
    frames[0].save(visualizations / "animated.gif", save_all=True, append_images=frames[1:])
    (visualizations / "damaged.png").write_bytes(b"no picture")


@pytest.fixture(scope="session")
def browser():
    """Chromium, driven by playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
    if path is None:
        assert not os.environ.get("CI"), "continuous integration has a browser"
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
