"""Presets for other treebanks, disco-dop's keywords, SPMRL's counts, and EVALB's presets by name."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import treegauge
from treegauge.cli import main
from treegauge.errors import UnknownName
from treegauge.normalise import pipeline
from treegauge.presets import load_preset
from treegauge.presets.treebanks import TREEBANKS
from treegauge.scoring.signature import Signature
from treegauge.trees import Tree

SAMPLES = {
    "ctb": ("(IP (NP (NR 中国)) (PU ，) (VP (VV 发展) (NP (NN 经济))) (PU 。))", {"，", "。"}),
    "negra": ("(VROOT (S (PPER Er) (VVFIN sagt) ($, ,) (NP (PIS nichts))) ($. .))", {",", "."}),
    "tiger": ("(VROOT ($*LRB* -LRB-) (S (NE Bonn) (VVFIN schweigt)) ($[ -RRB-) ($. .))", {"(", ")", "."}),
    "ftb": ("(SENT (NP (NC Paris)) (PONCT ,) (VN (V dort)) (PONCT .))", {",", "."}),
    "patb": ("(S (VP (VBD قال) (NP (NN رئيس))) (PUNC .))", {"."}),
    "alpino": ("(top (smain (noun Jan) (verb slaapt) (let ,) (adv nu)) (let .))", {",", "."}),
    "hebrew": ("(TOP (S (NP (NN ילד)) (yyCM ,) (VP (VB ישן)) (yyDOT .)))", {",", "."}),
    "polish": ("(ROOT (S (NP (subst Jan)) (VP (fin śpi)) (interp .)))", {"."}),
}


@pytest.mark.parametrize("treebank", SAMPLES)
def test_punctuation_of_each_treebank_is_left_out(treebank: str) -> None:
    gold, punctuation = SAMPLES[treebank]
    words = Tree.parse(gold).words
    result = treegauge.score(gold, gold, treebank=treebank)
    assert result.counts["words"] == sum(word not in punctuation for word in words)
    assert not result.notes
    root = Tree.parse(gold).label
    phrases = [node for node in Tree.parse(gold).nodes() if not node.is_preterminal and node.label not in TREEBANKS[treebank].roots]
    assert result.counts["gold"] == len(phrases), root


@pytest.mark.parametrize("treebank", SAMPLES)
def test_a_preset_that_leaves_nothing_of_it_out_says_so(treebank: str) -> None:
    gold, punctuation = SAMPLES[treebank]
    result = treegauge.score(gold, gold)
    assert result.counts["words"] == len(Tree.parse(gold).words)
    [note] = result.notes
    assert note.kind == "punctuation"
    assert f"{len([word for word in Tree.parse(gold).words if word in punctuation])} of " in note.what
    named = note.what.rpartition("treebank=")[2].strip('")')
    assert TREEBANKS[named].punctuation == TREEBANKS[treebank].punctuation


@pytest.mark.parametrize("preset", ["spmrl", "none"])
def test_presets_that_keep_punctuation_say_nothing(preset: str) -> None:
    gold, _ = SAMPLES["ctb"]
    assert not treegauge.score(gold, gold, preset=preset).notes
    assert treegauge.score(gold, gold, preset=preset, treebank="ctb").counts["words"] == 5


def test_a_stray_tag_of_another_treebank_hides_nothing() -> None:
    gold, _ = SAMPLES["ctb"]
    [note] = treegauge.score([gold] * 20 + [gold.replace("(PU 。)", "(. 。)")], [gold] * 21).notes
    assert "41 of 105 words have the tag PU" in note.what
    half = [gold] * 2 + [gold.replace("PU ", ". ")]
    assert not treegauge.score(half, half).notes


def test_punctuation_with_features_is_named_until_they_are_cut() -> None:
    """As in the French treebank of the SPMRL shared tasks."""
    gold = "(SENT (NP (NC##g=f## Paris)) (PONCT##lem=,|s=w## ,) (VN (V dort)) (PONCT##lem=.|s=s## .))"
    for treebank in ("", "ftb"):
        [note] = treegauge.score(gold, gold, treebank=treebank).notes
        assert "2 of 4 words have the tag PONCT with features" in note.what
        assert 'after the normalisation step features, treebank="ftb"' in note.what
    cut = str(pipeline("features")(Tree.parse(gold)))
    result = treegauge.score(cut, cut, treebank="ftb")
    assert (result.counts["words"], result.notes) == (2, ())


def test_english_files_get_no_note() -> None:
    gold = "(S (NP (NN rain)) (VP (VBD fell)) (. .))"
    assert not treegauge.score(gold, gold).notes


def test_the_name_with_a_treebank_is_the_option() -> None:
    gold, _ = SAMPLES["negra"]
    by_name, by_option = treegauge.score(gold, gold, preset="default+negra"), treegauge.score(gold, gold, treebank="negra")
    assert by_name.signature == by_option.signature
    assert "|preset:default+negra@" in str(by_name.signature)
    assert Signature.parse(str(by_name.signature)) == by_name.signature
    with pytest.raises(UnknownName, match="alpino, cess, ctb"):
        treegauge.score(gold, gold, treebank="nagra")


def test_the_command_takes_a_treebank_and_names_the_option(tmp_path: Path) -> None:
    (tmp_path / "zh.mrg").write_text(SAMPLES["ctb"][0] + "\n", "utf-8")
    command = [sys.executable, "-m", "treegauge", "score", "zh.mrg", "zh.mrg"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "2 of 5 words have the tag PU" in done.stderr) == (0, True), done.stderr
    assert "does not leave it out (--treebank ctb)" in done.stderr
    done = subprocess.run([*command, "--treebank", "ctb"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "PU" not in done.stderr


@pytest.mark.parametrize("command", ["compare", "report", "freval", "diff", "check"])
def test_every_command_that_scores_takes_a_treebank(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if command == "check":
        pytest.importorskip("sqlalchemy", reason="check needs the extra [web]")
    gold = "(IP (NP (NN a)) (VP (VV b)) (PU c))\n"
    (tmp_path / "zh.mrg").write_text(gold + "(IP (NP (NN a)) (PU c) (VP (VV b)))\n", "utf-8")
    # Punctuation in a phrase: wrong unless it is known for punctuation.
    (tmp_path / "A.mrg").write_text("(IP (NP (NN a)) (VP (VV b) (PU c)))\n(IP (NP (NN a) (PU c)) (VP (VV b)))\n", "utf-8")
    (tmp_path / "B.mrg").write_bytes((tmp_path / "A.mrg").read_bytes())

    def output(*options: str) -> str:
        arguments = [command, "zh.mrg", "A.mrg", *(["B.mrg"] if command != "diff" else [])]
        arguments += {
            "compare": ["-m", "parseval", "--rounds", "10", "--table", "rates"],
            "report": ["--rounds", "10", "--format", "markdown"],
            "check": ["--results"],
        }.get(command, [])
        with pytest.raises(SystemExit) as left:
            main([*arguments, *options])
        captured = capsys.readouterr()
        assert left.value.code == 0, captured.err
        return captured.out

    monkeypatch.chdir(tmp_path)
    if command == "check":
        from treegauge.humancheck.store import Store

        with Store(str(tmp_path / "judgements.sqlite"), create=True):
            pass
    by_option, by_name = output("--treebank", "ctb"), output("-p", ("freval" if command == "freval" else "default") + "+ctb")
    assert output() != by_option
    assert ("100.00" in by_option) == (command != "diff")
    if command in ("freval", "diff", "check"):  # the others have a preset for each metric unless it is given
        assert by_option == by_name


def test_traces_that_a_preset_counts_are_named_where_only_gold_has_them() -> None:
    gold = ["(S (NP-SBJ (-NONE- *)) (VP (VB Go) (NP (NN home))))", "(S (NP (NNP Ann)) (VP (VBZ sleeps)))"]
    test = ["(S (VP (VB Go) (NP (NN home))))", gold[1]]
    result = treegauge.score(gold, test, preset="spmrl")
    assert result.notes[0].what == "gold has the trace '*' (-NONE-), which counts as a word here, but the parse does not"
    assert ("in 1 of them traces count as words" in result.warnings[0], "step traces" in result.warnings[0]) == (True, True)
    assert not treegauge.score(gold, test).notes
    assert not treegauge.score(gold, gold, preset="spmrl").notes
    # Words that really differ have nothing to do with traces.
    assert "the words differ" in treegauge.score(gold, ["(S (VP (VB Run) (NP (NN home))))", gold[1]], preset="spmrl").notes[0].what


def prm(tmp_path: Path, text: str) -> str:
    (tmp_path / "x.prm").write_text(text)
    return str(tmp_path / "x.prm")


def test_disco_dops_keywords_are_read_or_named(tmp_path: Path) -> None:
    gold = "(ROOT (UH um) (S (NP (NN rain)) (VP (VBD fell) (UH um))) (. .))"
    plain = treegauge.score(gold, gold, preset=prm(tmp_path, "DELETE_LABEL ROOT\n"))
    assert plain.counts["words"] == 5
    words = treegauge.score(gold, gold, preset=prm(tmp_path, "DELETE_LABEL ROOT\nDELETE_WORD um\n"))
    assert words.counts["words"] == 3
    below_root = treegauge.score(gold, gold, preset=prm(tmp_path, "DELETE_LABEL ROOT\nDELETE_ROOT_PRETERMS 1\n"))
    assert below_root.counts["words"] == 3
    # Words outside S that are left out make S the whole sentence, and a parse that has them inside S right.
    test = "(ROOT (S (UH um) (NP (NN rain)) (VP (VBD fell) (UH um)) (. .)))"
    assert treegauge.score(gold, test, preset=below_root.signature.preset).rates["f1"] == 1
    assert treegauge.score(gold, test, preset=plain.signature.preset).rates["f1"] < 1
    assert load_preset(prm(tmp_path, "DELETE_ROOT_PRETERMS 0\nDISC_ONLY 0\nTED 0\n")).ignored == ()
    ignored = load_preset(prm(tmp_path, "DISC_ONLY 1\nTED 1\nLA 1\nDEP 1\n")).ignored
    assert [said.partition("x.prm:")[2].partition(":")[0] for said in ignored] == ["1", "2", "3", "4"]
    assert "metric discontinuous" in ignored[0]
    assert Signature.parse(str(words.signature)) == words.signature


def test_spmrl_counts_every_terminal_and_cuts_features() -> None:
    gold = ["(VROOT (S##n=1## (NP-SB (ART##c=nom## Die) (NN Katze)) ($, ,) (VP=x (VVFIN schläft))) ($. .))"]
    test = ["(TOP (S (NP (ART Die) (NN Katze) ($, ,)) (VP (VVFIN schläft))) ($. .))"]

    def brackets(text: str) -> Counter[tuple[str, int, int]]:
        found: Counter[tuple[str, int, int]] = Counter()

        def visit(node: Tree, start: int) -> int:
            end = start
            for child in node.children:
                end = visit(child, end) if isinstance(child, Tree) else end + 1
            label = node.label.partition("#")[0].partition("-")[0].partition("=")[0]
            if not node.is_preterminal and label not in ("TOP", "ROOT", "VROOT"):
                found[label, start, end] += 1
            return end

        visit(Tree.parse(text), 0)
        return found

    ours, theirs = brackets(gold[0]), brackets(test[0])
    result = treegauge.score(gold, test, preset="spmrl")
    assert (result.counts["matched"], result.counts["gold"], result.counts["test"]) == (
        (ours & theirs).total(),
        ours.total(),
        theirs.total(),
    )
    assert (result.counts["words"], result.counts["tags"]) == (5, 5)


@pytest.mark.parametrize("name", ["collins", "new", "nk"])
def test_evalb_knows_its_presets_by_name(tmp_path: Path, name: str) -> None:
    gold, test = "(TOP (S (NP (NN rain)) (VP (VBD fell)) (. .)))\n", "(TOP (S (NP (NN rain)) (XP (VBD fell)) (. .)))\n"
    (tmp_path / "gold").write_text(gold)
    (tmp_path / "test").write_text(test)
    file = Path(treegauge.__file__).parent / "presets" / f"{name}.prm"

    def evalb(parameters: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "treegauge", "evalb", "-p", parameters, "gold", "test"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    by_name = evalb(name)
    assert (by_name.returncode, by_name.stdout, by_name.stderr) == (0, evalb(str(file)).stdout, b"")
    # A file of that name wins.
    (tmp_path / name).write_text("DELETE_LABEL S\n")
    assert evalb(name).stdout != by_name.stdout


def test_evalb_knows_no_other_names(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "treegauge", "evalb", "-p", "default", "gold", "test"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"Can't open parameter file (default)\n")


def test_a_preset_that_names_a_treebank_wins() -> None:
    """``-p collins+ctb --treebank icepahc`` reads as IcePaHC is written, and counts as for the Penn Chinese Treebank."""
    adapted = load_preset("collins+ctb")
    assert load_preset("collins+ctb", "icepahc") == load_preset(adapted, "icepahc") == load_preset("collins+ctb", "ctb") == adapted
    assert load_preset("collins", "icepahc").name == "collins+icepahc"
