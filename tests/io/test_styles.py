"""Styles of treebanks: look-alikes of our own everywhere, and the real samples, read independently, where they are at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nltk
import pytest
from nltk.corpus.reader import BracketParseCorpusReader, SinicaTreebankCorpusReader

import treegauge
from treegauge.cli import main
from treegauge.errors import FileNote, FormatError, InputError, UnknownName
from treegauge.io import ReadOptions, Source, read, stream
from treegauge.io.formats import FORMATS, style_by_signs
from treegauge.io.sources import LeftOut
from treegauge.io.validation import examine
from treegauge.normalise import pipeline
from treegauge.presets.treebanks import TREEBANKS
from treegauge.trees import Tree, Treebank
from treegauge.trees.tree import rebuild

HISTORICAL = """\
( (IP-MAT (NP-SBJ (PRO-N Hún-hún))
        (VBDI söng-syngja)
        (CODE {COM:verse})
        (NP-OB1 (N-A lag$-lag) (D-A $ið-hinn))
        (. .-.)) (ID 2020.LIKE.NAR,.1))

( (CODE <P_7>) (ID 2020.LIKE.NAR,.2))

( (IP-MAT (CONJ og-og)
        (NP-SBJ *con*)
        (VBDI dansaði-dansa)
        (META (CODE (X x-x)) (N y-y))
        (CP-ADV (WADVP-1 0) (C 0) (IP-SUB (ADVP-TMP *T*-1) (NP-SBJ *exp*) (VBDI rigndi-rigna) (TO *)))
        (NUM 0-0) (, ---)
        (. .-.)) (ID 2020.LIKE.NAR,.3))
"""
PLAIN_HISTORICAL = re.sub(r"([^\s(*0-])-[^\s()]+\)", r"\1)", HISTORICAL).replace("(NUM 0-0) (, ---)", "(NUM 0) (ADV to-day)")
CESS = """
(
  (S
    (sn.e-SUJ *0*)
    (grup.verb
      (vmis3s0 llegó llegar))
    (sp-CC
      (prep
        (sps00 a a))
      (sn
        (grup.nom
          (Fpa -Fpa- -Fpa-)
          (np00000 Córdoba Córdoba)
          (Fpt -Fpt- -Fpt-))))
    (Fp . .)))
"""
FLORESTA = """\
####
#Made for tests
####

#1 X1 A Ana -- a «noiva» -- dorme.
(STA+fcl (SUBJ+np (>N+art A)
                  (H+prop Ana)
                  (--)
                  (APP+np («) (H+n noiva) (»"))
                  (--))
         (P+v-fin dorme)
         (.))

#2 X2 Lisboa
(UTT+prop Lisboa
#3 X3 Fim

  (UTT+n Fim)
"""
CTB = """\
<DOC>
<DOCID> LIKE_0001 </DOCID>
<BODY>
<S ID=1>
( (IP (NP-SBJ (PN 他))
      (VP (VV 来)
          (AS 了))
      (PU 。)) )
</S>
<S ID=2>
( (NP (NN 雨)) )
</S>
</BODY>
</DOC>
"""
SINICA = """\
#1:1.[0] S(agent:NP(Head:Nhaa:他)|time:Dd:常常|Head:VA11:來)#。(PERIODCATEGORY)

#2:2.[1] NP(property:V‧的(head:VH11:大|Head:DE:的)|Head:Nab:雨)#，(COMMACATEGORY)
"""
SAMPLES: dict[str, tuple[str, str, list[str]]] = {
    "icepahc": (
        "x.psd",
        HISTORICAL,
        [
            "( (IP-MAT (NP-SBJ (PRO-N Hún)) (VBDI söng) (NP-OB1 (N-A lag$) (D-A $ið)) (. .)))",
            "( (IP-MAT (CONJ og) (NP-SBJ (-NONE- *con*)) (VBDI dansaði) (CP-ADV (WADVP-1 (-NONE- 0)) (C (-NONE- 0)) "
            "(IP-SUB (ADVP-TMP (-NONE- *T*-1)) (NP-SBJ (-NONE- *exp*)) (VBDI rigndi) (TO (-NONE- *)))) (NUM 0) (, -) (. .)))",
        ],
    ),
    "ppcme2": (
        "x.psd",
        PLAIN_HISTORICAL,
        [
            "( (IP-MAT (NP-SBJ (PRO-N Hún)) (VBDI söng) (NP-OB1 (N-A lag$) (D-A $ið)) (. .)))",
            "( (IP-MAT (CONJ og) (NP-SBJ (-NONE- *con*)) (VBDI dansaði) (CP-ADV (WADVP-1 (-NONE- 0)) (C (-NONE- 0)) "
            "(IP-SUB (ADVP-TMP (-NONE- *T*-1)) (NP-SBJ (-NONE- *exp*)) (VBDI rigndi) (TO (-NONE- *)))) "
            "(NUM 0) (ADV to-day) (. .)))",
        ],
    ),
    "cess": (
        "x.tbf",
        CESS,
        [
            "( (S (sn.e-SUJ (-NONE- *0*)) (grup.verb (vmis3s0 llegó)) (sp-CC (prep (sps00 a)) "
            "(sn (grup.nom (Fpa -Fpa-) (np00000 Córdoba) (Fpt -Fpt-)))) (Fp .)))"
        ],
    ),
    "floresta": (
        "x.ptb",
        FLORESTA.replace("Lisboa\n#3", "Lisboa)\n#3"),
        [
            '(STA+fcl (SUBJ+np (>N+art A) (H+prop Ana) (-- --) (APP+np (« «) (H+n noiva) (»" »")) (-- --)) (P+v-fin dorme) (. .))',
            "(UTT+prop Lisboa)",
            "(UTT+n Fim)",
        ],
    ),
    "ctb": ("x.fid", CTB, ["( (IP (NP-SBJ (PN 他)) (VP (VV 来) (AS 了)) (PU 。)))", "( (NP (NN 雨)))"]),
    "sinica": (
        "x.parsed",
        SINICA,
        [
            "(S (NP-agent (Nhaa-Head 他)) (Dd-time 常常) (VA11-Head 來))",
            "(NP (V‧的-property (VH11-head 大) (DE-Head 的)) (Nab-Head 雨))",
        ],
    ),
}


def styled(treebank: str, **options: object) -> ReadOptions:
    return ReadOptions(treebank=treebank, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("treebank", SAMPLES)
def test_look_alikes_are_read_as_they_are_meant(treebank: str, tmp_path: Path) -> None:
    name, text, trees = SAMPLES[treebank]
    source = Source(name, text.encode())
    assert [str(tree) for tree in read(source, styled(treebank))] == trees
    assert [str(tree) for block in stream(source, styled(treebank)) for tree in block] == trees
    report = examine(source, styled(treebank))
    assert (report.n_trees, report.n_errors) == (len(trees), 0)
    assert [remark.text for remark in report.remarks if "without words, such as" not in remark.text] == []
    encoding = TREEBANKS[treebank].encoding
    if encoding:
        (tmp_path / name).write_bytes(text.encode(encoding, "replace"))
        expected = text.encode(encoding, "replace").decode(encoding)
        assert list(read(tmp_path / name, styled(treebank))) == list(read(Source(name, expected.encode()), styled(treebank)))


@pytest.mark.parametrize("treebank", SAMPLES)
def test_what_was_read_comes_back_from_brackets_with_and_without_the_style(treebank: str) -> None:
    name, text, _ = SAMPLES[treebank]
    round_trip(read(Source(name, text.encode()), styled(treebank)), treebank)


def round_trip(bank: Treebank, treebank: str) -> None:
    for to in ("bracketed", "pretty"):
        writer = FORMATS[to].writer
        assert writer is not None
        data = b"".join(writer([bank]))
        assert read(Source("x.mrg", data), ReadOptions()) == bank
        assert read(Source("x.mrg", data), styled(treebank)) == bank, "a file that was converted is not changed again"


@pytest.mark.parametrize("treebank", [name for name in SAMPLES if name != "sinica"])
def test_the_styles_name_themselves(treebank: str) -> None:
    name, text, _ = SAMPLES[treebank]
    text = text * 3 if treebank == "cess" else text  # a few leaves of three parts are not enough
    sign = style_by_signs(text.encode())
    assert sign is not None
    assert sign.treebank == treebank
    assert any(f'treebank="{treebank}"' in remark.text for remark in examine(Source(name, text.encode())).remarks)
    with pytest.warns(FileNote, match=f'treebank="{treebank}"'):
        list(stream(Source(name, text.encode()), ReadOptions(on_error="parse-fails")))


@pytest.mark.parametrize(
    "text",
    [
        "(S (NP (DT the) (NN cat)) (VP (VBD sat)))",
        "(X a (X b (X c d)))\n" * 20,
        "(NP the cat) (NP a dog) (NP two men)" * 5,
        "# sentence 1, parse 1, posterior 0.5\n(S (N a))\n",
        "(S (ID card) (NN x))\n(S (NN y))\n",
        "(S (A x x) (C x x))\n(S (A x x) (B x x))\n(S (X x x) (X x x))\n" * 9,
        "",
    ],
)
def test_other_files_have_no_sign(text: str) -> None:
    assert style_by_signs(text.encode()) is None


def test_lemmas_are_kept_as_features_or_counted() -> None:
    counted: list[LeftOut] = []
    source = Source("x.psd", HISTORICAL.encode(), on_left_out=counted.append)
    assert "(N-A##lem=lag## lag$)" in str(read(source, styled("icepahc", features=True))[0])
    assert counted == [LeftOut(trees=1, marks=7)], "codes and identifiers are counted, too"
    read(source, styled("icepahc"))
    assert counted[1:] == [LeftOut(lemmas=11, trees=1, marks=7)]
    read(Source("x", SINICA.encode(), on_left_out=counted.append))
    assert counted[2:] == [LeftOut(marks=SINICA.count("CATEGORY)"))], "the punctuation after a tree of the Sinica Treebank"
    cess = read(Source("x.tbf", CESS.encode()), styled("cess", features=True))[0]
    assert "(vmis3s0##lem=llegar## llegó)" in str(cess)


def test_functions_of_floresta_and_sinica_can_be_left_out() -> None:
    name, text, _ = SAMPLES["floresta"]
    assert str(read(Source(name, text.encode()), styled("floresta", functions=False))[0]) == (
        '(fcl (np (art A) (prop Ana) (-- --) (np (« «) (n noiva) (»" »")) (-- --)) (v-fin dorme) (. .))'
    )
    twice = Source("x.ptb", b"(STA+fcl (ADVL/N<[+3]+pp (H+prp com)))")
    assert str(read(twice, styled("floresta", functions=False))[0]) == "(fcl (pp (prp com)))"
    assert str(read(Source("x", SINICA.encode()), ReadOptions(functions=False))[0]) == "(S (NP (Nhaa 他)) (Dd 常常) (VA11 來))"


def test_styles_apply_to_trees_in_memory_and_json_lines(tmp_path: Path) -> None:
    text = " ".join(HISTORICAL.split("\n\n")[2].split())
    _, _, (_, expected) = SAMPLES["icepahc"]
    assert str(treegauge.as_treebank([text], styled("icepahc"))[0]) == expected
    assert str(treegauge.as_treebank(text, styled("icepahc"))[0]) == expected
    assert str(treegauge.as_treebank(Tree.parse(text), styled("icepahc"))[0]) == expected


def test_a_plain_parse_of_the_words_fits_the_treebank() -> None:
    """The style of the gold trees does not change a parser's words, even if they have hyphens, nor lists of two words."""
    gold = Source("x.psd", HISTORICAL.encode())
    bank = read(gold, styled("icepahc"))
    traces = pipeline("traces,functions,root")
    perfect = [str(traces(tree)) for tree in bank]
    result = treegauge.score(bank, perfect, treebank="icepahc")
    assert (result.f1, result.rates["tagging_accuracy"]) == (1.0, pytest.approx(result.rates["tagging_accuracy"]))
    assert not result.notes
    plain = [text.replace("(VBDI dansaði)", "(VBDI dans-aði)") for text in perfect]
    assert read_words(plain, "icepahc") == read_words(plain, "")
    untagged = ["(NP el gato)", "(S (NP (da0ms0 el) (n gato)) (v come))"]
    assert read_words(untagged, "cess") == read_words(untagged, "")


def read_words(texts: list[str], treebank: str) -> list[tuple[str, ...]]:
    return [tree.words for tree in treegauge.as_treebank(texts, styled(treebank))]


def test_presets_know_the_functions_and_punctuation_of_a_style() -> None:
    gold, test = "(STA+fcl (SUBJ+np (H+n Ana)) (P+v-fin dorme) (.))", "(fcl (np (n Ana)) (v-fin dorme) (.))"
    assert treegauge.score(gold, test, treebank="floresta").f1 == 1
    assert treegauge.score(gold, test, treebank="floresta").rates["tagging_accuracy"] == 1
    assert treegauge.score(gold, gold, treebank="floresta").counts["words"] == 2
    assert treegauge.score(gold, test, treebank="floresta", preset="none").f1 == 0, "a preset that cuts no function keeps all"
    reading = treegauge.score(gold, test, reading=styled("floresta"))
    assert reading.signature == treegauge.score(gold, test, treebank="floresta").signature
    with pytest.raises(UnknownName, match="did you mean 'floresta'"):
        ReadOptions(treebank="florest")


def test_an_unclosed_tree_ends_where_a_comment_or_the_next_tree_begins() -> None:
    source = Source("x.ptb", FLORESTA.encode())
    with pytest.raises(InputError, match=r"x.ptb:15:1: opening bracket that is never closed; a comment follows on line 16"):
        read(source, styled("floresta"))
    for policy, second in (("skip", "()"), ("close", "(UTT+prop Lisboa)"), ("parse-fails", "()"), ("repair", "(UTT+prop Lisboa)")):
        bank = read(source, styled("floresta", on_error=policy))
        assert [str(tree) for tree in bank][1:] == [second, "(UTT+n Fim)"]
        (problem,) = bank.problems().values()
        assert problem.reason == "opening bracket that is never closed; a comment follows on line 16"
        assert (problem.text, problem.repairs) == {
            "skip": (b"(UTT+prop Lisboa", ()),
            "close": (b"", ("closing-added",)),
            "parse-fails": (b"(UTT+prop Lisboa", ()),
            "repair": (b"", ("closing-added",)),
        }[policy]
    inside = FLORESTA.replace("Lisboa\n#3", "Lisboa)\n#3").replace("         (P+v-fin", "# here\n         (P+v-fin")
    report = examine(Source("x.ptb", inside.encode()), styled("floresta"))
    assert report.n_errors == 2, "comments stand between trees: the first half is not closed, the second has no beginning"


def test_comments_between_trees_on_lines_of_their_own() -> None:
    """A blank line is a sentence without a parse there; what is put in its place does not move the comments into trees."""
    text = "\n".join(["#1 Lisboa", "(UTT+prop Lisboa)", "", "#2 Fim", "(UTT+n Fim)", "#3"])
    assert [str(tree) for tree in read(Source("x.ptb", text.encode()), styled("floresta", lines=True))] == [
        "(UTT+prop Lisboa)",
        "()",
        "(UTT+n Fim)",
    ]


def test_nothing_of_a_style_needs_a_file_that_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for treebank, (name, text, trees) in SAMPLES.items():
        for chunk in (1, 5, 17, 64):
            monkeypatch.setattr("treegauge.io.sources.CHUNK_BYTES", chunk)
            options = styled(treebank, encoding="utf-8", format="sinica" if treebank == "sinica" else "bracketed")
            found = [str(tree) for tree in read(Source(name, text.encode()), options)]
            assert found == trees, (treebank, chunk)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x", "not an identifier"),
        ("#1:1.[0] S(a", "not an identifier"),
        ("#1:1.[0] S(a:b:c)d#", "x:1:18: text after the end of the tree"),
        ("#1:1.[0] S((a:b:c))#", "x:1:12: an opening bracket without a label"),
        ("#1:1.[0] S(a:b:c|)#", "is not role:tag:word"),
        ("#1:1.[0] S(a:N(a:b:c)d:e:f)#", "follows a bracket"),
        ("#1:1.[0] S(a:N(a:b:c)#", "never closed"),
        ("#1:1.[0] S(a)#", "x:1:12: 'a' is not role:tag:word"),
        ("#1:1.[0] )#", "no node is open here"),
        ("#1:1.[0] #", "is not role:tag:word"),
    ],
)
def test_broken_lines_of_sinica_have_their_place(line: str, problem: str) -> None:
    source = Source("x", f"{line}\n{SINICA}".encode())
    with pytest.raises(FormatError) as caught:
        read(source, ReadOptions(format="sinica"))
    assert problem in str(caught.value)
    bank = read(source, ReadOptions(format="sinica", on_error="skip"))
    assert (len(bank), str(bank[0]), bank.problems()[0].text) == (3, "()", line.encode())


def test_the_command_lists_every_style(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["treebanks"])
    out = capsys.readouterr().out
    for name, style in TREEBANKS.items():
        assert f"{name}: {style.files}" in out
        assert style.example in out
        bank = read(Source("x", style.example.encode()), ReadOptions(treebank=name, encoding="utf-8"))
        assert len(bank) == 1, name
        assert bank.n_tokens, name


FOLDER = "data/treebanks"
FILES = {
    "icepahc.psd": "icepahc",
    "icepahc-1350.psd": "icepahc",
    "cess_esp": "cess",
    "floresta.ptb": "floresta",
    "sinica.parsed": "",
}


@pytest.fixture
def corpora(shared: Path) -> Path:
    folder = shared / FOLDER
    if not folder.is_dir():
        pytest.skip("the samples of treebanks are not at hand")
    if str(folder) not in nltk.data.path:
        nltk.data.path.append(str(folder))
    return folder


def sample(corpora: Path, name: str, **options: object) -> Treebank:
    return read(corpora / name, styled(FILES[name], **options))


def without_trace_tags(tree: Tree) -> Tree:
    """The tree with its traces as the file has them, and without the empty root that nltk leaves out."""
    made = rebuild(tree, lambda node, children: children if node.label == "-NONE-" else [node.replace(children=children)])
    assert made is not None
    only = made.children[0]
    return only if not made.label and len(made) == 1 and isinstance(only, Tree) else made


def s_expressions(text: str) -> Iterator[list]:
    """The nested lists of bracketed text: a reader of its own, which knows nothing of trees."""
    stack: list[list] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    assert len(stack) == 1
    yield from stack[0]


def historical(node: list) -> Tree | None:
    """A tree of a Penn historical corpus with lemmas, by the rules of its manual."""
    label, *children = node if node and isinstance(node[0], str) else ["", *node]
    if label in ("ID", "CODE", "META"):
        return None
    if len(children) == 1 and isinstance(children[0], str):
        word = children[0]
        is_trace = re.fullmatch(r"\*(\w+\*)?(-\d+)?", word) or (word == "0" and re.match(r"C$|P$|W", label))
        if not is_trace and re.fullmatch(r".+-[^-]+", word):
            word = word.rsplit("-", 1)[0]
        is_trace = is_trace or word == "*con*"  # written *con*-N in one tree
        return Tree(label, [Tree("-NONE-", [word]) if is_trace else word])
    kept = [child for child in children if isinstance(child, str) or child[0] not in ("ID", "CODE", "META")]
    if len(kept) == 1 and len(children) > 1 and isinstance(kept[0], str):
        return historical([label, *kept])
    made = [child if isinstance(child, str) else historical(child) for child in kept]
    return Tree(label, [child for child in made if child is not None]) if made else None


def test_icepahc_as_a_script_of_its_own_reads_it(corpora: Path) -> None:
    for name in ("icepahc.psd", "icepahc-1350.psd"):
        expected = [historical(tree) for tree in s_expressions((corpora / name).read_text("utf-8"))]
        assert list(sample(corpora, name)) == expected
    expected = [historical(tree) for tree in s_expressions(HISTORICAL.replace("(, ---)", "(, -)"))]
    assert list(read(Source("x.psd", HISTORICAL.encode()), styled("icepahc"))) == [expected[0], expected[2]]


def test_cess_as_nltk_reads_it(corpora: Path) -> None:
    theirs = BracketParseCorpusReader(str(corpora / "cess_esp"), r".*\.tbf", encoding="latin-1").parsed_sents()
    assert [without_trace_tags(tree) for tree in sample(corpora, "cess_esp")] == [Tree.from_nltk(tree) for tree in theirs]


def test_sinica_as_nltk_reads_it(corpora: Path) -> None:
    theirs = SinicaTreebankCorpusReader(str(corpora), ["sinica.parsed"]).parsed_sents()
    assert list(sample(corpora, "sinica.parsed", functions=False)) == [Tree.from_nltk(tree) for tree in theirs]


def test_floresta_as_nltk_reads_it(corpora: Path) -> None:
    """nltk gives a word to punctuation of one character only, and loses the eight trees that are not closed; of the two trees that
    follow such a tree inside its brackets, it keeps the words of one.
    """
    theirs = BracketParseCorpusReader(str(corpora), "floresta.ptb", "#", encoding="latin-1").parsed_sents()
    bank = sample(corpora, "floresta.ptb", on_error="skip")
    lost = bank.problems()

    def make(node: Tree, children: list) -> list:
        is_long = children == [node.label] and len(node.label) > 1
        return [node.replace(children=[] if is_long else children)]

    ours = [rebuild(tree, make) for index, tree in enumerate(bank) if index not in lost]
    pairs = list(zip(ours, map(Tree.from_nltk, theirs), strict=True))
    (flat,) = [pair for pair in pairs if pair[0] != pair[1]]
    assert flat[0].words == flat[1].words
    numbers = re.findall(rb"^#\d+ ", (corpora / "floresta.ptb").read_bytes(), re.MULTILINE)
    assert (len(bank), len(lost)) == (len(numbers), 8)
    repaired = sample(corpora, "floresta.ptb", on_error="close")
    assert all(tree.width for tree in repaired)
    assert [tree for index, tree in enumerate(repaired) if index not in lost] == [
        bank[i] for i in range(len(bank)) if i not in lost
    ]


@pytest.mark.parametrize("name", FILES)
def test_samples_come_back_from_brackets(name: str, corpora: Path) -> None:
    round_trip(sample(corpora, name, on_error="close"), FILES[name])


@pytest.mark.parametrize("name", FILES)
def test_validate_is_silent_or_right_on_samples(name: str, corpora: Path) -> None:
    files = sorted((corpora / name).iterdir()) if (corpora / name).is_dir() else [corpora / name]
    reports = [examine(Source(str(file)), styled(FILES[name])) for file in files]
    assert sum(report.n_errors for report in reports) == (8 if name == "floresta.ptb" else 0)
    assert sum(report.n_remarks for report in reports) == 0
    if FILES[name]:
        hints = [examine(Source(str(file))).remarks[:2] for file in files]
        assert all(any(f'treebank="{FILES[name]}"' in remark.text for remark in remarks) for remarks in hints)


PERTURBED = {
    "icepahc.psd": (r"\(NP-OB1 ", "(XP-OB1 "),
    "icepahc-1350.psd": (r"\(NP-OB1 ", "(XP-OB1 "),
    "cess_esp": (r"\(grup\.verb\b", "(grup.xverb"),
    "floresta.ptb": (r"\+np \(", "+xp ("),
    "sinica.parsed": (r"NP\(", "XP("),
}


@pytest.mark.parametrize("name", FILES)
def test_a_perturbed_copy_loses_the_brackets_that_were_changed(name: str, corpora: Path, tmp_path: Path) -> None:
    """Every 7th label of a kind is changed in the file itself: as many brackets are wrong, and nothing else."""
    path, (pattern, put) = corpora / name, PERTURBED[name]
    encoding = TREEBANKS[FILES[name]].encoding if FILES[name] else ""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    text = "\n".join(file.read_text(encoding or "utf-8") for file in files)
    if name == "floresta.ptb":  # a broken gold tree stops scoring
        text = re.sub(r"^[ ]*\(\S+ [^()\n]+$", r"\g<0>)", text, flags=re.MULTILINE)
    gold, test = tmp_path / f"gold{files[0].suffix}", tmp_path / f"test{files[0].suffix}"
    gold.write_text(text, encoding or "utf-8")
    count = 0

    def change(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return put if count % 7 == 0 else found[0]

    test.write_text(re.sub(pattern, change, text), encoding or "utf-8")
    treebank = FILES[name] or "sinica"
    same = treegauge.score(str(gold), str(gold), treebank=treebank)
    assert (same.f1, same.rates["tagging_accuracy"], same.notes) == (1, 1, ())
    worse = treegauge.score(str(gold), str(test), treebank=treebank)
    empty = sum(changed_over_traces(read(gold, styled(treebank)), read(test, styled(treebank))))
    assert count > 20
    assert worse.counts["matched"] == worse.counts["gold"] - (count // 7 - empty)
    assert worse.rates["tagging_accuracy"] == 1
    perfect = [str(pipeline("traces")(tree)) for tree in read(gold, styled(treebank))]
    assert treegauge.score(str(gold), perfect, treebank=treebank).f1 == 1, "a perfect parse of the words"


def changed_over_traces(gold: Treebank, test: Treebank) -> Iterator[bool]:
    """For each node whose label was changed, whether it covers no counted word."""
    for ours, theirs in zip(gold, test, strict=True):
        for node, other in zip(ours.nodes(), theirs.nodes(), strict=True):
            if node.label != other.label:
                counted = [word for word, tag in node.tagged() if tag != "-NONE-"]
                yield not counted
