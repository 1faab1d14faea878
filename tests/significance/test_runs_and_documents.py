"""Several runs a system, and sentences in documents: variance components, permutations of runs, documents resampled whole."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from pathlib import Path

import numpy as np
import pytest
from significance_rows import careless, own_treebank

from treegauge import CompareOptions, TreegaugeWarning, compare, read, score
from treegauge.cli import main
from treegauge.cli._options import named_runs
from treegauge.errors import FormatError, UnknownName, UsageError
from treegauge.metrics.parseval import Parseval
from treegauge.significance.classical import student_quantile
from treegauge.significance.documents import documents_of
from treegauge.significance.resampling import PairedColumns
from treegauge.significance.runs import RunTests, components, permutation

RESULTS = Path(__file__).parents[2] / "experiments" / "results" / "runs_simulation.json"
F1 = ("parseval", "f1")
GOLD = own_treebank(60)
A = [careless(GOLD, seed, 0.3 + 0.03 * seed) for seed in range(3)]
B = [careless(GOLD, 10 + seed, 0.2 + 0.03 * seed) for seed in range(3)]
HOW = CompareOptions(metrics=("parseval",), rounds=300)


def test_one_run_in_a_list_is_the_comparison_of_single_systems() -> None:
    options = CompareOptions(metrics=("parseval", "hogenhout"), rounds=300, lengths=(9,))
    single = compare(GOLD, {"A": A[0], "B": B[0]}, options)
    assert compare(GOLD, {"A": [A[0]], "B": [B[0]]}, options).to_dict() == single.to_dict()


def test_a_system_with_runs_leaves_the_others_bit_for_bit() -> None:
    single = compare(GOLD, {"A": A[0], "B": B[0]}, HOW).overall
    beside = compare(GOLD, {"A": A[0], "C": A, "B": B[0]}, HOW).overall
    assert beside.rates["B"] == single.rates["B"]
    for with_runs, alone in zip(beside.pair("A", "B").differences, single.pair("A", "B").differences, strict=True):
        assert (with_runs.interval, with_runs.p) == (alone.interval, alone.p)
        assert with_runs.effect == pytest.approx(alone.effect, nan_ok=True)


def test_mean_and_standard_deviation_are_those_of_the_runs() -> None:
    found = compare(GOLD, {"A": A, "B": B}, HOW).overall
    values = [score(GOLD, run).f1 for run in A]
    assert found.rates["A"][F1].runs == tuple(values)
    assert found.rates["A"][F1].value == pytest.approx(statistics.mean(values), abs=1e-15)
    assert found.rates["A"][F1].sd == pytest.approx(statistics.stdev(values))
    difference = found.pair("A", "B").of(F1)
    assert difference.value == pytest.approx(statistics.mean(score(GOLD, run).f1 for run in B) - statistics.mean(values))
    assert difference.interval.low < difference.value < difference.interval.high
    assert compare(GOLD, {"A": A, "B": B[0]}, HOW)["f1"].deviations == {"A": found.rates["A"][F1].sd, "B": None}
    assert difference.runs is not None
    assert difference.runs.permutation == (0.1, 0.1)


def test_options_by_name_and_the_outcome_of_a_rate() -> None:
    found = compare(GOLD, {"A": A[0], "B": B[0]}, metric=["parseval"], rounds=300, rates="f1")
    assert found.to_dict() == compare(GOLD, {"A": A[0], "B": B[0]}, CompareOptions(("parseval",), ("f1",), rounds=300)).to_dict()
    difference = found.overall.pair("A", "B").of("f1")
    assert found["f1"][:4] == (difference.value, difference.interval, difference.p, "B")
    assert found.answer[0].startswith("B is better than A by")
    with pytest.raises(UnknownName, match=r"'round'.*rounds"):
        compare(GOLD, {"A": A[0], "B": B[0]}, round=300)
    with pytest.raises(UsageError, match=r"no rates are called 'recall'; there are: parseval\.f1"):
        found["recall"]
    with pytest.raises(UsageError, match="C and B were not compared, in this order; there are: A and B"):
        found.overall.pair("C", "B")
    with pytest.raises(UsageError, match="there are 3 pairs"):
        compare(GOLD, {"A": A[0], "B": B[0], "C": A[1]}, metric="parseval", rounds=50)["f1"]


def test_exchanging_the_systems_changes_the_sign_only() -> None:
    there, back = (compare(GOLD, systems, HOW).overall.pairs[0].of(F1) for systems in ({"A": A, "B": B}, {"B": B, "A": A}))
    assert back.value == -there.value
    assert back.p == pytest.approx(there.p, rel=1e-12)
    assert back.interval[:2] == pytest.approx((-there.interval.high, -there.interval.low))
    assert back.runs is not None
    assert there.runs is not None
    assert back.runs.opposite == there.runs.opposite


def by_definition(values: list[list[float]], units: list[list[list[float]]]) -> tuple[float, float]:
    """Variance and degrees of freedom of a difference, as the docstring of the module defines them, cell by cell."""
    n, free = len(units[0][0]), sum(len(runs) - 1 for runs in values)
    weight = sum(1 / len(runs) for runs in values)
    between = sum((value - statistics.mean(runs)) ** 2 for runs in values for value in runs) / free
    means = [[statistics.mean(run[i] for run in of) for i in range(n)] for of in units]
    difference = [b - a for a, b in zip(*means, strict=True)]
    of_units = n * statistics.variance(difference)
    residual = 0.0
    for of, mean in zip(units, means, strict=True):
        for run in of:
            for i in range(n):
                residual += (run[i] - statistics.mean(run) - mean[i] + statistics.mean(mean)) ** 2
    shared = max(0.0, of_units - weight * n / (n - 1) * residual / free)
    variance = weight * between + shared
    return variance, variance**2 / ((weight * between) ** 2 / free + shared * of_units / (n - 1))


@pytest.mark.parametrize(("runs_a", "runs_b", "shared"), [(3, 3, 0.5), (2, 5, 0.5), (1, 4, 0.2), (4, 4, 0.0)])
def test_components_are_those_of_the_definition(runs_a: int, runs_b: int, shared: float) -> None:
    rng = np.random.default_rng(runs_a)
    units = [rng.normal(0, shared, (1, 30)) + rng.normal(0, 0.3, (runs, 30)) for runs in (runs_a, runs_b)]
    values = [of.mean(axis=1) + rng.normal(0, 0.1, len(of)) for of in units]
    found = components(values, units)
    expected = by_definition([of.tolist() for of in values], [of.tolist() for of in units])
    assert (found.variance, found.df) == pytest.approx(expected)
    assert 0 <= found.of_runs <= found.variance


def test_a_mean_has_the_variance_of_the_usual_formula() -> None:
    """Of one run, sentences only; of runs that differ as much on every sentence, the plain t of the runs' values."""
    values = np.random.default_rng(3).normal(size=40)
    alone = components([np.array([values.mean()])], [values[np.newaxis] / 40])
    assert (alone.variance, alone.df) == (pytest.approx(values.var(ddof=1) / 40), 39)
    runs = np.array([0.1, 0.2, 0.6])
    of_runs = components([runs], [np.zeros((3, 40))])
    assert (of_runs.variance, of_runs.df) == pytest.approx((runs.var(ddof=1) / 3, 2))


def test_contributions_are_the_jackknife_of_the_rate() -> None:
    counts = np.zeros((20, len(Parseval.columns)))
    matched, gold, test = (Parseval.columns.index(name) for name in ("matched", "gold", "test"))
    rng = np.random.default_rng(1)
    counts[:, [gold, test]] = rng.integers(4, 9, (20, 2))
    counts[:, matched] = rng.integers(0, 5, 20)
    tests = RunTests(PairedColumns.of(Parseval(), [counts, counts]), [[0], [1]], [F1])
    f1 = 2 * counts[:, matched].sum() / (counts[:, gold] + counts[:, test]).sum()
    without = [
        2 * np.delete(counts[:, matched], i).sum() / np.delete(counts[:, gold] + counts[:, test], i).sum() for i in range(20)
    ]
    spread = 19 / 20 * ((np.array(without) - np.mean(without)) ** 2).sum()
    half = student_quantile(0.975, 19) * math.sqrt(spread)
    assert tests.interval(0, F1, 0.95)[:2] == pytest.approx((f1 - half, f1 + half))


def test_the_permutation_is_that_of_all_divisions() -> None:
    rng = np.random.default_rng(5)
    for sizes in ((3, 3), (2, 4), (1, 5)):
        runs = rng.normal(size=sum(sizes))
        observed = abs(runs[sizes[0] :].mean() - runs[: sizes[0]].mean())
        every = [frozenset(chosen) for chosen in itertools.combinations(range(len(runs)), sizes[0])]
        others = [[i for i in range(len(runs)) if i not in chosen] for chosen in every]
        found = [abs(runs[rest].mean() - runs[list(chosen)].mean()) for chosen, rest in zip(every, others, strict=True)]
        tested = permutation(runs[: sizes[0]], runs[sizes[0] :])
        assert tested.p == pytest.approx(sum(value >= observed - 1e-12 for value in found) / len(found))
        assert tested.least <= tested.p
    assert permutation(np.arange(3.0), np.arange(3.0) + 9).p == permutation(np.arange(3.0), np.arange(3.0)).least == 0.1


def test_quantiles_of_t_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for share, df in itertools.product((0.02, 0.5, 0.9, 0.975, 0.9995), (1.0, 2.5, 4, 17.3, 1e5)):
        assert student_quantile(share, df) == pytest.approx(stats.t.ppf(share, df), rel=1e-9, abs=1e-9)


def test_what_few_runs_cannot_tell_is_said() -> None:
    def warnings(**systems: list[list[str]]) -> str:
        return " ".join(compare(GOLD, systems, HOW).overall.warnings)

    assert "A has one run: its runs are assumed to vary" in warnings(A=A[:1], B=B)
    assert "A has two runs, which show little" in warnings(A=A[:2], B=B)
    assert not warnings(A=A, B=B)


def test_identical_runs_of_identical_systems_have_p_1() -> None:
    with pytest.warns(TreegaugeWarning, match="gold"):
        difference = compare(GOLD, {"A": [GOLD, GOLD, GOLD], "B": [GOLD, GOLD, GOLD]}, HOW).overall.pairs[0].of(F1)
    assert (difference.value, difference.p, difference.interval[:2]) == (0, 1, (0, 0))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {"gold": GOLD, **{f"a-{i}": run for i, run in enumerate(A)}, **{f"b-{i}": run for i, run in enumerate(B)}}
    for name, trees in files.items():
        Path(f"{name}.mrg").write_text("\n".join(map(str, trees)) + "\n", "utf-8")
    Path("commented.mrg").write_text(
        "".join(f"# newdoc {i}\n{tree}\n" if i % 10 == 0 else f"# sentence\n{tree}\n" for i, tree in enumerate(GOLD)), "utf-8"
    )
    Path("documents.tsv").write_text("# name, first, last\n" + "".join(f"d {i}\t{i + 1}\t{i + 10}\n" for i in range(0, 60, 10)))
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    shown = capsys.readouterr()
    assert stop.value.code == code, shown.err
    return shown.err if code else shown.out


def test_runs_on_the_command_line_and_saved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("A=a-0.mrg,a-1.mrg,a-2.mrg", "B=runs:b-*.mrg")
    shown = printed(capsys, "compare", "gold.mrg", *given, "-m", "parseval", "--table", "differences", "--table", "runs")
    assert "±" in shown
    assert "Satterthwaite" in shown
    assert "permuted p" in shown
    live = json.loads(printed(capsys, "compare", "gold.mrg", *given, "-m", "parseval", "--format", "json"))
    for system, files in zip("AB", given, strict=True):
        printed(capsys, "score", "gold.mrg", files, "--save", f"{system}.scores")
    saved = json.loads(printed(capsys, "compare", "--scores", "A.scores", "B.scores", "-m", "parseval", "--format", "json"))
    assert saved == live
    assert len(live["groups"][0]["systems"]["A"]["rates"]["parseval"]["f1"]["runs"]) == 3


def test_names_with_commas_in_a_list_of_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for copy in ("a,b.mrg", "x", "x,y", "y,z", "z"):
        Path(copy).write_bytes(Path("a-1.mrg").read_bytes())

    def runs(given: str) -> list[str]:
        (system,) = named_runs([f"A={given}"]).values()
        return [system] if isinstance(system, str) else system

    assert runs("a-0.mrg,a,b.mrg,a-2.mrg") == ["a-0.mrg", "a,b.mrg", "a-2.mrg"]
    assert runs("a,b.mrg") == ["a,b.mrg"]
    assert runs("a-0.mrg,x,y,a-2.mrg,") == ["a-0.mrg", "x,y", "a-2.mrg"]
    assert runs("a-*.mrg,x,y") == ["a-*.mrg", "x,y"]
    assert runs("a-0.mrg,nowhere,y,z") == ["a-0.mrg", "nowhere", "y,z"]
    plain = printed(capsys, "score", "gold.mrg", "A=a-0.mrg,a-1.mrg,a-2.mrg")
    assert printed(capsys, "score", "gold.mrg", "A=a-0.mrg,a,b.mrg,a-2.mrg").replace("a,b.mrg", "a-1.mrg") == plain
    assert runs("x,y,z") == ["x,y", "z"], "the longest name first"
    assert "nowhere: no such file" in printed(capsys, "compare", "gold.mrg", "A=a-0.mrg,nowhere", "B=b-0.mrg", code=3)


def test_documents_of_a_test_set(folder: Path) -> None:
    bank = score("gold.mrg", "a-0.mrg").scored_sentences.places
    tens = [i // 10 for i in range(60)]
    assert documents_of("documents.tsv", bank).tolist() == tens
    assert documents_of([f"d{i}" for i in tens], bank).tolist() == tens
    assert documents_of("by-file", [f"{'xy'[i % 2]}.mrg:{i + 1}" for i in range(4)]).tolist() == [0, 1, 0, 1]
    places = [f"commented.mrg:{2 * i + 2} (sentence {i})" for i in range(60)]
    assert documents_of("comment:# newdoc", places).tolist() == tens
    Path("gap.tsv").write_text("a 1 5\nb 7 60\n")
    Path("beyond.tsv").write_text("a 1 61\n")
    for clusters, error, message in (
        ("by-file", UsageError, "only one document"), ("nowhere.tsv", UsageError, "no file 'nowhere.tsv'"),
        ("gap.tsv", UsageError, "sentence 6 is in no document"), ("beyond.tsv", FormatError, "first and last sentence"),
        ("comment:(", UsageError, "not a regular expression"), ("comment:nothing", UsageError, "no line matches 'nothing'"),
        (["a"], UsageError, "1 label for 60 sentences"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            documents_of(clusters, bank)
    with pytest.raises(UsageError, match="trees in memory"):
        documents_of("by-file", ["tree 1", "tree 2"])


def test_documents_of_one_sentence_change_nothing() -> None:
    plain = compare(GOLD, {"A": A[0], "B": B[0]}, HOW).overall
    each = compare(GOLD, {"A": A[0], "B": B[0]}, CompareOptions(metrics=("parseval",), rounds=300, clusters=range(60))).overall
    assert each.documents == (60, pytest.approx(1), pytest.approx(1))
    for one, other in zip(each.pairs[0].differences, plain.pairs[0].differences, strict=True):
        assert (one.interval, one.p) == (other.interval, other.p)
        assert one.effect == pytest.approx(other.effect, nan_ok=True)


@pytest.mark.parametrize("runs", [1, 3])
def test_a_document_of_copies_is_as_good_as_one_sentence(runs: int) -> None:
    """Four copies of every sentence, each four a document, tell no more than the sentences themselves."""
    fourfold = [tree for tree in GOLD for _ in range(4)]
    systems = {
        "A": [[tree for tree in run for _ in range(4)] for run in A[:runs]],
        "B": [[t for t in run for _ in range(4)] for run in B[:runs]],
    }
    options = CompareOptions(metrics=("parseval",), rounds=300, clusters=[i // 4 for i in range(240)])
    copies, plain = compare(fourfold, systems, options).overall, compare(GOLD, {"A": A[:runs], "B": B[:runs]}, HOW).overall
    assert copies.documents is not None
    assert 1.5 < copies.documents.least_wider <= copies.documents.most_wider < 2.1 or runs > 1
    for one, other in zip(copies.pairs[0].differences, plain.pairs[0].differences, strict=True):
        assert one.interval[:2] == pytest.approx(other.interval[:2], rel=1e-3 if runs > 1 else 1e-9, abs=1e-9)
        assert one.p == pytest.approx(other.p, rel=0.01 if runs > 1 else 0)


def test_clusters_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("-m", "parseval", "--rounds", "200", "--table", "differences")
    by_file = printed(capsys, "compare", "gold.mrg", "A=a-0.mrg", "B=b-0.mrg", "--clusters", "documents.tsv", *options)
    assert "6 documents, resampled whole: intervals are" in by_file
    assert "randomisation of whole documents" in by_file
    commented = printed(capsys, "compare", "commented.mrg", "A=a-0.mrg", "B=b-0.mrg", "--clusters", "comment:^# newdoc", *options)
    assert by_file.split("\n\n")[0] == commented.split("\n\n")[0]
    assert "nowhere" in printed(capsys, "compare", "gold.mrg", "A=a-0.mrg", "B=b-0.mrg", "--clusters", "nowhere", *options, code=2)


def test_the_test_kept_its_size_in_simulation() -> None:
    results = json.loads(RESULTS.read_text("utf-8"))
    cells = results["cells"]
    assert results["experiments"] == 2000
    assert {(cell["runs"], cell["sentences"], cell["documents"]) for cell in cells} == set(
        itertools.product((3, 5), (100, 400), (False, True))
    )
    assert {cell["effect"] for cell in cells} == {0, 0.5, 1, 2}
    for cell in cells:
        assert 0.035 <= cell["null"]["runs and sentences"] <= 0.065
        assert 0.93 <= cell["real"]["coverage"] <= 0.97
    assert max(cell["null"]["sentences only"] for cell in cells) > 0.25
    assert max(cell["null"]["runs only"] for cell in cells) > 0.2


def test_tables_of_documents_and_patterns_that_cannot_be_meant(tmp_path: Path) -> None:
    table = tmp_path / "documents.txt"
    table.write_text("a 1 3\nb 3 4\n", "utf-8")
    with pytest.raises(FormatError, match=r"documents\.txt:2: a sentence of this document is in another one"):
        documents_of(table, ["gold.mrg:1"] * 4)
    with pytest.raises(UsageError, match="is not a regular expression: unterminated character set"):
        documents_of("comment:[", ["gold.mrg:1"] * 4)


def test_few_documents_are_a_small_test() -> None:
    found = compare(GOLD, {"A": A[0], "B": B[0]}, metric="parseval", rounds=50, clusters=[number // 30 for number in range(60)])
    assert found.overall.warnings[0].startswith("small test: 2 documents")


def test_options_of_reading_by_their_names(tmp_path: Path) -> None:
    latin, utf8 = tmp_path / "latin.mrg", tmp_path / "utf8.mrg"
    for path, encoding in ((latin, "latin-1"), (utf8, "utf-8")):
        path.write_text("(S (NP (N Müller)) (VP (V schläft)))\n" * 3, encoding)
    assert read(latin, encoding="latin-1")[0].words == read(utf8)[0].words
    each = f"{latin.name}=latin-1,{utf8.name}=utf-8"
    assert score(utf8, latin, encoding=each).exact_match == 1
    assert compare(utf8, {"A": latin, "B": utf8}, metric="parseval", rounds=9, encoding=each)["f1"].difference == 0
    lines = tmp_path / "trees.jsonl"
    lines.write_text(json.dumps({"id": 1, "parse": str(GOLD[0])}) + "\n", "utf-8")
    assert score(GOLD[:1], lines, field="parse").f1 == 1
    for function in (score, compare):
        with pytest.raises(UnknownName, match="did you mean 'encoding'"):
            function(utf8, [utf8, latin], encodings="latin-1")
    with pytest.raises(UnknownName, match="unknown argument of read 'enc'; valid: attach_punctuation, comment, encoding"):
        read(utf8, enc="latin-1")


def test_published_rows_need_a_row_a_system(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "gold.mrg").write_text("".join(f"{tree}\n" for tree in GOLD), "utf-8")
    with pytest.raises(SystemExit):
        main(["score", str(tmp_path / "gold.mrg"), str(tmp_path / "gold.mrg"), "--published", "Berkeley=82.5"])
    assert "--rows systems" in capsys.readouterr().err
