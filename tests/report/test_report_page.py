import base64
import html
import io
import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from PIL import Image
from report.conftest import HOSTILE
from report.study_tree import fail, write_study

from irs_plugin.report import page
from irs_plugin.report.page import write_report
from irs_plugin.results import collect


class Elements(HTMLParser):
    """All start tags with their attributes, and the text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def text(report):
    return report.path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def elements(text):
    return Elements(text)


def test_nothing_is_fetched_and_no_other_script_may_run(elements, text):
    (policy,) = [tag["content"] for tag in elements.all("meta") if "http-equiv" in tag]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not any("src" in tag for tag in elements.all("script"))
    assert [tag["href"] for tag in elements.all("link")] == ["data:,"]
    assert all(tag["src"].startswith("data:image/") for tag in elements.all("img"))
    assert not [tag for _, tag in elements.tags if "style" in tag or any(name.startswith("on") for name in tag)]
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text


def test_every_link_leads_somewhere(report, elements):
    anchors = {tag["id"] for _, tag in elements.tags if "id" in tag}
    links = [tag["href"] for tag in elements.all("a")]
    assert len(links) > 200
    for link in links:
        if link.startswith("#"):
            assert link[1:] in anchors
        else:
            assert (report.path.parent / unquote(link)).exists(), link


def test_identifiers_are_unique(elements):
    identifiers = [tag["id"] for _, tag in elements.tags if "id" in tag]
    assert len(set(identifiers)) == len(identifiers)


def test_the_head_says_what_was_studied_and_what_is_missing(text):
    head = re.sub(r"<[^>]+>|\s+", " ", text[text.index("<header>") : text.index("</header>")])
    head = re.sub(" +", " ", head)
    assert "irs_study_small" in head
    assert "Models 14, of 7 methods: annealed_vae, beta_tc_vae" in head
    assert "Failed 2 steps of 2 models" in head
    assert "Missing 16 planned steps" in head
    assert "Damaged 1 file" in head
    assert "Each method stands on 2 models. With so few, ranks describe these models, not the methods." in head
    assert "1 collapsed and is left out of all means." in head
    assert "Chance is not 0: of IRS (irs_chance) it is 0.1" in head


def test_sections_come_in_order(text):
    headings = re.findall(r"<h[23][^>]*>([^<]+)<", text)
    assert headings[:9] == [
        "Results on dsprites_full, mean representation",
        "Ranking of methods",
        "Distributions",
        "Hyperparameters",
        "Agreement of the metrics",
        "Robustness against the other metrics",
        "Models",
        "One by one",
        "What failed, is damaged or missing",
    ]
    assert headings.index("How everything was obtained") > headings.index("Missing")


def test_failures_are_told_with_their_traceback(text):
    assert "<strong>train</strong>: FloatingPointError: the loss is &lt;not&gt; a number" in text
    assert "Traceback (most recent call last):\n  boom" in text
    assert "it is not JSON, or breaks off" in text


def test_how_it_was_obtained(text):
    how = text[text.index('id="how"') :]
    row = how[how.index("IRS (irs_chance)") :].split("</tr>")[0]
    for expected in ("irs_chance", "higher is better", "supremum, observed weights", "10000", "0.12", "Suter et al."):
        assert expected in row
    assert "irs_plugin sweep --study irs_study_small" in how
    assert "<dt>tensorflow</dt><dd>2.21.0</dd>" in how
    assert "encoder.num_latent = 10" in how


def test_weakest_latents_and_settings_of_a_model(report):
    model = next(model for model in report.models if model.name == "0")
    latents = next(found for found in model.latents if found.evaluation == "irs_chance")
    assert (latents.active, latents.total, len(latents.weakest)) == (8, 10, 5)
    scores = [latent.score for latent in latents.weakest]
    assert scores == sorted(scores)
    assert {latent.index for latent in latents.weakest}.isdisjoint({3, 8})
    assert all(latent.deviation == 1 + latent.index / 10 for latent in latents.weakest)
    assert model.settings["model.random_seed"] == "0"
    assert "encoder.num_latent" not in model.settings
    collapsed = next(model for model in report.models if model.name == "3")
    assert collapsed.latents[0].weakest == ()
    assert collapsed.latents[0].reason == "no latent is active"


def test_pictures_are_shown_small_on_white_and_the_moving_one_as_a_still(report):
    album = {picture.place.name: picture for picture in report.models[0].album.pictures}
    assert list(album) == ["effects.png", "animated.gif", "damaged.png", "reconstructions.jpg"]
    shown = {name: decoded(picture.uri) for name, picture in album.items() if picture.uri}
    assert set(shown) == {"effects.png", "animated.gif", "reconstructions.jpg"}
    assert shown["effects.png"].size == (900, 450)
    assert shown["effects.png"].convert("RGB").getpixel((5, 5)) == (255, 255, 255)
    assert album["animated.gif"].animated
    red, green, blue = shown["animated.gif"].convert("RGB").getpixel((15, 10))
    assert green > 200 > 60 > max(red, blue)
    assert "identify" in album["damaged.png"].problem


def decoded(uri):
    return Image.open(io.BytesIO(base64.b64decode(uri.partition("base64,")[2])))


def test_pictures_stay_within_the_budget_and_the_rest_is_linked(small_study, tmp_path):
    collection = collect(small_study)
    bare = write_report(collection, tmp_path / "bare", page_size=0)
    assert [picture.uri for model in bare.models for picture in model.album.pictures] == [""] * 8
    size = bare.path.stat().st_size + 5_500
    few = write_report(collection, tmp_path / "few", page_size=size)
    assert few.path.stat().st_size <= size
    # Every model gets its first picture before any gets its second.
    assert [bool(model.album.pictures[0].uri) for model in few.models if model.album.pictures] == [True, True]
    assert 0 < sum(model.album.left_out for model in few.models) < 8
    assert "of 8 pictures are left out to keep the page small" in few.path.read_text(encoding="utf-8")


def test_figures_are_files_and_inlined(report):
    folder = report.path.parent / "figures"
    kinds = ("correlations", "distributions", "hyperparameters", "robustness")
    expected = {f"dsprites_full_mean_{kind}.{suffix}" for kind in kinds for suffix in ("png", "svg")}
    assert {path.name for path in folder.iterdir()} == expected
    for drawn in report.parts[0].drawn.values():
        assert decoded(drawn.uri).size == Image.open(drawn.png).size


def test_names_are_escaped_everywhere(hostile_report):
    text = hostile_report.path.read_text(encoding="utf-8")
    elements = Elements(text)
    assert len(elements.all("script")) == 1
    assert not [tag for tag in elements.all("img") if tag.get("src") == "x"]
    words = "".join(elements.words)
    for name in (*HOSTILE, "<b>$x^2$ & 'co'", "<img src=x onerror=alert(2)>", "<b>traceback</b>"):
        assert name in words
        assert html.escape(name, quote=False).replace("'", "&#39;") in text
    methods = {tag["data-method"] for tag in elements.all("tr") if "data-method" in tag}
    assert set(HOSTILE) <= methods


def test_a_second_report_replaces_the_first_and_leaves_no_drafts(small_study, tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "report/report.html").write_text("an old one")
    write_report(collect(small_study), tmp_path / "report")
    assert "an old one" not in (tmp_path / "report/report.html").read_text(encoding="utf-8")
    written = [path.name for path in (tmp_path / "report").rglob("*") if path.is_file()]
    assert len(written) == 9
    assert not [name for name in written if name.startswith(".")]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("limit", "is_shown"), [(90, True), (40, False)])
def test_large_pictures_are_shown_without_alarm_up_to_a_limit(tmp_path, monkeypatch, limit, is_shown):
    from PIL import Image

    from irs_plugin.report.pictures import Budget, Picture, _inline

    Image.new("RGB", (10, 10)).save(tmp_path / "large.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    picture = Picture(tmp_path / "large.png", Path("large.png"))
    assert _inline(picture, Budget(10_000))
    assert bool(picture.uri) == is_shown
    assert ("exceeds limit" in picture.problem) != is_shown


def test_a_page_that_cannot_be_written_leaves_the_old_one(collection, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("an old one")

    def interrupted(source, target):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(OSError, match="no space left"):
        page._write_whole(path, b"a new one")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "an old one"


def test_a_stock_tree_without_a_plan(study, tmp_path):
    for number, evaluation in (("0", "mig"), ("1", "mig"), ("4", "irs_chance")):
        source = study / number / "metrics/mean" / evaluation
        shutil.copytree(source, tmp_path / "stock" / f"m{number}" / evaluation)
    report = write_report(collect(tmp_path / "stock"), tmp_path)
    text = report.path.read_text(encoding="utf-8")
    assert [model.name for model in report.models] == ["m0", "m1", "m4"]
    assert "unknown: no study.json says what was planned" in text
    assert text.count("<h1>stock</h1>") == 1


def test_only_failures(tmp_path):
    write_study(tmp_path / "study", methods=())
    fail(tmp_path / "study", "0", "train", "OSError: disk full")
    report = write_report(collect(tmp_path / "study"), tmp_path / "report")
    text = report.path.read_text(encoding="utf-8")
    assert "There are no scores" in text
    assert "OSError: disk full" in text


def test_nothing_at_all_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"there is nothing to report below .*, 0 damaged files"):
        write_report(collect(tmp_path), tmp_path)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.12345, "0.123"), (-1.0, "−1.000"), (0.0, "0.000"), (0.0001, "1.00e−04"), (12345.6, "1.23e+04"), (None, "–")],
)
def test_numbers_for_readers(value, shown):
    assert page.number(value) == shown
