"""``treegauge check`` as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from humancheck_helpers import Client, careless, said, small_check, words_of
from processes import running_process

from treegauge import io
from treegauge.cli import main
from treegauge.data import own_treebank
from treegauge.errors import TreegaugeError
from treegauge.humancheck.judgements import BracketId, Judgement, sentence_hash
from treegauge.humancheck.questions import CheckPlan, build_check
from treegauge.humancheck.store import Store
from treegauge.trees import Treebank


class Done(NamedTuple):
    """What a command printed."""

    stdout: str
    stderr: str


def run(*arguments: str, cwd: Path, code: int = 0, command: str = "check") -> Done:
    """The command in this process, which saves the time to start another one."""
    out, err = StringIO(), StringIO()
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
        main([command, *arguments])
    assert left.value.code == code, err.getvalue()
    return Done(out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of the small check, with every bracket judged by anna and half of them by ben."""
    folder = tmp_path_factory.mktemp("command")
    gold = own_treebank("dev")[:40]
    io.write(gold, folder / "gold.mrg")
    io.write(careless(gold, 1), folder / "sys.A.mrg")
    io.write(careless(gold, 2), folder / "sys.B.mrg")
    check = small_check(CheckPlan(exact=True))
    asked = [number for number in check.order if check.questions[number].kind != "EM"]
    with Store(folder / "judgements.sqlite") as store:
        log = [said(check, n, "accepted" if n % 3 else "rejected", "anna", correction=n % 5 == 0) for n in asked]
        log += [said(check, n, "accepted" if n % 4 else "rejected", "ben") for n in asked[: len(asked) // 2]]
        store.append(log, words_of(check))
    return folder


FILES = ("gold.mrg", "sys.A.mrg", "sys.B.mrg")


def test_results_in_every_form(folder: Path) -> None:
    table = run(*FILES, "--results", "--annotator", "anna", cwd=folder).stdout
    assert "Items (Hogenhout & Matsumoto 1996, Table 1)" in table
    assert "Measures (Table 4)" in table
    assert "estimated" not in table
    document = json.loads(run(*FILES, "--results", "--annotator", "anna", "--format", "json", cwd=folder).stdout)
    found = document["systems"]["A"]
    assert (document["schema"], found["counts"]["unjudged"]) == ("treegauge.check/2", 0)
    assert f"{100 * found['measures']['recall_soft']['value']:.2f}" in table
    latex = run(*FILES, "--results", "--format", "latex", cwd=folder).stdout
    assert latex.count(r"\begin{tabular}") == 2
    assert "95% intervals" in latex, "anna and ben disagree about some"


def test_what_was_said_of_another_gold_tree_counts_on_request(folder: Path, of_anna: str, tmp_path: Path) -> None:
    gold = io.read(folder / "gold.mrg")
    # Another label at the top is another gold tree, but changes no bracket.
    io.write(Treebank.from_trees([tree.replace(label="NEW" + tree.label) for tree in gold]), tmp_path / "gold.mrg")
    files = (str(tmp_path / "gold.mrg"), *FILES[1:], "--store", of_anna, "--results", "--format", "json")
    then, now, across = (
        json.loads(run(*FILES, *files[3:], cwd=folder).stdout),
        json.loads(run(*files, cwd=folder).stdout),
        json.loads(run(*files, "--across-gold", cwd=folder).stdout),
    )
    assert [found["judged"] for found in (now, across)] == [0, then["judged"]]
    assert across["systems"] == then["systems"]


def test_structure_and_agreement_and_audit(folder: Path) -> None:
    document = json.loads(run(*FILES, "--results", "--structure", "PP", "--format", "json", cwd=folder).stdout)
    assert document["systems"]["A"]["counts"]["TPB"] < 100
    assert "Krippendorff's alpha" in run(*FILES, "--agreement", cwd=folder).stdout
    audit = run("--audit", "--format", "csv", cwd=folder).stdout.splitlines()
    with Store(folder / "judgements.sqlite") as store:
        assert len(audit) == 1 + len(store.since(0))


def test_out_of_one_store_into_another(folder: Path, tmp_path: Path) -> None:
    store = ("--store", str(folder / "judgements.sqlite"))
    run("--export", "log.csv", *store, cwd=tmp_path)
    done = run("--import", "log.csv", "--store", "new.sqlite", cwd=tmp_path)
    assert "known already" in done.stderr
    first, second = (run("--export", "-", "--store", name, cwd=tmp_path).stdout for name in (store[1], "new.sqlite"))
    assert first == second
    changed = [json.loads(line) for line in first.splitlines()]
    changed[0]["note"] = "changed"
    (tmp_path / "changed.jsonl").write_text("\n".join(map(json.dumps, changed)), "utf-8")
    assert "1 judgement left out: the id" in run("--import", "changed.jsonl", "--store", "new.sqlite", cwd=tmp_path, code=1).stderr


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_any_word_goes_out_and_in_again(tmp_path: Path, suffix: str) -> None:
    words = ("half \ud800 a pair", "\u2028", '"', "\\ud800", "👩‍🚀")
    name = sentence_hash(words)
    with Store(tmp_path / "one.sqlite") as store:
        store.append([Judgement("1", BracketId(name, 0, 5, "NP", "gold"), "SP", "accepted", "anna")], {name: words})
    run("--export", f"log.{suffix}", "--store", "one.sqlite", cwd=tmp_path)
    run("--import", f"log.{suffix}", "--store", "two.sqlite", cwd=tmp_path)
    with Store(tmp_path / "two.sqlite") as store:
        assert store.words() == {name: words}


def test_a_corrected_treebank(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "corrected.mrg"
    asked = run(*FILES, "--corrected", str(out), "--annotator", "anna", cwd=folder).stderr
    assert "has no label for the treebank" in asked
    patch = run(*FILES, "--patch", "-", "--parser-labels", "--annotator", "anna", cwd=folder).stdout
    assert patch.startswith("--- a/gold.mrg\n+++ b/gold.mrg\n@@ -")
    done = run(*FILES, "--corrected", str(out), "--annotator", "anna", "--parser-labels", cwd=folder)
    assert "brackets corrected in" in done.stderr
    before, after = io.read(folder / "gold.mrg"), io.read(out)
    assert len(before) == len(after)
    assert before != after


@pytest.fixture(scope="module")
def of_anna(folder: Path) -> str:
    """A store in which everything is judged."""
    path = folder / "anna.sqlite"
    with Store(folder / "judgements.sqlite") as both, Store(path) as own:
        own.append([one for one in both.since(0) if one.annotator == "anna"], both.words())
    return str(path)


PAPER = ("-m", "hogenhout", "--rounds", "50", "--table", "items", "--table", "measures")


def test_compare_takes_up_the_judgements(folder: Path, of_anna: str) -> None:
    document = json.loads(run(*FILES, *PAPER, "--store", of_anna, "--format", "json", cwd=folder, command="compare").stdout)
    results = json.loads(run(*FILES, "--results", "--store", of_anna, "--format", "json", cwd=folder).stdout)
    for system in ("A", "B"):
        found = document["groups"][0]["systems"][system]
        assert found["measures"]["recall_soft"] == results["systems"][system]["measures"]["recall_soft"]["value"]
        assert found["items"]["SPR"] == results["systems"][system]["counts"]["SPR"]
    assert document["human_check"]["systems"] == results["systems"]
    for form in ("table", "latex"):
        printed = run(*FILES, *PAPER, "--store", of_anna, "--format", form, cwd=folder, command="compare").stdout
        assert run(*FILES, "--results", "--store", of_anna, "--format", form, cwd=folder).stdout.strip() in printed


def test_compare_with_judgements_shows_the_measures_unasked(folder: Path, of_anna: str) -> None:
    printed = run(*FILES, "--rounds", "50", "--store", of_anna, cwd=folder, command="compare").stdout
    assert "Measures (Table 4)" in printed
    assert "f1" in printed.partition("Items")[0]


def test_compare_estimates_what_nobody_judged(folder: Path) -> None:
    printed = run(*FILES, *PAPER, "--store", "judgements.sqlite", cwd=folder, command="compare").stdout
    assert run(*FILES, "--results", cwd=folder).stdout.strip() in printed
    assert "A low" in printed
    skipping = run(*FILES, *PAPER, "--on-mismatch", "skip", "--store", "judgements.sqlite", cwd=folder, command="compare").stdout
    assert "brackets without a verdict: A " in skipping


def test_a_report_shows_the_human_check(folder: Path, of_anna: str) -> None:
    settings = ("--rounds", "20", "--format", "markdown")
    assert "| SPR |" not in run(*FILES, *settings, cwd=folder, command="report").stdout
    shown = run(*FILES, *settings, "--store", of_anna, cwd=folder, command="report").stdout
    for line in run(*FILES, "--results", "--store", of_anna, "--format", "markdown", cwd=folder).stdout.splitlines():
        assert line in shown
    assert "no such store" in run(*FILES, "--store", "none.sqlite", cwd=folder, command="report", code=3).stderr
    assert not (folder / "none.sqlite").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "treegauge check GOLD TEST"),
        (("gold.mrg",), 2, "treegauge check GOLD TEST"),
        (("gold.mrg", "nowhere.mrg"), 3, "nowhere.mrg"),
        ((*FILES, "--results", "--audit"), 2, "choose one of"),
        ((*FILES, "--host", "0.0.0.0"), 2, "allow-remote"),
        ((*FILES, "--keep", "commas"), 2, "unknown preprocessing step"),
        ((*FILES, "--results", "--store", "none.sqlite"), 3, "none.sqlite: no such store"),
        (("--audit", "--store", "gold.mrg"), 3, "not a database"),
        (("--export", "x.txt"), 2, ".jsonl or .csv"),
        (("--import", "gold.mrg"), 2, ".jsonl or .csv"),
        ((*FILES, "--annotator", ""), 2, "annotator's name"),
        ((*FILES, "--results", "--annotator", "ana"), 2, "unknown annotator 'ana'; did you mean 'anna'?"),
        ((*FILES, "--agreement", "--annotator", "cleo"), 2, "valid: anna, ben"),
        ((*FILES, "--port", "1", "--host", "127.0.0.1", "--store", "/nowhere/at/all"), 3, "/nowhere/at/all"),
    ],
)
def test_what_cannot_be_done_is_said(folder: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    assert message in run(*arguments, cwd=folder, code=code).stderr


def test_a_missing_extra_is_named(folder: Path) -> None:
    code = "import sys; sys.modules['starlette'] = None; from treegauge.cli import main; main(['check', 'a', 'b'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 2
    assert "pip install 'treegauge[web]'" in done.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_serving_until_it_is_stopped(folder: Path, tmp_path: Path, ending: signal.Signals) -> None:
    """All answers are in the one file, and the folder with the token is gone, however the server is stopped."""
    store, browser = tmp_path / "j.sqlite", tmp_path / "browser"
    browser.write_text("#!/bin/sh\n")
    browser.chmod(0o700)
    files = [str(folder / name) for name in FILES]
    people = ["--annotator", "anna", "--annotator", "ben"]
    command = [sys.executable, "-m", "treegauge", "check", *files, "--store", str(store), "--port", "0", "--sample", "5", "--open"]
    own = os.environ | {"TMPDIR": str(tmp_path), "BROWSER": f"{browser} %s"}
    with running_process([*command, *people], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=own) as page:
        assert page.stdout is not None
        links = dict(page.stdout.readline().strip().split(": ", 1) for _ in range(3))
        assert list(links) == ["anna", "ben", "adjudicator"]
        client = Client(links["ben"])
        client.judge("accepted")
        client.close()
        (token,) = tmp_path.glob("treegauge-*/open.html")
        page.send_signal(ending)
        _, errors = page.communicate(timeout=30)
    assert page.returncode == 0
    assert " in 5 sentences to judge" in errors
    assert f"1 answer stored in {store}" in errors
    assert not token.parent.exists()
    assert [path.name for path in tmp_path.glob("j.sqlite*")] == ["j.sqlite"]
    with Store(store) as opened:
        assert [judgement.annotator for judgement in opened.since(0)] == ["ben"]


@pytest.mark.slow
def test_an_idle_server_tidies_its_store(folder: Path, tmp_path: Path) -> None:
    """Some time after the last answer even a killed server leaves everything in the one file."""
    store = tmp_path / "j.sqlite"
    files = [str(folder / name) for name in FILES]
    command = [sys.executable, "-m", "treegauge", "check", *files, "--store", str(store), "--port", "0", "--no-open"]
    with running_process(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as page:
        assert page.stdout is not None
        client = Client(page.stdout.readline().strip())
        client.judge("accepted")
        copy, deadline = tmp_path / "copy.sqlite", time.monotonic() + 30
        n_stored = 0
        while not n_stored and time.monotonic() < deadline:
            time.sleep(0.2)
            copy.write_bytes(store.read_bytes())
            with suppress(TreegaugeError), Store(copy) as opened:
                n_stored = len(opened.since(0))
        client.close()
    assert n_stored == 1


def test_only_people_with_a_link_or_answers_can_be_revoked(folder: Path) -> None:
    assert "no longer valid" in run("--revoke", "ben", cwd=folder).stderr
    refused = run("--revoke", "nobody", cwd=folder, code=2).stderr
    assert "nobody" in refused
    assert "anna" in refused


def test_corrections_are_made_in_the_file_itself(folder: Path, tmp_path: Path) -> None:
    done = run(*FILES, "--patch", str(tmp_path / "p"), "--parser-labels", cwd=folder)
    run(*FILES, "--corrected", str(tmp_path / "better.mrg"), "--parser-labels", cwd=folder)
    before, after = ((file.read_text("utf-8").splitlines()) for file in (folder / "gold.mrg", tmp_path / "better.mrg"))
    changed = [number for number, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    assert f"in {len(changed)} of 40 trees" in done.stderr
    patch = (tmp_path / "p").read_text("utf-8")
    assert patch.startswith("--- a/gold.mrg\n+++ b/gold.mrg\n@@ -")
    assert patch.count("\n-(") == patch.count("\n+(") == len(changed) > 0


def test_trees_that_a_style_changes_have_no_patch(tmp_path: Path) -> None:
    for name, tree in {"gold": "(NP (n a a) (PP (p b b) (n c c)))", "parser": "(NP (n a a) (p b b) (n c c))"}.items():
        (tmp_path / f"{name}.tbf").write_text(f"((S {tree}\n (v d d)))\n", "utf-8")
    gold, test = (io.read(tmp_path / f"{name}.tbf", treebank="cess") for name in ("gold", "parser"))
    check = build_check(gold, {"parser": test}, CheckPlan(exact=True))
    with Store(tmp_path / "judgements.sqlite") as store:
        store.append([said(check, check.order[0], "rejected", "anna", correction=True)], words_of(check))
    files = ("gold.tbf", "parser.tbf", "--treebank", "cess", "--exact")
    assert "a patch needs bracketed files" in run(*files, "--patch", "p", cwd=tmp_path, code=2).stderr
    assert not (tmp_path / "p").exists()
    done = run(*files, "--corrected", "better.mrg", cwd=tmp_path)
    assert "without the files' lemmas" in done.stderr
    assert "1 bracket corrected in 1 of 1 tree" in done.stderr
    assert " a a" not in (tmp_path / "better.mrg").read_text("utf-8")
