import matplotlib
import pytest

from irs_plugin.figures import interventional_effects, save_figure, save_figures


@pytest.fixture
def figure(grid):
    return interventional_effects(*grid, factor_names=["shape", "size", "angle"])[0]


@pytest.mark.parametrize(("format", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_each_format_is_written_and_repeats_to_the_byte(grid, figure, tmp_path, format, magic):
    path = save_figure(figure, tmp_path / "new" / "picture", format=format)
    assert path == tmp_path / "new" / f"picture.{format}"
    assert path.read_bytes().startswith(magic)
    # The caller's style must not leak into the picture either.
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "lines.linewidth": 9}):
        again = interventional_effects(*grid, factor_names=["shape", "size", "angle"])[0]
        assert save_figure(again, tmp_path / f"again.{format}").read_bytes() == path.read_bytes()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [f"again.{format}", "new"]


def test_text_stays_text(figure, tmp_path):
    svg = save_figure(figure, tmp_path / "a.svg").read_text(encoding="utf-8")
    assert ">angle</text>" in svg
    assert ">z3</text>" in svg
    pdf = save_figure(figure, tmp_path / "a.pdf").read_bytes()
    assert b"/TrueType" in pdf or b"/CIDFontType2" in pdf
    assert b"/Type3" not in pdf


def test_a_name_with_a_dot_keeps_it(figure, tmp_path):
    assert save_figure(figure, tmp_path / "beta_0.5").name == "beta_0.5.png"


def test_a_failed_write_leaves_what_was_there(figure, tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_bytes(b"precious")

    def fail(file, **options):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save_figure(figure, path)
    assert path.read_bytes() == b"precious"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.png"]


def test_formats_that_do_not_exist_or_contradict(figure, tmp_path):
    with pytest.raises(ValueError, match="format must be one of 'png', 'pdf', 'svg'; got 'gif'"):
        save_figure(figure, tmp_path / "a", format="gif")
    with pytest.raises(ValueError, match="format 'pdf' contradicts"):
        save_figure(figure, tmp_path / "a.svg", format="pdf")


def test_pages_are_numbered(figure, tmp_path):
    assert [path.name for path in save_figures([figure], tmp_path / "a.png")] == ["a.png"]
    names = [path.name for path in save_figures([figure, figure], tmp_path / "b.png")]
    assert names == ["b_01.png", "b_02.png"]
