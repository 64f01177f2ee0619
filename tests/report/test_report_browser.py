"""The page in a real browser, driven as a reader would."""

import re
from dataclasses import replace

import pytest

LEAD = "#models-table tbody tr:not([hidden])"


@pytest.fixture
def visit(browser):
    """Open a page offline; what it asks the network for, or complains of, fails the test."""
    contexts, complaints = [], []

    def visit(report, *, width=1280, height=900, fragment="", **options):
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        address = report.path.as_uri()
        page.on("request", lambda request: complaints.append(request.url) if not _own(request.url, address) else None)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message) or dialog.dismiss())
        page.goto(address + fragment)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert complaints == []


def _own(url, address):
    return url.startswith("data:") or url.partition("#")[0] == address


def column(page, name):
    """Texts of a column of the table of models, rows that are shown, in their order."""
    place = page.locator("#models-table thead th").all_inner_texts().index(name)
    return [row.locator("th,td").nth(place).inner_text().strip() for row in page.locator(LEAD).all()]


def header(page, name):
    return page.locator("#models-table thead th").filter(has=page.get_by_role("button", name=name, exact=True))


def test_numbers_sort_as_numbers_and_missing_ones_stay_last(visit, report):
    page = visit(report)
    button = header(page, "IRS (irs_chance)").get_by_role("button")
    scores = report.parts[0].comparison.scores["IRS (irs_chance)"].dropna()
    for direction, reverse in (("ascending", False), ("descending", True)):
        button.click()
        assert header(page, "IRS (irs_chance)").get_attribute("aria-sort") == direction
        shown = column(page, "Model")
        assert shown[:-1] == sorted(scores.index, key=lambda name: scores[name], reverse=reverse)
        assert shown[-1] == "9"
    header(page, "Model").get_by_role("button").click()
    assert column(page, "Model") == [str(number) for number in range(14)]
    assert page.locator("#models-table th[aria-sort]").count() == 1
    header(page, "Value").get_by_role("button").click()
    assert column(page, "Value")[-2:] == ["40", "–"]


def test_the_keyboard_suffices(visit, report):
    page = visit(report)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    header(page, "Seed").get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert header(page, "Seed").get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Space")
    assert header(page, "Seed").get_attribute("aria-sort") == "descending"
    assert column(page, "Seed")[0] == "1"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Data set"
    page.locator("#model-2 > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#model-2").get_attribute("open") is not None


def test_rows_are_filtered_by_words_and_method(visit, report):
    page = visit(report)
    page.get_by_label("Rows with the words").fill("FACTOR 40")
    assert column(page, "Model") == ["5"]
    assert page.get_by_role("status").inner_text() == "1 of 14 rows shown"
    page.get_by_label("Rows with the words").fill("")
    page.get_by_label("Method", exact=True).select_option("dip_vae_ii")
    assert column(page, "Model") == ["8", "9"]
    page.get_by_label("Rows with the words").fill("nothing of the kind")
    assert column(page, "Model") == []
    assert page.get_by_role("status").inner_text() == "0 of 14 rows shown"


def test_of_many_models_some_are_shown_until_all_are_asked_for(visit, report, tmp_path):
    text = report.path.read_text(encoding="utf-8")
    row = re.search(r'<tr data-method="vae".*?</tr>', text, re.DOTALL)[0]
    (tmp_path / "report.html").write_text(text.replace(row, row + 300 * row.replace("vae", "one"), 1), encoding="utf-8")
    page = visit(replace(report, path=tmp_path / "report.html"))
    assert page.locator(LEAD).count() == 200
    assert page.get_by_role("status").inner_text() == "first 200 of 314 rows shown"
    header(page, "Method").get_by_role("button").click()
    assert page.locator(LEAD).count() == 200
    assert column(page, "Method")[0] == "annealed_vae"
    page.get_by_role("button", name="Show all of them").click()
    assert page.locator(LEAD).count() == 314
    assert page.get_by_role("status").inner_text() == "314 of 314 rows shown"
    assert not page.locator("#more").is_visible()


def test_accompanying_numbers_come_when_asked_for(visit, report):
    page = visit(report)
    assert not page.locator("#models-table th", has_text="DCI completeness").is_visible()
    page.get_by_label("Accompanying numbers").check()
    assert page.locator("#models-table th", has_text="DCI completeness").is_visible()


def test_one_data_set_and_representation_at_a_time(visit, hostile_report):
    page = visit(hostile_report)
    names = [part.comparison.name for part in hostile_report.parts]
    assert names == ["cars3d, mean", "dsprites_full, mean", "dsprites_full, sampled"]
    assert page.locator("section[data-part]:visible h2").all_inner_texts() == ["Results on cars3d, mean representation"]
    chooser = page.get_by_label("Data set and representation")
    chooser.select_option(label="dsprites_full, sampled")
    assert set(column(page, "Representation")) == {"sampled"}
    assert page.locator("section[data-part]:visible").count() == 1
    chooser.select_option(label="all, one after the other")
    assert page.locator("section[data-part]:visible").count() == 3
    assert len(column(page, "Model")) == 24 * 2 + 4


def test_links_of_the_contents_lead_to_what_is_hidden(visit, hostile_report):
    page = visit(hostile_report)
    page.locator("nav a", has_text="dsprites_full, sampled").click()
    heading = page.locator("h2", has_text="dsprites_full, sampled")
    heading.wait_for(state="visible")
    assert page.locator("section[data-part]:visible").count() == 1
    assert -5 <= heading.bounding_box()["y"] <= 300


def test_a_link_to_a_model_opens_it(visit, report):
    page = visit(report)
    page.locator("#models-table a", has_text="12").click()
    # The browser follows a link within a page, and tells the page, after the click is over.
    page.locator("#model-12[open]").wait_for()
    assert visit(report, fragment="#model-4").locator("#model-4").get_attribute("open") is not None


def test_everything_can_be_read_without_scripts(visit, hostile_report):
    page = visit(hostile_report, java_script_enabled=False)
    assert page.locator("section[data-part]").count() == 3
    assert all(section.is_visible() for section in page.locator("section[data-part]").all())
    assert not page.locator("form").first.is_visible()
    assert page.locator("th button").count() == 0
    assert page.locator("#models-table th.extra").first.is_visible()


@pytest.mark.parametrize("which", ["report", "hostile_report"])
def test_nothing_is_wider_than_a_phone(visit, which, request):
    page = visit(request.getfixturevalue(which), width=360, height=800)
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    table = page.locator("#models-table .scroll")
    assert table.evaluate("box => box.scrollWidth > box.clientWidth")
    # What scrolls can be scrolled by keyboard, and says what it is.
    for box in page.locator(".scroll").all():
        assert box.get_attribute("tabindex") == "0"
        assert box.get_attribute("role") == "region"
        assert box.get_attribute("aria-label")


def luminance(colour):
    """Relative luminance of "rgb(r, g, b)", as WCAG defines it."""
    channels = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_schemes_and_figures_stay_on_white(visit, report, scheme):
    page = visit(report, color_scheme=scheme)
    style = "([element, name]) => getComputedStyle(document.querySelector(element))[name]"
    paper = page.evaluate(style, ["body", "backgroundColor"])
    assert (luminance(paper) < 0.05) == (scheme == "dark")
    for selector in ("body", ".note", "nav a", ".warn", ".rank", ".small"):
        assert contrast(page.evaluate(style, [selector, "color"]), paper) >= 4.5, selector
    assert page.evaluate(style, ["figure.plot .card", "backgroundColor"]) == "rgb(255, 255, 255)"


def test_print_has_no_controls_and_shows_whole_tables(visit, report):
    page = visit(report, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("#filter").is_visible()
    assert not page.locator("nav").is_visible()
    style = "element => getComputedStyle(document.querySelector(element))"
    assert page.evaluate(f"({style})('body').backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(f"({style})('#models-table .scroll').overflowX") == "visible"
    assert page.pdf().startswith(b"%PDF")


def test_names_are_text_and_nothing_they_say_is_done(visit, hostile_report):
    page = visit(hostile_report)
    page.get_by_label("Data set and representation").select_option(label="dsprites_full, mean")
    headings = page.locator("section[data-part]:visible .ranking thead th").all_inner_texts()
    assert "<script>alert(1)</script>" in {heading.split("\n")[0] for heading in headings}
    page.get_by_label("Method", exact=True).select_option(r"$\alpha_{$")
    assert set(column(page, "Method")) == {r"$\alpha_{$"}
    assert "<b>$x^2$ & 'co'" in " ".join(page.locator("summary").all_inner_texts())


def test_the_ranking_shows_the_numbers_that_were_computed(visit, report):
    page = visit(report)
    ranking = report.parts[0].ranking
    headings = [text.split("\n")[0] for text in page.locator(".ranking thead th").all_inner_texts()]
    assert headings == ["Metric", *ranking.methods]
    shown = {}
    for row in page.locator(".ranking tbody tr:not(.group)").all():
        label, *cells = (" ".join(text.split()) for text in row.locator("th, td").all_inner_texts())
        shown[label] = cells
    label = next(name for name in shown if name.startswith("Total correlation"))
    assert label == "Total correlation lower is better"
    for method, cell in zip(ranking.methods, shown[label], strict=True):
        mean, deviation, place, count = (
            frame.loc[method, "Total correlation"]
            for frame in (ranking.means, ranking.deviations, ranking.ranks, ranking.counts)
        )
        spread = f" ± {deviation:.3f}" if count > 1 else ""
        assert cell == f"{mean:.3f}{spread} ({place:g}) {count} of 2"
    ranks = shown["Mean rank over the metrics above"]
    assert ranks == [f"{ranking.mean_ranks[method]:.2f} 13 of 13 metrics" for method in ranking.methods]
    best = page.locator(".ranking tbody tr", has_text="Total correlation").locator("td.best")
    assert best.count() == 1
    assert "(1)" in best.inner_text()


def test_pictures_of_a_model_are_shown(visit, report):
    page = visit(report, fragment="#model-0")
    pictures = page.locator("#model-0 .pictures img")
    assert pictures.count() == 3
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        picture.evaluate("image => image.decode()")
        assert picture.evaluate("image => image.naturalWidth") > 0
