"""Tokens and sentences restored from running text: our rules of ``parse --raw``, and NLTK's tokeniser with a splitter trained on
the text itself (Punkt has no model of its own without a download).

    python experiments/raw_text.py ../shared/data/gum/dev.mrg --documents ../shared/data/gum/dev.docs

The words of a treebank are joined to a text for each document, with blanks where they are usually written. A token, or a sentence,
is restored if it has the same first and last character in the text. Hyphens that GUM makes tokens of their own stay joined, as in
the Penn Treebank. Quotation marks count as the same in any spelling.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from treegauge import read
from treegauge.alignment.words import plain_word
from treegauge.parsing.raw_text import split_sentences, tokenise

Splitter = Callable[[str], Iterable[Sequence[str]]]


def join_hyphens(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """The words with the hyphens that are tokens of their own joined to both neighbours."""
    made: list[str] = []
    glue = False
    for word, tag in zip(words, tags, strict=True):
        if made and (tag == "HYPH" or glue):
            made[-1] += word
        else:
            made.append(word)
        glue = tag == "HYPH"
    return made


def text_of(words: Sequence[str]) -> str:
    """A sentence as it is usually written."""
    text, opened = "", False
    for word in words:
        closes = re.fullmatch(r"[.,;:?!%)\]}”…]+|n['’]t|['’](?:s|m|re|ve|ll|d|em)?", word) or (word == '"' and opened)
        glued = not text or bool(re.search(r"[(\[{“‘$#/]$", text)) or (text.endswith('"') and opened) or word == "/"
        text += word if glued or closes else f" {word}"
        opened = opened != (word == '"')
    return text


def spans(sentences: Iterable[Sequence[str]]) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The characters, blanks aside, from and to which each token and each sentence goes."""
    at, tokens, whole = 0, set[tuple[int, int]](), set[tuple[int, int]]()
    for words in sentences:
        begin = at
        for word in words:
            size = len(plain_word(word).replace("''", '"'))
            tokens.add((at, at + size))
            at += size
        whole.add((begin, at))
    return tokens, whole


def ours(text: str) -> list[list[str]]:
    return [tokenise(sentence) for sentence in split_sentences(text)]


def nltks(texts: Sequence[str]) -> Splitter:
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    punkt, words = PunktSentenceTokenizer("\n".join(texts)), NLTKWordTokenizer()
    return lambda text: [words.tokenize(sentence) for sentence in punkt.tokenize(text)]


def f1(gold: set[tuple[int, int]], test: set[tuple[int, int]]) -> str:
    both = len(gold & test)
    return f"{100 * both / len(gold):6.2f} {100 * both / len(test):6.2f} {200 * both / (len(gold) + len(test)):6.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees")
    parser.add_argument("--documents", required=True, help="document, first and last sentence, tab-separated")
    parser.add_argument("--errors", type=int, default=0, help="print so many tokens of ours that are wrong")
    args = parser.parse_args()
    bank = read(args.trees)
    gold = [join_hyphens(bank.words(i), bank.tags(i)) for i in range(len(bank))]
    rows = [line.split("\t") for line in Path(args.documents).read_text("utf-8").splitlines() if not line.startswith("#")]
    parts = [gold[int(first) - 1 : int(last)] for _, first, last in rows]
    texts = [" ".join(map(text_of, part)) for part in parts]
    print("                 tokens: recall, precision, F1   sentences: recall, precision, F1")
    for name, split in (("our rules", ours), ("NLTK", nltks(texts))):
        tokens: list[set[tuple[int, int, int]]] = [set(), set()]
        whole: list[set[tuple[int, int, int]]] = [set(), set()]
        for number, (part, text) in enumerate(zip(parts, texts, strict=True)):
            found = [list(words) for words in split(text)]
            for side, sentences in enumerate((part, found)):
                own, sentence = spans(sentences)
                tokens[side] |= {(number, *span) for span in own}
                whole[side] |= {(number, *span) for span in sentence}
            if args.errors and name == "our rules":
                right, flat = spans(part)[0], "".join(plain_word(word) for words in part for word in words)
                wrong = sorted(right - spans(found)[0])[: args.errors]
                print(*(flat[a:b] for a, b in wrong), sep=" | ")
        print(f"{name:16} {f1(*tokens):>30} {f1(*whole):>34}")


if __name__ == "__main__":
    main()
