"""Our own treebanks, CC0: 521 English sentences in Penn Treebank style, and 63 German and Dutch ones with crossing branches.

``GUIDE.md`` describes the annotation.
"""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path

from treegauge.errors import UsageError, check_name, refusing_unwritable
from treegauge.io import read
from treegauge.io.writing import write_bytes
from treegauge.trees import Treebank

__all__ = ["EXAMPLES", "KINDS", "LANGUAGES", "PARTS", "discontinuous_treebank", "own_treebank", "treebank_path", "write_examples"]

KINDS = ("travel", "news", "story")
LANGUAGES = ("german", "dutch")
PARTS = ("train", "dev", "all")

EXAMPLES = {
    "train.mrg": "418 trees to train on",
    "gold.mrg": "103 trees held out",
    "A.mrg": "their parses by a grammar counted from train.mrg, the most probable tree of each sentence",
    "B.mrg": "their parses by the same grammar, decoded for precision and recall",
    "sentences.txt": "their words, a sentence per line, without traces",
    "llm.jsonl": "A.mrg as a language model might have written it, with prose, code fences and broken brackets",
    "llm2.jsonl": "the same from B.mrg, with other sentences broken",
    "messy.mrg": "the first 12 trees of gold.mrg, with errors in three lines",
    "grammar.txt": "a small grammar for teaching, with an ambiguous sentence in sentence.txt",
    "sentence.txt": "I saw the man with the telescope",
}
"""The files that :func:`write_examples` writes, and what is in them."""

_FOLDER = Path(__file__).parent


def treebank_path(kind: str) -> Path:
    """The path of the trees of one kind of text."""
    check_name("kind of text", kind, KINDS)
    return _FOLDER / f"{kind}.mrg"


def own_treebank(part: str = "all", kinds: tuple[str, ...] = KINDS) -> Treebank:
    """The trees of the treebank that comes with treegauge: its training part, its development part, or all.

    >>> len(own_treebank("train")), len(own_treebank("dev")), len(own_treebank())
    (418, 103, 521)
    >>> print(own_treebank("dev", ("travel",))[0].words[:4])
    ('What', 'is', 'the', 'cheapest')
    """
    check_name("part of the treebank", part, PARTS)
    split = tomllib.loads((_FOLDER / "SPLIT.toml").read_text("utf-8"))["split"]
    banks = [_with_short_path(read(treebank_path(kind)), f"{kind}.mrg") for kind in kinds]
    if part == "all":
        return Treebank.concatenate(banks)
    is_dev = [[index % split["every"] == split["remainder"] for index in range(len(bank))] for bank in banks]
    chosen = [
        bank.take([index for index, dev in enumerate(devs) if dev == (part == "dev")])
        for bank, devs in zip(banks, is_dev, strict=True)
    ]
    return Treebank.concatenate(chosen)


def _with_short_path(bank: Treebank, name: str) -> Treebank:
    """The treebank with places such as ``travel.mrg:20``, which do not depend on where the package is installed."""
    return replace(bank, origins=tuple(replace(origin, path=name) for origin in bank.origins))


def discontinuous_treebank(language: str) -> Treebank:
    """The sentences with crossing branches of one language.

    >>> len(discontinuous_treebank("german")), len(discontinuous_treebank("dutch"))
    (34, 29)
    """
    check_name("language", language, LANGUAGES)
    return read(_FOLDER / f"{language}.discbracket")


def write_examples(folder: str | os.PathLike[str]) -> list[Path]:
    """Write the files of :data:`EXAMPLES` to a folder and return their paths.

    Files that are there already are left as they are; UsageError, before anything is written, if one of them differs.
    """
    paths = {Path(folder) / name: content.encode("utf-8") for name, content in _contents().items()}
    with refusing_unwritable(str(folder)):
        missing = [path for path in paths if not path.exists()]
        if other := [path for path in paths if path not in missing and path.read_bytes() != paths[path]]:
            names = ", ".join(map(str, other))
            raise UsageError(
                f"not overwritten, since it differs from the example: {names}\n  Nothing is written: name another folder."
            )
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path in missing:
            write_bytes(paths[path], path)
    return list(paths)


def _contents() -> dict[str, str]:
    """The text of each of the files of :data:`EXAMPLES`."""
    gold = own_treebank("dev")
    parses, others = ((_FOLDER / "examples" / f"{name}.mrg").read_text("utf-8") for name in ("viterbi", "precision-recall"))
    words = [[tree.words[i] for i, tag in enumerate(tree.tags) if tag != "-NONE-"] for tree in gold]
    return {
        "train.mrg": "".join(f"{tree}\n" for tree in own_treebank("train")),
        "gold.mrg": "".join(f"{tree}\n" for tree in gold),
        "A.mrg": parses,
        "B.mrg": others,
        "sentences.txt": "".join(f"{' '.join(sentence)}\n" for sentence in words),
        "llm.jsonl": _json_lines(_answers(parses.splitlines())),
        "llm2.jsonl": _json_lines(_answers(others.splitlines(), first=20)),
        "messy.mrg": "".join(f"{line}\n" for line in _messy([str(tree) for tree in gold[:12]])),
        "grammar.txt": (_FOLDER / "examples" / "grammar.txt").read_text("utf-8"),
        "sentence.txt": f"{EXAMPLES['sentence.txt']}\n",
    }


def _json_lines(answers: list[str]) -> str:
    """One JSON object per line, with an answer in the field ``parse``."""
    return "".join(f"{json.dumps({'parse': answer})}\n" for answer in answers)


def _answers(parses: list[str], first: int = 0) -> list[str]:
    """The parses as a language model might write them: most as they are, some inside other text, cut short, or missing."""
    manners = {
        3: "Here is the parse tree:\n\n{}\n\nLet me know if you need anything else.",
        17: "```\n{}\n```",
        31: "1. {}",
        47: "{})",
        61: "I am sorry, I cannot parse this sentence.",
    }
    answers = [manners.get((first + index) % 70, "{}").format(parse) for index, parse in enumerate(parses)]
    return [answer[:-2] if (first + index) % 70 == 11 else answer for index, answer in enumerate(answers)]


def _messy(lines: list[str]) -> list[str]:
    """The lines with a bracket missing in the third, one too many in the seventh, and a tag missing in the ninth."""
    lines[2] = lines[2].removesuffix(")")
    lines[6] += ")"
    lines[8] = lines[8].replace("(NNS trains)", "trains")
    return lines
