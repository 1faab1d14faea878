"""``chunks score`` against conlleval: an independent reading of its rules, the perl script itself, and seqeval's test file.

The script and the file are third-party: they are taken from seqeval's source package when it can be had, and never kept.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from treegauge.chunks.corpus import chunks_of_iob

TYPES = ("NP", "VP", "PP")
BOUNDARIES = {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I"), ("E", "E"), ("E", "I"), ("O", "E")}


def chunks_score(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treegauge", "chunks", "score", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def seqeval_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder ``tests`` of seqeval's source package."""
    folder = tmp_path_factory.mktemp("seqeval")
    # pip unpacks the package and asks it for its requirements, which nobody needs here: that this fails, or that the files are left
    # where they were unpacked, does not matter, and nothing to build it with has to be installed first.
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
    command = [*fetch, "--no-clean", "seqeval==1.2.2", "-d", str(folder)]
    environment = {**os.environ, "TMPDIR": str(folder), "TEMP": str(folder)}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        pytest.skip("seqeval's source package cannot be had: no answer from the package index")
    found = next(folder.glob("pip-*/seqeval_*/tests"), None)
    if found is None:
        pytest.skip(f"seqeval's source package cannot be had: {done.stderr.decode()[-200:]}")
    return found


def random_file(seed: int) -> list[list[tuple[str, str, str]]]:
    """Some sentences of word, gold mark and test mark: consistent IOB1, IOB2, IOE1 or IOE2, or any mixture of marks."""
    random = np.random.default_rng(seed)
    letters = ("BIO", "IO", "IEO", "BIEO")[seed % 4]

    def mark() -> str:
        letter = str(random.choice(list(letters)))
        return letter if letter == "O" else f"{letter}-{random.choice(TYPES)}"

    sentences: list[list[tuple[str, str, str]]] = []
    for _ in range(int(random.integers(1, 12))):
        gold = [mark() for _ in range(int(random.integers(1, 25)))]
        test = [g if random.random() < 0.7 else mark() for g in gold]
        sentences.append([(f"w{i}", g, t) for i, (g, t) in enumerate(zip(gold, test, strict=True))])
    return sentences


def file_text(sentences: list[list[tuple[str, str, str]]]) -> str:
    return "\n".join("".join(f"{word} TAG {gold} {test}\n" for word, gold, test in sentence) for sentence in sentences)


def by_the_documented_rules(sentences: list[list[tuple[str, str, str]]]) -> list[str]:
    """What conlleval prints, word by word: a chunk is right if both columns begin it and end it together with one category."""
    tokens = [token for sentence in sentences for token in [*sentence, ("", "O", "O")]]
    spans: list[set[tuple[str, int, int]]] = []
    for column in (1, 2):
        found: set[tuple[str, int, int]] = set()
        starts: list[int] = []
        letter, kind = "O", ""
        for place, token in enumerate(tokens):
            now, _, name = token[column].partition("-")
            begins = (letter, now) in BOUNDARIES or (now != "O" and name != kind)
            if starts and (begins or (now == "O" and letter != "O")):
                found.add((kind, starts.pop(), place))
            if begins:
                starts = [place]
            letter, kind = now, name
        spans.append(found)
    gold, test = spans
    words = [token for token in tokens if token[0]]
    accuracy = 100 * sum(g == t for _, g, t in words) / len(words)
    lines = [f"processed {len(words)} tokens with {len(gold)} phrases; found: {len(test)} phrases; correct: {len(gold & test)}."]
    for kind in ("", *sorted({span[0] for span in gold | test})):
        g, t, both = (len([span for span in group if kind in ("", span[0])]) for group in (gold, test, gold & test))
        p, r = 100 * both / t if t else 0.0, 100 * both / g if g else 0.0
        rates = f"precision: {p:6.2f}%; recall: {r:6.2f}%; FB1: {2 * p * r / (p + r) if p + r else 0.0:6.2f}"
        lines.append(f"{kind:>17}: {rates}  {t}" if kind else f"accuracy: {accuracy:6.2f}%; {rates}")
    return lines


def test_sixty_random_files_are_scored_by_the_documented_rules(tmp_path: Path) -> None:
    from treegauge.chunks import ChunkScores, conlleval_printout
    from treegauge.chunks.corpus import MarkFile, chunk_file

    for seed in range(60):
        sentences = random_file(seed)
        (tmp_path / "both.txt").write_text(file_text(sentences))
        with chunk_file(str(tmp_path / "both.txt")) as file:
            scores = ChunkScores.of((one.columns[0], one.columns[1]) for one in MarkFile(file, 2))
        assert list(conlleval_printout(scores)) == by_the_documented_rules(sentences), seed


def test_one_file_of_four_columns_is_as_two_files(tmp_path: Path) -> None:
    sentences = random_file(7)
    (tmp_path / "both.txt").write_text(file_text(sentences))
    for name, column in (("gold", 1), ("test", 2)):
        lines = ("".join(f"{token[0]} TAG {token[column]}\n" for token in sentence) for sentence in sentences)
        (tmp_path / f"{name}.txt").write_text("-X- -X- O\n".join(lines))
    done = chunks_score("both.txt", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == by_the_documented_rules(sentences)
    assert chunks_score("gold.txt", "test.txt", folder=tmp_path).stdout == done.stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("perl") is None, reason="there is no perl")
def test_sixty_random_files_are_scored_as_by_the_perl_script(seqeval_tests: Path) -> None:
    for seed in range(60, 120):
        sentences = random_file(seed)
        script = ["perl", str(seqeval_tests / "conlleval.pl")]
        done = subprocess.run(script, input=file_text(sentences), capture_output=True, text=True, check=True)
        assert by_the_documented_rules(sentences) == done.stdout.splitlines(), seed


def test_seqevals_own_file_has_conllevals_accuracy(seqeval_tests: Path, tmp_path: Path) -> None:
    file = seqeval_tests / "data" / "ground_truth.txt"
    done = chunks_score(str(file), folder=tmp_path)
    assert "accuracy:  84.08%; precision:  68.83%; recall:  80.83%; FB1:  74.35" in done.stdout, done.stderr
    if shutil.which("perl"):
        script = ["perl", str(seqeval_tests / "conlleval.pl")]
        assert done.stdout == subprocess.run(script, input=file.read_text(), capture_output=True, text=True, check=True).stdout


def in_scheme(chunks: list[tuple[str, int, int]], length: int, scheme: str) -> list[str]:
    """The marks of chunks, each scheme by its definition (Tjong Kim Sang and Veenstra 1999)."""
    marks = ["O"] * length
    for kind, start, end in chunks:
        before_same = any(other == kind and stop == start for other, _, stop in chunks)
        after_same = any(other == kind and begin == end for other, begin, _ in chunks)
        letters = ["I"] * (end - start)
        if scheme == "IOB2" or (scheme == "IOB1" and before_same):
            letters[0] = "B"
        if scheme == "IOE2" or (scheme == "IOE1" and after_same):
            letters[-1] = "E"
        if scheme == "BIOES":
            letters = ["S"] if end - start == 1 else ["B", *["I"] * (end - start - 2), "E"]
        marks[start:end] = [f"{letter}-{kind}" for letter in letters]
    return marks


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "IOE1", "IOE2", "BIOES"])
def test_each_scheme_holds_the_same_chunks_and_scores(scheme: str, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    sides: dict[str, list[str]] = {"gold.txt": [], "test.txt": []}
    counts: list[tuple[int, ...]] = []
    for _ in range(40):
        length = int(random.integers(1, 20))
        both: list[list[tuple[str, int, int]]] = []
        for name in sides:
            edges = [0, *sorted({int(random.integers(1, length + 1)) for _ in range(4)} - {length}), length]
            whole = [(str(random.choice(TYPES)), start, end) for start, end in itertools.pairwise(edges)]
            chunks = [chunk for chunk in whole if random.random() < 0.8]
            marks = in_scheme(chunks, length, scheme)
            assert [tuple(chunk) for chunk in chunks_of_iob(marks, "bioes" if scheme == "BIOES" else "conlleval")] == chunks
            sides[name].append("".join(f"w{i} X {mark}\n" for i, mark in enumerate(marks)))
            both.append(chunks)
        counts.append((len(both[0]), len(both[1]), len(set(both[0]) & set(both[1]))))
    for name, sentences in sides.items():
        (tmp_path / name).write_text("\n".join(sentences))
    true, found, correct = map(sum, zip(*counts, strict=True))
    done = chunks_score("gold.txt", "test.txt", folder=tmp_path)
    assert f"with {true} phrases; found: {found} phrases; correct: {correct}." in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("He PRP B-NP\nsat VBD B-VP\n", "both.txt:1:4: 'PRP' is not a mark of a chunk"),
        ("He PRP B-NP B-NP\nsat VBD B-VP\n", "both.txt:2:1: 3 columns, but 4 in the lines before"),
        ("B-NP B-NP\n", "both.txt:1:1: only 2 columns"),
        ("(S (NP (NN rain)))\n", "not a file of columns"),
    ],
)
def test_files_that_are_no_columns_of_marks_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "both.txt").write_text(text)
    done = chunks_score("both.txt", folder=tmp_path)
    assert (done.returncode, message in done.stderr) == (3, True), done.stderr
