"""Many lines at once give EVALB's bytes: those of the same lines one by one."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest

from treegauge.metrics.evalb import blocks, evalb, program, scoring

RUNS = 60
LABELS = ["NP", "VP", "S", "ADVP", "PRT", "NP-SBJ", "TOP", "-NONE-", "", "NP=2"]
PARAMETERS = [
    b"",
    b"DELETE_LABEL TOP\nDELETE_LABEL -NONE-\nDELETE_LABEL ,\nDELETE_LABEL_FOR_LENGTH -NONE-\nEQ_LABEL ADVP PRT\n",
    b"DELETE_LABEL TOP\nDELETE_LABEL ``\nQUOTE_LABEL ``\nQUOTE_LABEL NN\n",
    b"LABELED 0\n",
    b"EQ_LABEL NP VP\nEQ_LABEL VP S\n",
    b"EQ_WORD cat dog\n",
]


def _tree(generator: random.Random, words: list[str]) -> str:
    if len(words) == 1 and generator.random() < 0.7:
        tag = {",": ",", "*": "-NONE-", "'": "``"}.get(words[0], generator.choice(["NN", "DT"]))
        if generator.random() < 0.03:
            tag = generator.choice(["NN", ",", "``"])
        return f"({tag} {words[0]})"
    cuts = sorted(generator.sample(range(1, len(words)), min(len(words) - 1, generator.randrange(3))))
    spans = zip([0, *cuts], [*cuts, len(words)], strict=True)
    return f"({generator.choice(LABELS)} {' '.join(_tree(generator, words[low:high]) for low, high in spans)})"


def _damaged(generator: random.Random, line: str) -> str:
    place = generator.randrange(len(line))
    pieces = ["", "(", ")", " ", " )", "x", "(NN )", "(NN)", " (NN cat )", "\0", "( ", "y" * 120, "(NP (NN a))" * 210, "é"]
    return line[:place] + generator.choice(pieces) + line[place + generator.randrange(2) :]


def _lines(generator: random.Random) -> tuple[bytes, bytes]:
    gold, test = [], []
    for _ in range(generator.randrange(1, 40)):
        words = [generator.choice(["the", "cat", ",", "*", "'", "longerword", "it's", "café"]) for _ in range(7)]
        words = words[: generator.randrange(1, 8)]
        other = [word for word in words if word != "*"] if generator.random() < 0.3 else words
        sides = [f"(TOP {_tree(generator, words)})", f"(TOP {_tree(generator, other or ['the'])})"]
        sides = [_damaged(generator, line) if generator.random() < 0.02 else line for line in sides]
        gold.append(sides[0])
        test.append(generator.choice(["", "(())", "(TOP)"]) if generator.random() < 0.02 else sides[1])
    if generator.random() < 0.1:
        generator.choice([gold, test]).pop()
    end = generator.choice(["\n", "\n", ""])
    return "\n".join(gold).encode() + end.encode(), "\n".join(test).encode() + end.encode()


def _run(words: list[str]) -> tuple[int, bytes, bytes]:
    out, err = io.BytesIO(), io.BytesIO()
    return evalb(words, out, err), out.getvalue(), err.getvalue()


def _large_is(monkeypatch: pytest.MonkeyPatch, with_kernels: bool) -> None:
    monkeypatch.setattr(scoring, "_FEW_LINES", 0)
    monkeypatch.setattr(program, "_LARGE_BYTES", 0 if with_kernels else 1 << 60)
    if with_kernels:
        pytest.importorskip("numba", reason="kernels need the extra [parse]")


@pytest.fixture
def n_plain(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of lines that were counted in blocks."""
    counted: list[int] = []
    select = blocks.ValidLines.select

    def counting(lines: blocks.ValidLines, chosen: Any) -> blocks.ValidLines:
        if isinstance(chosen, slice):
            counted.append(chosen.stop - chosen.start)
        return select(lines, chosen)

    monkeypatch.setattr(blocks.ValidLines, "select", counting)
    return counted


@pytest.mark.parametrize("with_kernels", [False, True])
def test_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_plain: list[int], with_kernels: bool) -> None:
    generator = random.Random(8)
    gold, test, prm = tmp_path / "gold", tmp_path / "test", tmp_path / "x.prm"
    _large_is(monkeypatch, with_kernels)
    for number in range(RUNS):
        for path, text in zip((gold, test), _lines(generator), strict=True):
            path.write_bytes(text)
        prm.write_bytes(generator.choice(PARAMETERS))
        monkeypatch.setattr(blocks, "_LINES", generator.choice([1, 3, 50]))
        words = [str(gold), str(test), "-p", str(prm), "-e", generator.choice(["0", "3", "1000"]), "-c", "4"]
        monkeypatch.setattr(scoring, "_FEW_LINES", 0)
        ours = _run(words)
        monkeypatch.setattr(scoring, "_FEW_LINES", 1 << 30)
        assert ours == _run(words), (number, gold.read_bytes(), test.read_bytes(), prm.read_bytes())
    assert len(n_plain) > RUNS


@pytest.mark.parametrize("with_kernels", [False, True])
@pytest.mark.parametrize("odd", [f"(S (N {'x' * 128}))", "", "(S (N a)))", "(S (N é\0))", "(S (N ))", "(S (N a)) (S (N b))"])
def test_one_odd_line_leaves_all_others_to_the_fast_lane(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_plain: list[int], with_kernels: bool, odd: str
) -> None:
    """A word of 128 bytes (GUM has one, a URL) used to end the fast lane for the rest of the file."""
    _large_is(monkeypatch, with_kernels)
    monkeypatch.setattr(blocks, "_LINES", 20)
    lines = ["(S (NP (N a)) (VP (V b)))"] * 100
    lines[30] = odd
    path = tmp_path / "lines"
    path.write_text("\n".join(lines) + "\n")
    ours = _run([str(path), str(path), "-e", "1000"])
    assert sum(n_plain) == 99
    monkeypatch.setattr(scoring, "_FEW_LINES", 1 << 30)
    assert ours == _run([str(path), str(path), "-e", "1000"])


@pytest.mark.parametrize("line", ["\xff", "é", "-LRB-", "\\(", "$-RRB-"])
def test_bytes_are_compared_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    path = tmp_path / "lines"
    path.write_bytes((f"(S-{line} () (NP ({line}-X {line}) (N b)))\n" * 70).encode("latin-1"))
    ours = _run([str(path), str(path)])
    monkeypatch.setattr(scoring, "_FEW_LINES", 1 << 30)
    assert ours == _run([str(path), str(path)])


@pytest.mark.parametrize("with_kernels", [False, True])
def test_lines_of_brackets_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_kernels: bool) -> None:
    _large_is(monkeypatch, with_kernels)
    path = tmp_path / "lines"
    path.write_text("(()(()()(())))\n" * 200 + "(()( a)())\n")
    ours = _run([str(path), str(path)])
    monkeypatch.setattr(scoring, "_FEW_LINES", 1 << 30)
    assert ours == _run([str(path), str(path)])
