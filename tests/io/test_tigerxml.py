"""TIGER-XML: trees as TIGER has them, and everything an XML file can do to a reader."""

from __future__ import annotations

from pathlib import Path

import pytest

import treegauge.io.sources as text_module
from treegauge.cli import main
from treegauge.cli.convert import command as convert
from treegauge.errors import FormatError, InputError
from treegauge.io import ReadOptions, Source, check, read

HEAD = '<?xml version="1.0" encoding="{encoding}" standalone="yes"?>\n<corpus id="X">\n<head><meta/></head>\n<body>\n'
TIGER = """\
<s id="s1">
<graph root="s1_VROOT">
<terminals>
<t id="s1_1" word="``" lemma="--" pos="$(" morph="--" case="--" />
<t id="s1_2" word="Ross" lemma="Ross" pos="NE" morph="Nom.Sg.Masc" case="nom" number="sg" />
<t id="s1_3" word="Perot &amp; Söhne" lemma="Perot" pos="NE" morph="Nom.Sg.Masc" case="nom" number="sg"/>
</terminals>
<nonterminals>
<nt id="s1_500" cat="PN"><edge label="PNC" idref="s1_3" /><edge label="PNC" idref="s1_2" /></nt>
<nt id="s1_VROOT" cat="VROOT"><edge label="--" idref="s1_1" /><edge label="--" idref="s1_500" /></nt>
</nonterminals>
</graph>
</s>
<s id="s2">
<graph root="s2_500"><terminals><t id="s2_1" word="Ja" pos="PTKANT" morph="--"/></terminals>
<nonterminals><nt id="s2_500" cat="S"><edge label="HD" idref="s2_1"/><secedge label="x" idref="s2_1"/></nt></nonterminals></graph>
</s>
"""


def corpus(body: str = TIGER, encoding: str = "UTF-8") -> bytes:
    return (HEAD.format(encoding=encoding) + body + "</body>\n</corpus>\n").encode(encoding)


def errors(data: bytes) -> list[str]:
    return [f"{item.place}: {item.problem}" for item in check(Source("x.xml", data)) if isinstance(item, InputError)]


@pytest.mark.parametrize("chunk", [1, 10, 1 << 20])
def test_a_corpus_as_tiger_has_it(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "CHUNK_BYTES", chunk)
    bank = read(Source("x.xml", corpus()))
    assert [str(tree) if index else repr(tree.words) for index, tree in enumerate(bank)] == [
        "('``', 'Ross', 'Perot & Söhne')",
        "(VROOT (S (PTKANT-HD Ja)))",
    ]
    assert bank[0].tags == ("$(", "NE-PNC", "NE-PNC")
    assert [bank.place(0), bank.place(1)] == ["x.xml:5 (sentence s1)", "x.xml:18 (sentence s2)"]


def test_the_declared_encoding_counts_unless_another_is_given() -> None:
    plain = read(Source("x.xml", corpus()))
    assert read(Source("x.xml", corpus(encoding="ISO-8859-1"))) == plain
    lying = corpus(encoding="ISO-8859-1").replace(b"ISO-8859-1", b"UTF-8")
    assert errors(lying) == ["x.xml:10:33: this is not XML: not well-formed (invalid token)"]
    assert read(Source("x.xml", lying), ReadOptions(encoding="latin-1")) == plain


def test_functions_and_features() -> None:
    assert read(Source("x.xml", corpus()), ReadOptions(functions=False))[1].label == "VROOT"
    tags = read(Source("x.xml", corpus()), ReadOptions(features=True))[0].tags
    assert tags == ("$(", "NE-PNC##lem=Ross|case=nom|number=sg##", "NE-PNC##lem=Perot|case=nom|number=sg##")


def test_the_same_treebank_in_both_formats_gives_the_same_trees() -> None:
    export = "#FORMAT 3\n#BOS 1 0 0 0\nJa\tPTKANT\t--\tHD\t500\n#500\tS\t--\t--\t0\n#EOS 1\n"
    assert read(Source("x.export", export.encode()))[0] == read(Source("x.xml", corpus()))[1]


GAP = """<s id="s9"><graph root="s9_501"><terminals><t id="a" word="Das" pos="PDS"/><t id="b" word="kann" pos="VMFIN"/>
<t id="c" word="ich" pos="PPER"/><t id="d" word="tun" pos="VVINF"/></terminals><nonterminals>
<nt id="s9_500" cat="VP"><edge label="OA" idref="a"/><edge label="HD" idref="d"/></nt>
<nt id="s9_501" cat="S"><edge label="OC" idref="s9_500"/><edge label="HD" idref="b"/><edge label="SB" idref="c"/></nt>
</nonterminals></graph></s>"""


def test_the_examples_of_the_help_work_on_trees_with_gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiger.xml").write_bytes(corpus(GAP))
    lines = [line.partition("     ")[0] for line in (convert.epilog or "").split("\n")]
    examples = [line.split()[1:] for line in map(str.strip, lines) if " tiger.xml " in line]
    assert len(examples) == 2
    for example in examples:
        with pytest.raises(SystemExit, match="0"):
            main(example)


def test_a_discontinuous_tree() -> None:
    bank = read(Source("x.xml", corpus(GAP + TIGER + GAP)))
    assert [bank.has_gaps(index) for index in range(4)] == [True, False, False, True]
    assert str(bank[0]) == "(VROOT (S (VP-OC (PDS-OA 0=Das) (VVINF-HD 3=tun)) (VMFIN-HD 1=kann) (PPER-SB 2=ich)))"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<s id="q"><graph><t id="a" pos="X"/></graph></s>', "x.xml:5:18: sentence q: word a has no text (attribute word)"),
        ('<s id="q"><graph><t word="w"/></graph></s>', "x.xml:5:18: sentence q: an element without an id"),
        ('<s id="q"><graph><t id="a" word="w"/><t id="a" word="w"/></graph></s>', "x.xml:5:38: sentence q: the id a occurs twice"),
        (
            '<s id="q"><graph><t id="a" word="w"/><nt id="n" cat="X"><edge idref="b"/></nt></graph></s>',
            "x.xml:5:57: sentence q: an edge of n leads to 'b', which does not exist",
        ),
        (
            '<s id="q"><graph><t id="a" word="w"/><nt id="n"><edge idref="a"/></nt><nt id="m"><edge idref="a"/></nt></graph></s>',
            "x.xml:5:82: sentence q: a has two parents, n and m",
        ),
        (
            '<s id="q"><graph><t id="a" word="w"/><nt id="n" cat="X"/></graph></s>',
            "x.xml:5:38: sentence q: node n (X) covers no word",
        ),
        (
            '<s id="q"><graph><t id="a" word="w"/><edge idref="a"/></graph></s>',
            "x.xml:5:38: sentence q: an edge outside of any node <nt>",
        ),
    ],
)
def test_what_can_be_wrong_with_a_sentence(body: str, said: str) -> None:
    assert errors(corpus(body + TIGER)) == [said]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (corpus()[:-20], "this is not XML: unclosed token"),
        (corpus()[:-24], "this is not XML: no element found"),
        (b"<corpus><s id='1'><graph></s></corpus>", "this is not XML: mismatched tag"),
        (b"<corpus>\xff\xfe</corpus>", "this is not XML: not well-formed"),
        (b"<corpus>\0</corpus>", "this is not XML: not well-formed"),
        (b"<?xml version='1.0' encoding='klingon'?><corpus/>", "this XML cannot be read: unknown encoding: klingon"),
        (b"<?xml version='1.0' encoding='big5'?><corpus/>", "this XML cannot be read: multi-byte encodings are not supported"),
        (b"<page><body>hello</body></page>", "this XML is not a treebank: <page>"),
        (b"<html><body>hello</body></html>", "this is HTML, not a treebank"),
        (b"<corpus>&nbsp;</corpus>", "this is not XML: undefined entity"),
    ],
)
def test_xml_that_is_none(data: bytes, said: str) -> None:
    assert said in errors(data)[-1]


def test_entities_are_not_expanded() -> None:
    bomb = (
        "<!DOCTYPE corpus [\n<!ENTITY a0 'ha'>\n"
        + "".join(f"<!ENTITY a{k} '&a{k - 1};&a{k - 1};'>\n" for k in range(1, 40))
        + "]>\n"
    )
    data = (bomb + "<corpus><s id='1'><graph><t id='a' word='&a39;'/></graph></s></corpus>").encode()
    assert errors(data) == [
        "x.xml:2:13: the entity a0 is declared: entities are not accepted, since they can be made to expand without end"
    ]
    external = b"<!DOCTYPE corpus [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><corpus><s id='1'><t id='a' word='&x;'/></s></corpus>"
    assert "the entity x is declared" in errors(external)[0]


def test_a_doctype_without_entities_is_fine() -> None:
    assert len(read(Source("x.xml", corpus().replace(b"<corpus", b'<!DOCTYPE corpus SYSTEM "TigerXML.dtd">\n<corpus', 1)))) == 2


def test_deeply_nested_elements() -> None:
    with pytest.raises(FormatError, match="not a treebank"):
        read(Source("x.xml", b"<a>" * 100_000 + b"</a>" * 100_000))
