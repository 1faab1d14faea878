"""Broken trees: what becomes of each, and of the trees around it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from hypothesis import assume, given, strategies as st

import treegauge
from treegauge import io
from treegauge.errors import BracketError, FormatError, InputError, TreegaugeWarning, UnknownName, UsageError
from treegauge.io.repairs import REPAIRS, repair
from treegauge.io.sources import ReadOptions, Source
from treegauge.io.validation import examine
from treegauge.testing.strategies import trees
from treegauge.trees.notation import one_line
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank


def read(
    text: str | bytes, on_error: str = "parse-fails", *, lines: bool = False, name: str = "x.mrg", field: str = ""
) -> Treebank:
    data = text if isinstance(text, bytes) else text.encode()
    return io.read(Source(name, data), ReadOptions(on_error=on_error, lines=lines, field=field, encoding="utf-8"))


def shown(bank: Treebank) -> list[str]:
    return [str(tree) for tree in bank]


def test_an_unclosed_tree_ends_before_the_next_line_that_begins_with_a_bracket() -> None:
    bank = read("(S (N a))\n(S (N b)\n  (V c)\n(S (N d))\n")
    assert shown(bank) == ["(S (N a))", "()", "(S (N d))"]
    assert bank.problems()[1].place == "x.mrg:2:1"
    assert bank.problems()[1].reason == "opening bracket that is never closed; a new tree begins on line 4"
    assert bank.place(2) == "x.mrg:4"


def test_an_extra_closing_bracket_breaks_the_tree_before_it() -> None:
    bank = read("(S (N a))\n(S (N b)))\n(S (N c))\n)\n(S (N d))\n")
    assert shown(bank) == ["(S (N a))", "()", "()", "(S (N d))"]
    assert [bank.problems()[number].place for number in (1, 2)] == ["x.mrg:2:10", "x.mrg:4:1"]


def test_errors_that_cancel_out_are_two_broken_trees() -> None:
    """One bracket too few and, three trees on, one too many: the brackets of the file balance."""
    text = "(S (N a))\n(S (N b)\n(S (N c))\n(S (N d)))\n(S (N e))\n"
    assert shown(read(text)) == ["(S (N a))", "()", "(S (N c))", "()", "(S (N e))"]


def test_brackets_at_the_margin_of_a_file_that_is_written_so_are_no_new_trees() -> None:
    bank = read("(S\n(N a)\n(V b))\n(S\n(N c)\n(V d))\n")
    assert shown(bank) == ["(S (N a) (V b))", "(S (N c) (V d))"]
    assert not bank.problems()


def test_a_sentence_instead_of_a_tree_is_a_sentence_without_a_parse() -> None:
    bank = read("(S (N a))\nI cannot parse (this),\nsorry.\n(S (N b))\n")
    assert shown(bank) == ["(S (N a))", "()", "(S (N b))"]
    assert bank.problems()[1].reason == "text outside brackets"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("```\n(S (N a))\n```", " (a code fence)"),
        ("[S [N a]]", " (square brackets)"),
        ("I cannot.", " (no bracket at all)"),
        ("Sure: (S (N a))", ""),
    ],
)
def test_the_text_outside_brackets_is_named(answer: str, kind: str) -> None:
    for on_error in ("parse-fails", "repair"):
        bank = io.as_treebank(["(S (N a))", answer], ReadOptions(on_error=on_error))
        assert bank.problems()[1].reason == f"text outside brackets{kind}"


def test_of_several_trees_on_a_line_only_the_one_with_the_error_is_broken() -> None:
    assert shown(read("(A a) (B b) word\n(C c)")) == ["(A a)", "()", "(C c)"]


def test_with_lines_each_line_stays_a_sentence() -> None:
    bank = read("(S (N a))\n(S (N b)\n\n   (S (N c)))\n(S (N d))", lines=True)
    assert shown(bank) == ["(S (N a))", "()", "()", "()", "(S (N d))"]
    assert sorted(bank.problems()) == [1, 3]


def test_a_byte_that_is_no_utf8_costs_one_sentence() -> None:
    bank = read("(S (N a))\n(S (N M\xfcller))\n(S (N b))\n".encode("latin-1"))
    assert shown(bank) == ["(S (N a))", "()", "(S (N b))"]
    assert bank.problems()[1].place == "x.mrg:2:8"


def test_gold_is_read_as_before() -> None:
    with pytest.raises(BracketError):
        read("(S (N a)", "stop")
    assert ReadOptions(on_error="repair", field="x").of_gold == ReadOptions()
    with pytest.raises(UnknownName):
        ReadOptions(on_error="ignore")


@pytest.mark.slow
def test_large_files_are_read_on_after_an_error() -> None:
    """Far more than one block: before, between and after the errors trees are where they were."""
    lines = [f"(S (N word{number}) (V b))" for number in range(100_000)]
    for number in (0, 50_000, 99_999):
        lines[number] = "(S (N broken)"
    bank = read("\n".join(lines))
    assert len(bank) == len(lines)
    assert sorted(bank.problems()) == [0, 50_000, 99_999]
    assert [bank.words(number) for number in (49_999, 50_000, 50_001)] == [["word49999", "b"], [], ["word50001", "b"]]
    assert bank.place(50_001) == "x.mrg:50002"


def test_problems_stay_with_their_trees() -> None:
    bank = read("(A a)\n(B b\n(C c)\n")
    assert sorted(bank[1:].problems()) == [0]
    assert sorted(bank.take([2, 1, 0, 1]).problems()) == [1, 3]
    assert sorted(Treebank.concatenate([bank, bank]).problems()) == [1, 4]


LLM = """Sure! Here are the parses you asked for (all four):
```text
1. (S (NP (N rain)) (VP (V falls)))
2. (S (NP (N snow)) (VP (V melts))
3. [S [NP [N ice]] [VP [V cracks]]]
4. (S (NP (N fog)) (VP (V lifts))))
```
Hope this helps!
"""


def test_repair_of_what_a_language_model_writes() -> None:
    bank = read(LLM, "repair")
    assert shown(bank) == [
        "(S (NP (N rain)) (VP (V falls)))",
        "(S (NP (N snow)) (VP (V melts)))",
        "(S (NP (N ice)) (VP (V cracks)))",
        "(S (NP (N fog)) (VP (V lifts)))",
    ]
    repairs = [bank.problems()[number].repairs for number in range(4)]
    assert repairs == [
        ("code-fence", "numbering", "prose"),
        ("numbering", "closing-added"),
        ("numbering", "square-brackets"),
        ("code-fence", "numbering", "prose", "closing-removed"),
    ]


def test_of_several_trees_in_an_answer_one_is_taken() -> None:
    tree, other = "(S (NP (N a)) (VP (V b)))", "(S (N a) (V b))"
    for answer, named in ((f"{tree} {other}", ()), (f"{other}\n{tree}", ()), (f"First: {other} or {tree}", ("prose",))):
        bank = io.as_treebank([answer, other], ReadOptions(on_error="repair"))
        assert shown(bank) == [tree, other]
        assert bank.problems()[0].repairs == (*named, "several-trees")
    assert "several trees over the same words" in io.as_treebank([f"{tree} {other}"], on_error="repair").problems()[0].reason
    for answer in (f"{tree}\n\n(Note: the verb is intransitive.)", f"(Here is the tree:)\n{tree}"):
        bank = io.as_treebank([answer, other], ReadOptions(on_error="repair"))
        assert (shown(bank), bank.problems()[0].repairs) == ([tree, other], ("prose",))
    untagged = "(NP the old cat) (VP (V sat) (ADV down there))"
    assert shown(io.as_treebank([untagged], on_error="repair")) == [f"( {untagged})"]
    parts = io.as_treebank(["(NP (N a)) (VP (V b))"], ReadOptions(on_error="repair"))
    assert (shown(parts), parts.problems()) == (["( (NP (N a)) (VP (V b)))"], {}), "the parts of one sentence"


def test_a_label_that_becomes_a_word_is_named() -> None:
    answer = "(S (PP (IN With) NP (DT these))) (VP (V go)))"
    bank = io.as_treebank([answer, "(S NP (DT the)) x"], ReadOptions(on_error="repair"))
    assert [problem.reason.rpartition("; ")[2] for problem in bank.problems().values()] == ["'NP' is now a word without a tag"] * 2


def test_text_between_trees_is_a_sentence_but_belongs_to_a_tree_that_is_introduced() -> None:
    """Between the trees of a parser it stands for a parse; a language model introduces, fences and numbers its trees."""
    text = "(S (N a))\nparse failed\n(S (N c)\n"
    assert shown(read(text, "repair")) == ["(S (N a))", "()", "(S (N c))"]
    assert shown(read("Here they are:\n" + text, "repair")) == ["(S (N a))", "(S (N c))"]
    nested = "(S\n(N a)\n(V b))\n" * 3
    assert shown(read(nested + "(S (N c))) \n", "repair")) == ["(S (N a) (V b))"] * 3 + ["(S (N c))"]


def test_repair_of_trees_over_several_lines() -> None:
    text = "**1.** Here: (S\n   (NP (N a))\n   (VP (V b)\n\nThat is it.\n\n2. (S\n  (N x))\n"
    assert shown(read(text, "repair")) == ["(S (NP (N a)) (VP (V b)))", "(S (N x))"]


def test_what_cannot_be_repaired_is_a_sentence_without_a_parse() -> None:
    bank = read("(S (N a))\nNo idea (sorry)\n(S (N b)\n", "repair", lines=True)
    assert shown(bank) == ["(S (N a))", "()", "(S (N b))"]
    assert bank.problems()[1].repairs == ()


def test_a_text_without_any_tree_is_one_sentence() -> None:
    assert shown(read("As an assistant I cannot help.", "repair", name="x.mrg")) == ["()"]


def test_every_error_of_json_lines_is_listed_and_the_other_trees_are_read() -> None:
    records: list[object] = [
        {"out": "(S (N a))"},
        {"out": "(S (N b)"},
        {"out": "I cannot."},
        7,
        {"out": 3},
        {"out": None},
        {"out": "(A b)"},
    ]
    data = "\n".join([*map(json.dumps, records), "no json"]).encode()
    report = examine(Source("x.jsonl", data), ReadOptions(field="out"))
    assert (report.n_trees, report.n_errors, report.n_remarks) == (3, 5, 1)
    assert [(error.line, error.problem.split(":")[0]) for error in report.errors] == [
        (2, "opening bracket that is never closed; the text ends on line 2"),
        (3, "text outside brackets"),
        (4, "not a JSON object"),
        (5, "the field 'out' is not text; there are"),
        (8, "not JSON"),
    ]
    assert report.remarks[0].place == "x.jsonl:6"
    report = examine(Source("x.jsonl", data))
    assert [error.problem for error in report.errors] == ["no field 'parse'; there are: out"]
    assert type(report.errors[0]) is FormatError


def test_json_lines() -> None:
    records: list[object] = [{"parse": "(S (N a))"}, {"parse": "(S\n (N b)"}, {"other": 1}, 7, {"parse": None}, {"parse": 3}]
    text = "\n".join([*map(json.dumps, records), "no json"])
    bank = read(text, name="x.jsonl")
    assert shown(bank) == ["(S (N a))", *["()"] * 6]
    assert sorted(bank.problems()) == [1, 2, 3, 5, 6]
    assert shown(read(text, "repair", name="x.txt", field="parse"))[:2] == ["(S (N a))", "(S (N b))"]
    with pytest.raises(FormatError, match="no field 'tree'; there are: parse"):
        read(text, "stop", name="x.jsonl", field="tree")


@pytest.mark.parametrize("on_error", ["parse-fails", "repair", "stop"])
def test_json_lines_without_the_field_are_one_error(on_error: str) -> None:
    """The error names the fields there are, and the one that looks like a tree; a.b reaches inside."""
    records = [{"id": i, "answer": {"choices": [{"text": "(S (N a))"}]}} for i in range(5000)]
    text = "\n".join(["", "no json" if on_error != "stop" else "", *map(json.dumps, records)])
    with pytest.raises(FormatError) as refusal:
        read(text, on_error, name="x.jsonl")
    assert str(refusal.value).splitlines() == [
        "x.jsonl:3: no field 'parse'; there are: id, answer.choices.0.text",
        '  Give field="answer.choices.0.text".',
    ]
    assert len(shown(read(text, on_error, name="x.jsonl", field="answer.choices.0.text"))) == 5002
    assert shown(read('{"a.b": "(S (N a))"}', on_error, name="x.jsonl", field="a.b")) == ["(S (N a))"]
    for field in ("answer", "answer.choices.1.text", "answer.choices.x", "answer.choices.0.text.x", "id.0", "a..b", "."):
        with pytest.raises(FormatError, match=r"no field|is not text"):
            read(json.dumps(records[0]), "stop", name="x.jsonl", field=field)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"parse": {"tree": "(S (N a))"}, "id": 1}', "the field 'parse' is not text; there are: parse.tree, id"),
        ('{"parse": ["(S (N a))"]}', "the field 'parse' is not text; there are: parse.0"),
        ('{"parse": 3}', "the field 'parse' is not text; there are: parse"),
        ('{"parse": "(S (N \\ud800))"}', "the field 'parse' is not text: it contains half of a surrogate pair"),
        ('["(S (N a))"]', "not a JSON object"),
        ("(S (N a))", "not JSON: Expecting value: line 1 column 1 (char 0)"),
    ],
)
@pytest.mark.parametrize("on_error", ["parse-fails", "repair", "stop"])
def test_json_lines_without_any_text_are_one_error(line: str, problem: str, on_error: str) -> None:
    with pytest.raises(FormatError) as refusal:
        read(f"{line}\n" * 3, on_error, name="x.jsonl")
    assert str(refusal.value).splitlines()[0] == f"x.jsonl:1: {problem}"
    if on_error != "stop":
        assert shown(read(f'{line}\n{{"parse": "(S (N a))"}}', on_error, name="x.jsonl")) == ["()", "(S (N a))"]


def test_one_bad_json_line_costs_one_sentence() -> None:
    bad = ['{"parse": "(S (N \\ud800))"}', "[" * 5000, '{"parse": ' + "[" * 5000, '{"parse": 1' + "0" * 5000 + "}", '{"parse": "(S']
    good = '{"parse": "(S (N a))"}'
    bank = read("\n".join([good, *bad, good]), name="x.jsonl")
    assert shown(bank) == ["(S (N a))", *["()"] * len(bad), "(S (N a))"]
    assert sorted(bank.problems()) == [1, 2, 3, 4, 5]


def test_items_of_a_list() -> None:
    options = ReadOptions(on_error="parse-fails")
    bank = io.as_treebank(["(S (N a))", "(S (N", "garbage", "", "(S (N \ud800))"], options)
    assert shown(bank)[:4] == ["(S (N a))", "()", "()", "()"]
    assert bank.problems()[1].place == "<strings>:2:1"
    mixed = io.as_treebank([Tree.parse("(A a)"), "(S (N", None], options)
    assert shown(mixed) == ["(A a)", "()", "()"]
    assert {number: problem.place for number, problem in mixed.problems().items()} == {1: "tree 2"}


def test_missing_values_of_pandas_are_sentences_without_a_parse() -> None:
    class NAType:
        def __bool__(self) -> bool:
            raise TypeError("boolean value of NA is ambiguous")

        __eq__ = __ne__ = lambda self, other: self  # type: ignore[assignment]
        __hash__ = None  # type: ignore[assignment]

    bank = io.as_treebank(["(S (N a))", float("nan"), NAType(), None], ReadOptions(on_error="parse-fails"))
    assert (shown(bank), bank.problems()) == (["(S (N a))", "()", "()", "()"], {})


def test_one_answer_is_text_and_not_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in ("```\n(S (N a))\n```", "Sure: (S (N a))", "1. Here\n\n(S (N a))"):
        assert shown(io.as_treebank(answer, ReadOptions(on_error="repair"))) == ["(S (N a))"]
        assert treegauge.score(Tree.parse("(S (N a))"), answer, on_error="repair").parsed == 1
        assert treegauge.score(Tree.parse("(S (N a))"), answer).parsed == 0
    with pytest.raises(InputError, match=r"I cannot: no such file\n  For one answer give a list: \[answer\]"):
        treegauge.score(["(S (N a))"], "I cannot")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a (1).mrg").write_text("(S (N a))")
    assert shown(io.read("a (1).mrg")) == ["(S (N a))"]


@pytest.mark.parametrize("others", [[], [Tree.parse("(S (N a))")]])
def test_an_answer_that_is_no_tree_says_what_reads_it(others: list[Tree]) -> None:
    with pytest.raises(UsageError, match=r'1.* is not bracketed text.*\n.*on_error="repair"'):
        io.read(["Sure: (S (N a))", *others])
    with pytest.raises(BracketError) as refusal:
        io.read(["(S (N a", *others])
    assert "the text ends" not in str(refusal.value)
    with pytest.raises(BracketError, match='code fence is read with on_error="repair"'):
        io.read(["(S (N a)) as you wished"])
    report = examine(Source("x.jsonl", b'{"parse": "```(S (N a))"}'))
    assert report.errors[0].advice == 'A tree inside prose or a code fence is read with on_error="repair".'


@pytest.mark.parametrize("indent", [None, 1])
def test_a_json_array_is_read_item_by_item(indent: int | None) -> None:
    text = json.dumps([{"parse": "(S (N a))"}, {"parse": None}, {"parse": "no"}, {"parse": "(S (N b))"}], indent=indent)
    for name in ("x.json", "x.jsonl"):
        bank = read(text, name=name)
        assert shown(bank) == ["(S (N a))", "()", "()", "(S (N b))"]
        assert bank.problems()[2].place == f"{name}:3:1"
    with pytest.raises(FormatError, match="not JSON"):
        read(text[:-4], name="x.json")


class SimpleFrame(list[str]):
    """What pandas and polars have in common."""

    columns = ("sentence", "answer")


@pytest.mark.parametrize("on_error", ["parse-fails", "repair", "stop"])
def test_a_list_of_something_else_is_refused(on_error: str) -> None:
    """A single item among trees is a bad answer, which counts as a sentence without a parse unless reading stops there."""
    options = ReadOptions(on_error=on_error)
    for item in ({"parse": "(S (N a))"}, 3, b"(S (N a))", ["(S (N a))"]):
        with pytest.raises(UsageError, match=f"item 2 of the list: expected a Tree.* not {type(item).__name__}"):
            io.as_treebank(["(S (N a))" if on_error == "stop" else None, item, item], options)
        if on_error != "stop":
            bank = io.as_treebank(["(S (N a))", item], options)
            assert (shown(bank), bank.problems()[1].place) == (["(S (N a))", "()"], "tree 2")
            assert f"expected a Tree, an nltk.Tree or bracketed text, not {type(item).__name__}" in bank.problems()[1].reason
    with pytest.raises(UsageError, match=r"not a SimpleFrame; give a column: df\['answer'\]"):
        io.as_treebank(SimpleFrame(), options)
    with pytest.raises(UsageError, match="record\\['parse'\\]"):
        io.as_treebank([{"parse": "(S (N a))"}], options)


def test_a_list_of_file_names_is_not_a_list_of_parses(tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text("(A a)")
    with pytest.raises(UsageError, match="is not bracketed text"):
        io.as_treebank([str(tmp_path / "a.mrg")], ReadOptions(on_error="parse-fails"))


@given(st.lists(trees(), min_size=1, max_size=6), st.data())
def test_whatever_happens_to_one_line_the_others_are_read(bank: list[Tree], data: st.DataObject) -> None:
    lines = [one_line(tree) for tree in bank]
    hurt = data.draw(st.integers(0, len(lines) - 1))
    kind = data.draw(st.sampled_from(["cut", "surplus", "words", "garbage"]))
    cut = data.draw(st.integers(1, len(lines[hurt]) - 1))
    assume("\\)" not in lines[hurt])  # with one bracket more, the backslash escapes it, and all is well
    lines[hurt] = {
        "cut": lines[hurt][:cut],
        "surplus": lines[hurt] + ")" * cut,
        "words": lines[hurt] + " and so on",
        "garbage": "garbage" * cut,
    }[kind]
    read_back = read("\n".join(lines))
    assert len(read_back) == len(lines)
    expected = ["()" if number == hurt else str(tree) for number, tree in enumerate(bank)]
    assert shown(read_back) == expected


@given(trees(), st.data())
def test_repair_gives_back_a_tree_that_lost_closing_brackets(tree: Tree, data: st.DataObject) -> None:
    text = one_line(tree)
    lost = data.draw(st.integers(0, len(text) - len(text.rstrip(")"))))
    surplus = data.draw(st.integers(0, 3)) if not lost else 0
    found = repair((text[: len(text) - lost] + ")" * surplus).encode())
    if tree.words:
        assert found is not None
        assert found.tree.decode() == text
        assert set(found.repairs) <= set(REPAIRS)


def test_repairs_in_python_are_a_warning_at_the_line_of_the_caller(tmp_path: Path) -> None:
    (tmp_path / "x.mrg").write_text("(A a)\n(B (C c)\n(D d)\n")
    with pytest.warns(TreegaugeWarning, match="broken trees among 3: 1 repaired, 0 without a parse") as found:
        bank = io.read(tmp_path / "x.mrg", lines=True, on_error="repair")
    assert (len(bank), len(found), found[0].filename) == (3, 1, __file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(io.read(tmp_path / "x.mrg", ReadOptions(lines=True, on_error="repair"))) == 3


def test_the_last_line_is_the_same_whether_errors_are_listed_or_repaired(tmp_path: Path) -> None:
    (tmp_path / "x.mrg").write_text("(A a)\n(B (C c)\n")
    (error,) = examine(Source(str(tmp_path / "x.mrg"))).errors
    (problem,) = io.read(tmp_path / "x.mrg", ReadOptions(on_error="close")).problems().values()
    assert error.problem == problem.reason == "opening bracket that is never closed; the text ends on line 2"


def test_a_model_is_no_treebank(tmp_path: Path) -> None:
    for name in ("x.mrg", "x.xml"):
        (tmp_path / name).write_bytes(b"PK\3\4" + bytes(range(256)))
        with pytest.raises(FormatError, match="a treegauge model"):
            io.read(tmp_path / name)
        report = examine(Source(str(tmp_path / name)))
        assert (report.n_errors, report.n_trees, report.n_remarks) == (1, 0, 0)


def test_a_file_without_trees_gets_a_note() -> None:
    assert [remark.text for remark in examine(Source("x.mrg", b"\n")).remarks] == ["there are no trees in this file"]
