"""The page on trees with crossing branches, in a browser: both trees drawn, the treebank's tree edited by keyboard, and saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from humancheck_browser import BrowserPerson

from treegauge.data import discontinuous_treebank
from treegauge.humancheck.questions import CheckPlan, build_check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread
from treegauge.presets import load_preset
from treegauge.trees import Treebank, parse_discbracket

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_tree_with_gaps_is_edited_and_saved(chromium: Any, tmp_path: Path) -> None:
    gold = discontinuous_treebank("german")[:1]
    # The parser has the accusative object and the auxiliary in one phrase, which crosses the treebank's verb phrase.
    text = (
        "(VROOT (S (VP-OC (NP-OA (ART-NK 0=Den) (NN-NK 1=Apfel)) (VAFIN-HD 2=hat)) (NE-SB 3=Anna) (VVPP-HD 4=gegessen)) ($. 5=.))"
    )
    test = Treebank.from_trees([parse_discbracket(text)])
    check = build_check(gold, {"A": test}, CheckPlan(preset=load_preset("disco")))
    with Store(tmp_path / "j.sqlite") as store, serve_in_thread(Session(check, store, people_named(["anna"]))) as links:
        (link,) = links.values()
        anna = BrowserPerson(chromium, link)
        assert anna.page.locator("g.node[data-above]").count() == 9, "of the gold tree; the parser's has no gaps"
        anna.press("e", "l")
        anna.type("VX")
        anna.press("Escape", "p")
        anna.page.wait_for_selector("#editor[open] .edited")
        take_picture(anna.page, "editor")
        steps = [("ArrowDown", "S: Den Apfel hat Anna gegessen"), ("ArrowDown", "VP-OC: Den Apfel … gegessen"),
                 ("ArrowDown", "NP-OA: Den Apfel"), ("ArrowRight", "VVPP-HD: gegessen"), ("ArrowUp", "VP-OC: Den Apfel … gegessen"),
                 ("ArrowRight", "VAFIN-HD: hat"), ("ArrowRight", "NE-SB: Anna")]  # fmt: skip
        anna.page.click("button[data-from=treebank]")
        anna.page.wait_for_selector(".changes:has-text('As in the treebank')")
        anna.page.keyboard.press("ArrowUp")
        anna.page.keyboard.press("ArrowUp")
        anna.page.keyboard.press("ArrowUp")
        for key, heard in steps:
            anna.page.keyboard.press(key)
            assert anna.page.inner_text("#editor-message") == heard
        # Anna goes into the verb phrase, past the auxiliary.
        anna.page.keyboard.press("p")
        anna.page.wait_for_selector(".changes:has-text('[Den Apfel … Anna gegessen]')")
        take_picture(anna.page, "edited")
        assert "(VP-OC (NP-OA (ART-NK 0=Den)" in anna.page.get_attribute(".edited", "data-tree")
        anna.page.keyboard.press("Enter")
        anna.answer("a")
        anna.page.goto(f"{link}judged")
        take_picture(anna.page, "judged")
        with anna.page.expect_download() as download:
            anna.page.click("a[href='corrected.discbracket']")
        assert "(NE-SB 3=Anna) (VVPP-HD 4=gegessen)) (VAFIN-HD 2=hat)" in Path(download.value.path()).read_text("utf-8")
        assert anna.errors == []
        anna.close()


def take_picture(page: Any, name: str) -> None:
    """A picture for whoever wants to look: of the page as it is now, in the folder TREEGAUGE_PICTURES."""
    if folder := os.environ.get("TREEGAUGE_PICTURES"):
        page.screenshot(path=str(Path(folder) / f"gaps-{name}.png"))
