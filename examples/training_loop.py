"""Validate a parser inside its training loop, without a call of EVALB.

The usual way writes the parses to a file, runs the C program, and searches its output for a number::

    write(parses, "dev.parsed")
    output = subprocess.run(["evalb", "-p", "COLLINS.prm", "dev.gold", "dev.parsed"], capture_output=True, text=True).stdout
    f1 = float(re.search(r"Bracketing FMeasure\\s+=\\s+([\\d.]+)", output)[1])

That number leaves out every sentence whose punctuation the parser tagged otherwise, says nothing about which, and cannot be told
from that of another parameter file. Here the trees stay in memory, every sentence counts, and the number has a signature.

The parser is a PCFG of our own small treebank that sees more of it in each round; put your own model in its place.

    python examples/training_loop.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import treegauge
from treegauge.data import own_treebank
from treegauge.grammar import induce
from treegauge.normalise import binarise, remove_traces, strip_functions, unbinarise
from treegauge.parsing import Parser, Sentence


@dataclass(frozen=True)
class Round:
    """What validation says after a round of training."""

    sentences: int
    parsed: float
    f1: float
    exact_match: float
    signature: treegauge.Signature


def validate(gold: treegauge.Treebank, parses: Sequence[treegauge.Tree | str]) -> treegauge.Result:
    """PARSEVAL of the parses, which may be Trees, nltk trees or bracketed strings; a failed parse is an empty string."""
    return treegauge.score(gold, parses, metric="parseval", preset="default")


def cleaned(trees: Iterable[treegauge.Tree]) -> list[treegauge.Tree]:
    """The trees without traces and function tags, which the grammar knows nothing about."""
    return [strip_functions(tree) for tree in map(remove_traces, trees) if tree is not None]


def training(train: Sequence[treegauge.Tree], dev: treegauge.Treebank, shares: Sequence[float]) -> Iterator[Round]:
    """Train on a growing share of the trees, and validate after each round."""
    sentences = [Sentence(tuple(dev.words(i)), tuple(dev.tags(i))) for i in range(len(dev))]
    for share in shares:
        seen = train[: round(share * len(train))]
        parser = Parser(induce([binarise(tree, h=1) for tree in seen], tags=True), tag_words=True)
        parses = ["" if parsed.fallback else unbinarise(parsed.tree) for parsed in parser.parse_all(sentences)]
        result = validate(dev, parses)
        yield Round(len(seen), result.parsed, result.f1, result.exact_match, result.signature)


def main() -> None:
    train, dev = cleaned(own_treebank("train")), treegauge.as_treebank(cleaned(own_treebank("dev")))
    best: Round | None = None
    for done in training(train, dev, shares=(0.1, 0.3, 1.0)):
        rates = f"parsed {done.parsed:7.2%}  F1 {done.f1:.2%}  exact match {done.exact_match:.2%}"
        print(f"{done.sentences:4} sentences  {rates}")
        if best is None or done.f1 > best.f1:
            best = done
    assert best is not None
    print(f"best after {best.sentences} sentences: {best.signature}")


if __name__ == "__main__":
    main()
