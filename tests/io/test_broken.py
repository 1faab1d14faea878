"""Broken trees: what becomes of each, and of the trees around it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from hypothesis import assume, given, strategies as st

import treegauge
from treegauge import io
from treegauge.errors import BracketError, FormatError, InputError, MismatchError, TreegaugeWarning, UnknownName, UsageError
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
        ("# sentence 1, expected F1 0.9 (not calibrated)", '; comment="#" skips lines with #'),
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


def test_of_a_draft_and_a_final_tree_the_final_one_is_taken() -> None:
    draft, final, flat = "(S (NP (N a)) (VP (V b) (N c)))", "(S (NP (N a) (V b)) (VP (N c)))", "(S (N a) (V b) (N c))"
    square = flat.translate(str.maketrans("()", "[]"))
    answers = {
        f"Draft: {draft}\nOn second thoughts: {final}": final,
        f"{draft}\n{final}": final,
        f"Draft:\n{draft}\n**Final tree:**\n```\n{flat}\n```": flat,
        f"A final draft? {draft} Final: {square}": flat,
        f"Tree: {draft}\nIn the final version (NP (N a)) is the subject.": draft,
    }
    problems = io.as_treebank(list(answers), on_error="repair")
    assert shown(problems) == list(answers.values())
    reasons = [problem.reason for problem in problems.problems().values()]
    assert [reason.rpartition("; ")[2] for reason in reasons[:3]] == ["tree 2 of 2 was taken"] * 3
    assert reasons[4].endswith("tree 1 of 2 was taken")


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
    n_records = 5000 + (on_error != "stop")
    assert len(shown(read(text, on_error, name="x.jsonl", field="answer.choices.0.text"))) == n_records
    assert len(shown(read(text, on_error, name="x.jsonl", field="answer.choices[0].text"))) == n_records
    assert shown(read('{"a.b": "(S (N a))"}', on_error, name="x.jsonl", field="a.b")) == ["(S (N a))"]
    batch = json.dumps({"response": {"body": {"choices": [{"message": {"content": "(S (N a))"}}]}}})
    with pytest.raises(FormatError, match=r'Give field="response\.body\.choices\.0\.message\.content"'):
        read(batch, "stop", name="x.jsonl")
    fenced = '{"answer": "Here:\\n(S (N a))"}\n{"answer": "(S (N a))"}'  # the second record has the text that looks like a tree
    with pytest.raises(FormatError, match=r'^x\.jsonl:1: no field .tree.; there are: answer\n  Give field="answer"'):
        read(fenced, on_error, name="x.jsonl", field="tree")
    assert shown(read("\n(S (N a))\n", on_error, field="answer.text")) == ["(S (N a))"]  # brackets have no fields
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


@pytest.mark.parametrize("on_error", ["parse-fails", "stop"])
def test_a_document_that_holds_a_list_is_told_to_have_a_line_for_each_item(on_error: str) -> None:
    results = [{"id": 1, "out": {"tree": "I cannot."}}, {"id": 2, "out": {"tree": "(S (N a))"}}]
    with pytest.raises(FormatError) as refusal:
        read(json.dumps({"results": results}), on_error, name="x.json", field="tree")
    advice = "If the list 'results' holds the sentences, write one item per line; otherwise give "
    assert refusal.value.advice == f'{advice}field="results.1.out.tree".'
    with pytest.raises(FormatError) as refusal:
        read(json.dumps({"results": results[1:]}), on_error, name="x.json", field="tree")
    assert refusal.value.advice == 'Give field="results.0.out.tree".'


def test_a_line_without_the_field_that_was_given_is_not_advised_to_give_one() -> None:
    data = b'{"F": "(S (N a))"}\n{"id": 2}'
    error = examine(Source("x.jsonl", data), ReadOptions(field="F")).errors[0]
    assert (error.line, error.problem, error.advice) == (2, "no field 'F'; there are: id", "")
    error = examine(Source("x.jsonl", b'{"id": 2}')).errors[0]
    assert error.advice == "Give the field of the trees: field=..."


@pytest.mark.parametrize(
    ("form", "tree"),
    [
        ("```json\n{}\n```", '(S (NN caf\u00e9) (" ") (NN \\d) (NN \U0001f600))'),
        ("Here you are: {}", "(S (NN caf\u00e9)\n  (VV x))"),
        ("{}", "(S (NN caf\u00e9))"),
    ],
)
def test_escapes_of_json_inside_an_answer_are_decoded(form: str, tree: str) -> None:
    expected = " ".join(tree.split())
    answer = form.replace("{}", json.dumps({"sentence": "caf\u00e9 (x)", "tree": tree}, indent=2))
    bank = io.as_treebank([answer], ReadOptions(on_error="repair"))
    assert shown(bank) == [expected]
    assert set(bank.problems()[0].repairs) == {"prose"} | ({"code-fence"} if "```" in form else set())
    assert shown(read(json.dumps({"parse": answer}), "repair", name="x.jsonl")) == [expected]
    cut = answer[: answer.rindex('"')]
    assert shown(io.as_treebank([cut], ReadOptions(on_error="repair"))) == [expected]
    bank = io.as_treebank([answer], ReadOptions(on_error="parse-fails"))
    assert (shown(bank), bank.problems()[0].text) == (["()"], answer.encode())
    for good in ('{"tree": "(S (NN \\q) (NN x))"}', '{"tree": "(S ("" ") (NN \\u12) (NN y))"}'):
        assert "NN \\" in shown(io.as_treebank([good], ReadOptions(on_error="repair")))[0]  # not JSON: as it stands


@pytest.mark.parametrize("blanks", [1, 5000])
def test_a_blank_line_is_no_json_record(blanks: int) -> None:
    good, failed = '{"parse": "(S (N a))"}', '{"parse": "(S (N b)"}'
    lines = [good, "", failed, "  ", '{"parse": null}', *[""] * blanks, good, failed, ""]
    bank = read("\n".join(lines), "repair", name="x.jsonl")
    assert shown(bank) == ["(S (N a))", "(S (N b))", "()", "(S (N a))", "(S (N b))"]
    assert [bank.place(number) for number in (0, 2, 3)] == ["x.jsonl:1", "x.jsonl:5", f"x.jsonl:{6 + blanks}"]
    places = {number: problem.place for number, problem in bank.problems().items()}
    assert places == {1: "x.jsonl:3:1", 4: f"x.jsonl:{7 + blanks}:1"}
    report = examine(Source("x.jsonl", "\n".join(lines).encode()))
    assert ([error.line for error in report.errors], report.n_trees) == ([3, 7 + blanks], 3)
    assert shown(read("\n\n", name="x.jsonl")) == []


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
    with pytest.raises(InputError, match=r"<input>: no such file\n  For one answer give a list: \[answer\]"):
        treegauge.score(["(S (N a))"], "")
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
    assert shown(io.as_treebank([str(tmp_path / "a.mrg")], ReadOptions(on_error="parse-fails"))) == ["(A a)"]
    with pytest.raises(UsageError, match="is not bracketed text"):
        io.as_treebank([str(tmp_path / "a.mrg"), str(tmp_path / "b.mrg")])


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


def test_comments_that_are_read_as_parses_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_text("# sentence 1, expected F1 0.9 (not calibrated)\n(S (N a))\n\n# sentence 2\n(S (N b))\n")
    with pytest.raises(MismatchError, match=r'Skip lines with # \(comment="#"\)'):
        treegauge.score(["(S (N a))", "(S (N b))"], path)
    assert treegauge.score(["(S (N a))", "(S (N b))"], io.read(path, comment="#")).f1 == 1.0
    assert not any(problem.may_repair for problem in io.read(path, on_error="parse-fails").problems().values())


@pytest.mark.parametrize("on_error", ["stop", "repair"])
def test_xml_that_ends_before_the_first_sentence_was_cut_short(tmp_path: Path, on_error: str) -> None:
    path = tmp_path / "cut.xml"
    path.write_text('<?xml version="1.0" encoding="UTF-8"?>\n<corpus id="a">\n<head><meta><na')
    with pytest.raises(FormatError, match=r"cut\.xml:3:\d+: this is not XML: .*\n.* cut short"):
        io.read(path, on_error=on_error)  # type: ignore[arg-type]


def test_several_trees_on_a_line_that_is_declared_to_be_one_are_noted() -> None:
    noted: list[tuple[str, str]] = []
    source = Source("two.mrg", b"(S (NN c))\n(S (NN a)) (S (NN b))\n", on_note=lambda place, what: noted.append((place, what)))
    assert shown(io.read(source, ReadOptions(lines=True))) == ["(S (NN c))", "( (S (NN a)) (S (NN b)))"]
    assert noted == [("two.mrg:2", "2 trees on this line")]
    report = examine(Source("two.mrg", b"(S (NN a)) (S (NN b))\n"), ReadOptions(lines=True))
    assert [(remark.place, remark.text) for remark in report.remarks] == [("two.mrg:1", "2 trees on this line")]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_the_text_of_a_broken_tree_has_its_escaped_brackets(tmp_path: Path, encoding: str) -> None:
    text = "(S (N d\xe9j\xe0))\n(S (N \\(\xe9) (V\n".encode(encoding)
    (tmp_path / "x.mrg").write_bytes(text)
    bank = io.read(str(tmp_path / "x.mrg"), ReadOptions(encoding=encoding, on_error="skip"))
    assert bank.problems()[1].text == text.split(b"\n")[1]
