"""Small random gold and test files with parameters: well-formed, quote-heavy, punctuation-heavy, malformed."""

from __future__ import annotations

import random
from typing import NamedTuple

LABELS = ["S", "NP", "VP", "TOP", "NP-SBJ", "NP=2", "ADVP", "PRT", "A", "B", "C", "-X", "", "X|Y", "S1"]
TAGS = ["NN", "DT", "V", "NN-X", "ADVP", "PRT", "-NONE-", "A", "B"]
PUNCTUATION = [",", ".", ":", "``", "''", "?"]
QUOTE_TAGS = ["``", "''", "POS", "NN", "CD", ":"]
WORDS = ["a", "b", "c", "the", "cat", "é", "*T*-1"]


class Case(NamedTuple):
    prm: bytes
    gold: bytes
    test: bytes


def random_case(seed: int) -> Case:
    """A case that depends on the seed only."""
    chance = random.Random(seed)
    kind = chance.choice(["plain", "plain", "quotes", "punctuation", "malformed"])
    gold, test = [], []
    for _ in range(chance.randint(1, 5)):
        words = random_words(chance, kind)
        gold.append(random_line(chance, words, kind))
        if chance.random() < 0.1:
            words = random_words(chance, kind)
        test.append(gold[-1] if chance.random() < 0.1 else random_line(chance, retag(chance, words, kind), kind))
    if chance.random() < 0.1:
        (gold if chance.random() < 0.5 else test).append(random_line(chance, random_words(chance, kind), kind))
    return Case(random_prm(chance, kind), join(chance, gold), join(chance, test))


def join(chance: random.Random, trees: list[str]) -> bytes:
    text = "".join(tree + "\n" for tree in trees)
    if text and chance.random() < 0.1:
        text = text[:-1]
    return text.encode()


def random_prm(chance: random.Random, kind: str) -> bytes:
    lines = [f"MAX_ERROR {chance.choice([-1, 0, 1, 3, 10, 10, 10])}", f"CUTOFF_LEN {chance.choice([0, 3, 5, 40])}"]
    lines += [f"LABELED {chance.choice([0, 1, 1, 1, 2])}", f"DEBUG {chance.choice([0, 0, 0, 1, 2])}"]
    deleted = ["TOP", "-NONE-", *PUNCTUATION, "PRT", "A", "NP-SBJ", "", "?"]
    lines += [f"DELETE_LABEL {label}" for label in deleted if label and chance.random() < 0.6]
    lines += [f"DELETE_LABEL_FOR_LENGTH {label}" for label in ["-NONE-", ",", "B"] if chance.random() < 0.4]
    pairs = [("ADVP", "PRT"), ("A", "B"), ("B", "C"), ("NN", "V"), ("TOP", "S")]
    lines += [f"EQ_LABEL {one} {other}" for one, other in pairs if chance.random() < 0.3]
    lines += [f"EQ_WORD {one} {other}" for one, other in [("a", "b"), ("b", "c")] if chance.random() < 0.2]
    if kind == "quotes":
        lines += [f"QUOTE_LABEL {label}" for label in QUOTE_TAGS if chance.random() < 0.8]
    if chance.random() < 0.1:
        lines += chance.sample(["# comment", " DEBUG 0", "Foo bar", "EQ_LABEL one", "EQ_WORD a b c", "\tx y", "ab", ""], 3)
    chance.shuffle(lines)
    return "\n".join(lines).encode() + b"\n"


def random_words(chance: random.Random, kind: str) -> list[tuple[str, str]]:
    """(tag, word) pairs."""
    terminals: list[tuple[str, str]] = []
    for _ in range(chance.choice([0, 1, 2, 3, 4, 5, 6, 8, 12])):
        point = chance.random()
        if kind == "quotes" and point < 0.5:
            terminals.append((chance.choice(QUOTE_TAGS), chance.choice(["'", '"', "/", "''"])))
        elif point < (0.6 if kind == "punctuation" else 0.2):
            terminals.append((chance.choice(PUNCTUATION), chance.choice([",", ".", "--"])))
        else:
            terminals.append((chance.choice(TAGS), chance.choice(WORDS)))
    return terminals


def retag(chance: random.Random, words: list[tuple[str, str]], kind: str) -> list[tuple[str, str]]:
    tags = TAGS + (QUOTE_TAGS if kind == "quotes" else PUNCTUATION if kind == "punctuation" else [])
    changed = [(chance.choice(tags) if chance.random() < 0.15 else tag, word) for tag, word in words]
    if kind == "quotes":
        changed = [
            (chance.choice(QUOTE_TAGS) if word in ("'", '"', "/") and chance.random() < 0.5 else tag, word) for tag, word in changed
        ]
    return [(tag, chance.choice(WORDS) if chance.random() < 0.01 else word) for tag, word in changed]


def random_line(chance: random.Random, words: list[tuple[str, str]], kind: str) -> str:
    nodes = [random_terminal(chance, tag, word, kind) for tag, word in words]
    for _ in range(chance.choice([0, 1, 2, 3, 5, 8])):
        start = chance.randint(0, len(nodes))
        end = chance.randint(start, len(nodes))
        gap = chance.choice(["", " ", " ", " ", "\t", "  "])
        inside = chance.choice(["", " "]).join(nodes[start:end])
        if not inside:
            # A blank and nothing else would make it a terminal with an empty word.
            gap = "" if chance.random() < 0.9 else gap
        nodes[start:end] = [f"({chance.choice(LABELS)}{gap}{inside}{chance.choice(['', '', ' '])})"]
    line = chance.choice(["", "", " "]) + " ".join(nodes)
    if chance.random() < 0.7:
        line = f"({chance.choice(['TOP', 'S', ''])} {line})"
    if chance.random() < 0.05:
        line = chance.choice(["", " ", "()", "(())", "(TOP)", "(TOP )", "\r"])
    return damage(chance, line) if kind == "malformed" else line


def random_terminal(chance: random.Random, tag: str, word: str, kind: str) -> str:
    if kind == "malformed" and chance.random() < 0.05:
        return chance.choice([word, f"({tag})", f"({tag} )", f"({tag} {word} {word})", f"({tag} {word} )", f"({word}(", ")"])
    return f"({tag}{chance.choice([' ', ' ', ' ', '  ', chr(9)])}{word})"


def damage(chance: random.Random, line: str) -> str:
    """Take out, double or put in a character or two."""
    for _ in range(chance.choice([0, 0, 1, 1, 2])):
        at = chance.randint(0, len(line))
        match chance.randint(0, 3):
            case 0:
                line = line[:at] + line[at + 1 :]
            case 1:
                line = line[:at] + chance.choice("() \t\rx\0") + line[at:]
            case 2:
                line = line[:at] + line[at : at + 1] + line[at:]
            case _:
                line = line + chance.choice(["(", " (NN a)", " x", "("])
    return line
