"""Words that people type for a command or an option of another name, and what treegauge calls it."""

from __future__ import annotations

import difflib
from collections.abc import Collection

_MEANT = {
    "score GOLD TEST": "evaluate evaluation eval f1 f-score fscore fmeasure parseval accuracy metric rate bracketing",
    "score --list": "metrics list",
    "score --show-preset default": "presets preset",
    "compare GOLD A B": "significance significant test ttest t-test pvalue p-value bootstrap permutation randomisation wilcoxon",
    "compare GOLD A B --figure FILE.svg, or draw trees: treegauge draw FILE": "plot figure graph chart",
    "report GOLD A B -o FILE.html": "html page summary",
    "diff GOLD TEST": "diffs difference differences errors mistakes analyse",
    "draw FILE": "show view tree trees print pretty display viz visualise render picture svg",
    "validate FILE": "lint",
    "validate FILE --statistics": "stats stat statistics count counts info describe",
    "normalise FILE --steps traces,functions": "clean preprocess strip transform binarise",
    "normalise FILE --steps labels:OLD=NEW": "relabel rename",
    "convert FILE -o LINES.mrg, then cut that file by lines with head, tail or split": "split",
    "convert A.mrg B.mrg -o ALL.mrg": "concatenate concat join",
    "convert FILE --on-error repair -o MENDED": "repair fix mend",
    "parse MODEL --raw FILE": "tokenise tokeniser tokens segment sentences",
    "parse MODEL FILE": "predict infer run tag",
    "train TREES -o MODEL": "fit neural network",
    "induce TREES -o MODEL": "grammar pcfg rules",
    "consensus TREES TREES": "vote ensemble combine",
    "check GOLD TEST": "annotate annotation judge serve web",
    "cite METRIC": "bibtex reference references citation",
    "demo": "tour tutorial quickstart start",
    "examples": "example data sample samples",
    "--version": "version",
}
"""The commands to type, and the words for them."""
_COMMANDS = {word: line for line, words in _MEANT.items() for word in words.split()}
_FLAGS = {
    "--format": "-f --fmt --output-format --out-format --style",
    "--output": "--out --outfile --output-file --save-to",
    "--figure": "--plot --fig --graph",
    "--metric": "--metrics",
    "--rates": "--rate --measure --measures",
    "--preset": "--param --params --prm --config",
    "--confidence": "--ci --interval --intervals --bootstrap",
    "--expected-f1": "--confidence",
    "--rounds": "--iterations --permutations --resamples --n-samples",
    "--jobs": "-j --threads --workers --processes --n-jobs",
    "--on-error": "--ignore-errors --skip-errors --repair",
    "--fail-under": "--fail-below --min --minimum --threshold --at-least",
    "--fail-over": "--fail-above --max --maximum --at-most",
    "--sentence": "--sentences --index --tree-number",
}
_IN_PYTHON = {"sample": "sample(5)", "inside": "chart_table()", "outside": "chart_table()", "chart": "chart_table()"}
"""Methods of a grammar's forest that no option has, by the words for them."""
_OPTIONS = {word: flag for flag, words in _FLAGS.items() for word in words.split()}
_FILES = frozenset({"--gold", "--test", "--pred", "--predicted", "--file", "--files", "--input", "-i", "--model", "--trees"})
_FORMATS = {"tex": "latex", "md": "markdown", "txt": "table", "text": "table", "bracket": "bracketed", "brackets": "bracketed"}
_PICTURES = frozenset({"svg", "png", "pdf"})


def command_meant(word: str) -> str:
    """The command to type instead of ``treegauge WORD``; empty if nobody would know.

    >>> command_meant("evaluate"), command_meant("Tokenize"), command_meant("xyz")
    ('treegauge score GOLD TEST', 'treegauge parse MODEL --raw FILE', '')
    """
    line = _COMMANDS.get(word.lower().replace("_", "-").replace("ize", "ise"), "")
    return f"treegauge {line}" if line else ""


def value_meant(message: str, choices: Collection[str]) -> str:
    """The end of click's message on a value that an option does not have: the one that is meant, if that is plain.

    >>> value_meant("'tex' is not one of 'table', 'latex'.", ["table", "latex"]), value_meant("'x' is not one of 'y'.", ["y"])
    (" Did you mean 'latex'?", '')
    """
    given = message.split("'")[1].lower() if message.startswith("'") else ""
    meant = [_FORMATS.get(given, ""), *difflib.get_close_matches(given, choices, n=1)]
    return next((f" Did you mean {each!r}?" for each in meant if each in choices), "")


def option_meant(flag: str, known: Collection[str], formats: Collection[str]) -> str:
    """The option of a command that somebody means by one that it does not have, or by the name of a format; empty if it is none.

    >>> option_meant("--tex", ["--format"], ["table", "latex"]), option_meant("--png", ["--format"], ["text", "png"])
    ('--format latex', '-o FILE.png')
    >>> option_meant("--confidence", ["--expected-f1"], []), option_meant("--trees", ["--shares", "--tune"], [])
    ('--expected-f1', '--tune')
    >>> option_meant("--plot", ["--figure"], []), option_meant("--gold", [], []), option_meant("--fast", [], ["table"])
    ('--figure', 'the file without an option', '')
    """
    name = flag.lstrip("-").lower()
    name = _FORMATS.get(name, name)
    if name in formats:
        return f"-o FILE.{name}" if name in _PICTURES else f"--format {name}"
    if flag in _FILES:
        return "--tune" if flag == "--trees" and {"--tune", "--shares"} <= set(known) else "the file without an option"
    if name in _IN_PYTHON and "--renormalise" in known:
        return f"Python, treegauge.Forest(grammar, words).{_IN_PYTHON[name]}"
    meant = _OPTIONS.get(flag, "")
    return meant if meant in known else ""
