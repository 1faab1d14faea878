"""One definition of each figure, two renderers that draw the same numbers."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from report_helpers import GOLD, SYSTEMS

import treegauge
from treegauge.cli import main
from treegauge.errors import UnknownName
from treegauge.reports.comparison_figures import differences_figure
from treegauge.reports.figures import COLOURS, Figure, Series, figure_svg, fragment_figures
from treegauge.reports.plots import write_figure
from treegauge.reports.report_contents import report_figures, section_tables
from treegauge.significance import CompareOptions
from treegauge.trees.drawing.marks import ems

REPORT = treegauge.report(GOLD, SYSTEMS, CompareOptions(rounds=20))
FIGURES = [figure for found in report_figures(REPORT, section_tables(REPORT)).values() for figure in found]
FIGURES += [differences_figure(REPORT.comparison)] if "differences" not in [figure.name for figure in FIGURES] else []


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_both_renderers_draw_every_figure_of_a_report(figure: Figure, tmp_path: Path) -> None:
    for width in (940.0, 340.0):
        picture = ElementTree.fromstring(figure_svg(figure, width))
        assert float(picture.get("width", "")) == width
        titles = [element.text or "" for element in picture.iter("{http://www.w3.org/2000/svg}title")]
        for text in picture.iter("{http://www.w3.org/2000/svg}text"):
            half = ems(text.text or "") * 12 / 200
            assert text.get("text-anchor") != "middle" or float(text.get("x", "")) + half <= width, f"{text.text} is cut off"
        defined = sum(math.isfinite(value) for one in figure.series for value in one.values)
        zeros = sum(value == 0 for one in figure.series for value in one.values) if figure.kind == "columns" else 0
        if figure.kind != "columns" or width > 500:
            assert len(titles) == defined - zeros
    for suffix in ("svg", "pdf"):
        first, data = write_figure(figure, tmp_path / f"{figure.name}.{suffix}", data=True)
        again = write_figure(figure, tmp_path / f"again.{suffix}")[0]
        assert first.read_bytes() == again.read_bytes()
        assert data.read_text("utf-8") == figure.csv()
    for one in figure.series:
        assert one.name in (tmp_path / f"{figure.name}.svg").read_text("utf-8")


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
@pytest.mark.parametrize("width", [940.0, 340.0])
def test_no_text_of_a_chart_leaves_it_or_touches_another(figure: Figure, width: float) -> None:
    from treegauge.trees.drawing.marks import ems

    boxes: list[tuple[float, float, float]] = []
    for found in re.finditer(
        r'<text(?: class="\w+")? x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)">([^<]*)</text>', figure_svg(figure, width)
    ):
        x, y, wide = float(found[1]), float(found[2]), 0.12 * ems(found[4]) * 0.9
        left = {"start": x, "middle": x - wide / 2, "end": x - wide}[found[3]]
        boxes.append((y, left, left + wide))
    assert all(left >= -1 and right <= width + 1 for _, left, right in boxes)
    for (y, _, end), (other, start, _) in zip(sorted(boxes), sorted(boxes)[1:], strict=False):
        assert y != other or end <= start + 1


def test_long_names_stand_above_the_rows_of_a_forest_plot_uncut() -> None:
    short, long = "f1", f"f1: {'a very long name ' * 3}\N{MINUS SIGN} {'another long name ' * 3}end"
    series = Series("difference", [0.01, -0.02], [-0.01, -0.03], [0.03, -0.01], dots=[[0.005, 0.015], []])
    for width in (940.0, 340.0):
        picture = figure_svg(Figure("f", "forest", "Differences", [short, long], [series], "points", percent=True), width)
        assert long in picture
        assert picture.count('class="dot"') == 2
        assert picture.count('class="zero"') == 1
    assert "1.00 [-1.00, 3.00]" in figure_svg(Figure("f", "forest", "Differences", [short, long], [series], percent=True))
    empty = Figure("f", "forest", "Differences", [], [Series("difference", [], [], [])])
    assert "no data" in figure_svg(empty)


def test_ten_systems_have_ten_colours_and_markers() -> None:
    assert len(set(COLOURS)) == len(COLOURS) == 10
    series = [Series(f"system {number}", [0.1 * number, 0.5]) for number in range(10)]
    picture = figure_svg(Figure("f", "lines", "ten", ["1", "2"], series))
    assert {f"s{number}" for number in range(10)} <= set(re.findall(r'class="(s\d)"', picture))
    shapes = set(re.findall(r'<(circle|path d="[^"]*)" class="mark"', re.sub(r"M[-\d.]+ [-\d.]+", "M", picture)))
    assert len(shapes) >= 9


def test_fragment_figures_are_the_ones_of_the_paper() -> None:
    by_size, difference, zoom = fragment_figures({"A": [0.9, 0.5, 0.25], "B": [0.8, 0.75]}, baseline="B", upto=3, zoom=(2, 4))
    assert [one.values for one in by_size.series] == [[0.9, 0.5, 0.25], [0.8, 0.75, 0.0]]
    assert difference.series[0].values == pytest.approx([0.1, -0.25, 0.25])
    assert set(difference.series[1].values) == {0.0}
    assert zoom.names == ["2", "3", "4"]
    with pytest.raises(UnknownName, match="baseline"):
        fragment_figures({"A": [1.0]}, baseline="C")


def test_a_report_without_plot_keeps_its_charts() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import treegauge; from treegauge.significance import CompareOptions\n"
        "page = treegauge.report('(S (NP (N a)) (VP (V b)))', {'flat': '(S (N a) (V b))'}, CompareOptions(rounds=10)).html()\n"
        "print(page.count('class=\"chart\"'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 5


@pytest.mark.parametrize("name", ["rates.svg", "rates.PDF", "rates.png", "rates.xyz", "rates"])
def test_compare_draws_a_figure_or_says_which_names_it_can_have(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("gold.mrg", "A.mrg", "B.mrg"):
        Path(file).write_text("(S (NP (N a)) (VP (V b)))\n")
    with pytest.raises(SystemExit) as stop:
        main(["compare", "gold.mrg", "A.mrg", "B.mrg", "--rounds", "10", "--figure", name])
    if Path(name).suffix in (".xyz", ""):
        assert stop.value.code == 2
        assert "name the file .svg, .pdf or .png" in capsys.readouterr().err
        assert not Path(name).exists()
    else:
        assert stop.value.code == 0
        start = {".svg": b"<", ".pdf": b"%PDF", ".png": b"\x89PNG"}[Path(name).suffix.lower()]
        assert Path(name).read_bytes().startswith(start)
