"""Many lines at once give EVALB's bytes: those of the same lines one by one."""

from __future__ import annotations

import io
import os
import random
from pathlib import Path
from typing import Any

import pytest

from treegauge import compiled
from treegauge.metrics.evalb import blocks, evalb, program

RUNS = int(os.environ.get("TREEGAUGE_FUZZ", "3000")) // 50
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


def test_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEGAUGE_KERNELS", "now")
    if compiled.kernels("treegauge.metrics.count_kernels") is None:
        pytest.skip("there is no folder to store kernels in")
    generator = random.Random(8)
    gold, test, prm = tmp_path / "gold", tmp_path / "test", tmp_path / "x.prm"
    n_plain = 0
    in_order = blocks._Blocks._in_order

    def counting(*given: Any) -> Any:
        nonlocal n_plain
        n_plain += 1
        return in_order(*given)

    monkeypatch.setattr(blocks._Blocks, "_in_order", counting)
    for number in range(RUNS):
        for path, text in zip((gold, test), _lines(generator), strict=True):
            path.write_bytes(text)
        prm.write_bytes(generator.choice(PARAMETERS))
        monkeypatch.setattr(blocks, "_LINES", generator.choice([1, 3, 50]))
        words = [str(gold), str(test), "-p", str(prm), "-e", generator.choice(["0", "3", "1000"]), "-c", "4"]
        monkeypatch.setattr(program, "_LARGE_BYTES", 0)
        ours = _run(words)
        monkeypatch.setattr(program, "_LARGE_BYTES", 1 << 60)
        assert ours == _run(words), (number, gold.read_bytes(), test.read_bytes(), prm.read_bytes())
    assert n_plain > RUNS
