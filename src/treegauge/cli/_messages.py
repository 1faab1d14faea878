"""Messages of the library on the command line: an argument of Python is named by its flag, as it is typed."""

from __future__ import annotations

import re
import shlex

import click

_ARGUMENT = re.compile(r'\b([a-z][a-z_]*)=(?:"([^"\n]*)"|(True|False|\.\.\.|-?\d[\d.]*\b))')
_FLAGS = {"format": "--format-in"}
"""Flags of arguments that another flag has the name of."""


def as_typed(text: str) -> str:
    """A message in which ``match_words="case"`` is ``--match-words case``, if the running command has such a flag.

    >>> @click.command()
    ... @click.option("--match-words")
    ... @click.option("--encoding", metavar="NAME")
    ... @click.option("--resume", is_flag=True)
    ... def command(**_):
    ...     print(as_typed('give match_words="case", encoding=..., or resume=True; but lines=True stays'))
    >>> command(["--resume"], standalone_mode=False)
    give --match-words case, --encoding NAME, or --resume; but lines=True stays
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return text
    flags = {flag: option for option in context.command.params if isinstance(option, click.Option) for flag in option.opts}
    names = {option.name: flag for flag, option in flags.items() if flag.startswith("--")}

    def typed(match: re.Match[str]) -> str:
        name, quoted, plain = match.groups()
        flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
        flag = flag if flag in flags or name in _FLAGS else names.get(name, "")
        if flag not in flags:
            return match[0]
        option = flags[flag]
        if option.is_flag:
            return option.secondary_opts[-1] if plain == "False" and option.secondary_opts else flag
        value = shlex.quote(quoted) if quoted is not None else plain
        return f"{flag} {option.make_metavar(context) if plain == '...' else value}"

    return _ARGUMENT.sub(typed, text)
