"""A small check, judgements out of thin air, and a client that talks to the page as its script does."""

from __future__ import annotations

import http.client
import itertools
import json
import re
import secrets
import threading
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import sqlalchemy as sql

from treegauge.data import own_treebank
from treegauge.humancheck.judgements import BracketId, Judgement
from treegauge.humancheck.questions import Check, CheckPlan, build_check
from treegauge.humancheck.store import JUDGEMENT, SENTENCE, SETTING, Store
from treegauge.trees import Tree, Treebank
from treegauge.trees.tree import Child, rebuild


def careless(trees: Treebank, seed: int) -> Treebank:
    """A parser that forgets some phrases and makes others up, among them crossing ones."""
    rng = np.random.default_rng(seed)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        if len(children) > 2 and rng.random() < 0.5:
            first = int(rng.integers(0, len(children) - 1))
            children[first : first + 2] = [Tree("NP", children[first : first + 2])]
        forgets = not node.is_preterminal and node.width < 6 and rng.random() < 0.3
        return children if forgets else [node.replace(children=children)]

    return Treebank.from_trees([rebuild(tree, make) or tree for tree in trees])


def small_check(plan: CheckPlan | None = None, sentences: int = 40) -> Check:
    gold = own_treebank("dev")[:sentences]
    return build_check(gold, {"A": careless(gold, 1), "B": careless(gold, 2)}, plan)


def assert_columns_are_known(connection: sql.Connection) -> None:
    """The migrations made just the columns that the program reads and writes, with truth values where it expects them."""
    for table in (SENTENCE, JUDGEMENT, SETTING):
        made = {column["name"]: column["type"] for column in sql.inspect(connection).get_columns(table.name)}
        assert made.keys() == {column.name for column in table.columns}
        for column in table.columns:
            assert isinstance(made[column.name], sql.Boolean) == isinstance(column.type, sql.Boolean)


_SEQUENCE = itertools.count(1)


def said(check: Check, number: int, verdict: str, annotator: str = "anna", **fields: Any) -> Judgement:
    """A judgement on one of the questions of a check."""
    question = check.questions[number]
    values: dict[str, Any] = {
        "seq": next(_SEQUENCE),
        "id": secrets.token_hex(8),
        "at": f"2025-01-01T00:00:00.{secrets.randbelow(10**6):06}Z",
    } | fields
    return Judgement(values.pop("id"), question.bracket, question.kind, verdict, annotator, **values)


def words_of(check: Check) -> dict[str, tuple[str, ...]]:
    return {question.bracket.sentence: question.span.words for question in check.questions}


BRACKET = BracketId("h" * 64, 0, 2, "NP", "g" * 64)
WORDS = {"h" * 64: ("the", "cat")}


def judgement(name: str, **fields: object) -> Judgement:
    return Judgement(name, BRACKET, "SP", "accepted", "anna", **fields)  # pyright: ignore[reportArgumentType]


def writers_take_turns(first: Store, second: Store) -> None:
    """Two stores at one place: the later writer waits and sees what the other wrote, so that reading on misses nothing."""
    news: list[Judgement] = []

    def write() -> None:
        news.extend(second.append_and_read([judgement("later")], WORDS, 0)[1])

    with first._writing() as connection:
        first._append(connection, [judgement("earlier")], WORDS)
        thread = threading.Thread(target=write)
        thread.start()
        # Long enough for a writer that does not wait to get through.
        thread.join(0.3)
    thread.join()
    assert [(one.seq, one.id) for one in news] == [(1, "earlier"), (2, "later")]


class Client:
    """One person's connection to the page, by their link; ``store`` is where the page keeps what they say."""

    store: Store

    def __init__(self, link: str) -> None:
        parts = urlsplit(link)
        assert parts.hostname is not None
        self.host = parts.netloc
        self.path = parts.path
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)

    def request(
        self, method: str, address: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str, dict[str, str]]:
        """Status, text and headers; an address that begins with a slash is taken as it is."""
        path = address if address.startswith("/") else self.path + address
        self._connection.request(method, path, body, headers or {})
        answer = self._connection.getresponse()
        text = answer.read().decode("utf-8")
        return answer.status, text, {name.lower(): value for name, value in answer.getheaders()}

    def get(self, address: str = "", **headers: str) -> str:
        status, text, _ = self.request("GET", address, headers=headers)
        assert status == 200, text
        return text

    def post(self, address: str, fields: Any, **headers: str) -> tuple[int, dict[str, Any]]:
        sent = {"Content-Type": "application/json", "Accept": "application/json", "Origin": f"http://{self.host}"} | headers
        status, text, _ = self.request("POST", address, json.dumps(fields).encode(), sent)
        return status, json.loads(text) if text.startswith("{") else {"message": text}

    def judge(self, verdict: str, question: str = "", **fields: Any) -> dict[str, Any]:
        """Answer the question that is shown, or a certain one."""
        key = question or self.shown()
        status, answer = self.post("judge", {"id": secrets.token_hex(16), "question": key, "verdict": verdict} | fields)
        assert status == 200, answer
        return answer

    def shown(self) -> str:
        """The key of the question on the page; empty if there is none."""
        found = re.search(r'data-key="([0-9a-f]+)"', self.get())
        return found.group(1) if found else ""

    def close(self) -> None:
        self._connection.close()
