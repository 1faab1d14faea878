"""Damaged models, checkpoints, scores, charts, stores, exports and settings: read, or refused by an error of ours.

A change of bytes is often noticed by a hash, so the content is changed, too, behind correct hashes.
``python tests/fuzz.py`` tries as many more as one likes.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import sqlite3
import warnings
import zipfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import treegauge
from treegauge.chunks.corpus import categories_of, chunk_trees
from treegauge.chunks.entropy import read_candidates, read_marginals
from treegauge.chunks.models import load_models, save_models, train_models
from treegauge.chunks.tagger import HmmTagger
from treegauge.data import own_treebank, write_examples
from treegauge.errors import MissingExtra, TreegaugeError
from treegauge.experiments.experiment import Checkpoint
from treegauge.grammar import PCFG, load_model, save_model
from treegauge.grammar.grammar_text import read_file
from treegauge.humancheck.exchange import export_lines, import_file
from treegauge.humancheck.judgements import BracketId, Judgement, sentence_hash
from treegauge.humancheck.store import Store
from treegauge.io import archive
from treegauge.learning.sentences import read_brackets
from treegauge.normalise.heads import HeadRules
from treegauge.parsing import read_charts, write_charts
from treegauge.parsing.input import read_sentences
from treegauge.parsing.output import RecordFile
from treegauge.parsing.parser import Sentence
from treegauge.parsing.span_weights import read_weights
from treegauge.presets import load_preset, preset_text
from treegauge.scoring.result import Scores
from treegauge.scoring.saved_scores import load_scores, results_from_json
from treegauge.significance.documents import documents_of

pytestmark = pytest.mark.slow

GRAMMAR = 'S -> S S [0.4] | A "b" [0.4] | "a" [0.2]\nA -> "a" [1.0]\n'
PLAN = {"seed": 1}
OUTPUT = b"(S a)\n(S a b)\n(S"
JUNK: tuple[Any, ...] = (None, 7, -1, 1 << 40, 1.5, 1e999, "x", "", "\ud800", [], {}, [1], [[]], {"a": 1}, True, "1", 10**400)


class Kind(NamedTuple):
    """A file of some kind, what reads it, its name, and the files that belong to it, by name."""

    content: bytes
    load: Callable[[Path], object]
    name: str = "file"
    beside: Mapping[str, bytes] = {}


class Stopped(Exception):
    """Raised to stop training."""


def stop(*_: object) -> None:
    raise Stopped


def listed_store(path: Path) -> None:
    with Store(path, create=False) as store:
        store.since(0)
        store.words()
        store.add_people([("annotator", "anna"), ("annotator", "carl")])
        store.revoke_link("annotator", "anna")
        store.secret()
        words = ("the", "caf\u00e9")
        bracket = BracketId(sentence_hash(words), 0, 2, "NP", "gold")
        store.import_all([Judgement("j0", bracket, "SP", "accepted", "anna")], {bracket.sentence: words})


def imported(path: Path) -> None:
    with Store(path.parent.with_name("imported.sqlite")) as store:  # which all of them share, since making one takes longer
        import_file(store, str(path))


def store_content(folder: Path) -> bytes:
    words = ("the", "caf\u00e9")
    key = sentence_hash(words)
    with Store(folder / "store.sqlite") as store:
        said = [
            Judgement(f"j{i}", BracketId(key, 0, 2, "NP", "gold"), "SP", "accepted", name, tags=("other",), seconds=1.5)
            for i, name in enumerate(("anna", "ben"))
        ]
        store.append(said, {key: words})
        store.secret()
        store.add_people([("annotator", "anna")])
        for form in ("jsonl", "csv"):
            (folder / f"export.{form}").write_text("".join(f"{line}\n" for line in export_lines(store, form)), "utf-8", newline="")
    return (folder / "store.sqlite").read_bytes()


def resumed_parse(path: Path) -> None:
    file = RecordFile(str(path.with_name("out.mrg")), "bracketed", 0, resume=True, plan=PLAN)
    list(file.missing(iter([Sentence(("a",)), Sentence(("a", "b"))])))


def learnt(folder: Path) -> Kind:
    from treegauge.learning import LearningSettings, learn
    from treegauge.learning.loop import load_state

    sentences, settings = read_brackets("((a a) a)\n(a (a a))\n"), LearningSettings(nonterminals=2, iterations=2)
    with suppress(Stopped):
        learn(sentences, settings, checkpoint=folder / "learn.state", on_iteration=stop)
    content = (folder / "learn.state").read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        stored = json.loads(file.read("model.json"))["settings"]
    return Kind(content, lambda path: load_state(path, stored))


def latent(folder: Path) -> dict[str, Kind]:
    from tests.latent.toys import TREES, model_of

    from treegauge.grammar.latent.latent_model import load_latent, save_latent
    from treegauge.learning.latent.latent_training import Checkpoints, Schedule, TrainingSettings, train_latent

    save_latent(model_of(seeds=(0, 1)), folder / "latent.model")
    settings = TrainingSettings(grammars=1, rounds=1, tuning_grammars=0, schedule=Schedule(2, 1, 1))
    with suppress(Stopped):
        train_latent(TREES, settings, trained_on="x", checkpoint=folder / "c", on_iteration=stop)
    text = (folder / "c" / "plan.json").read_bytes()
    plan = json.loads(text)

    def resumed(path: Path) -> None:
        Checkpoints(path.parent, plan, resume=True).load(path.stem)

    def planned(path: Path) -> None:
        Checkpoints(path.parent, plan, resume=True)

    kinds = {
        "latent model": Kind((folder / "latent.model").read_bytes(), load_latent),
        "plan of training": Kind(text, planned, "plan.json"),
    }
    (state,) = (folder / "c").glob("*.state")
    return kinds | {"state of training": Kind(state.read_bytes(), resumed, state.name, {"plan.json": text})}


def networks(folder: Path) -> dict[str, Kind]:
    from tests.neural.toy_network import TINY, TREES, trained

    from treegauge.neural.network_model import load_network, save_network
    from treegauge.neural.network_training import train_network
    from treegauge.neural.word_vectors import read_vectors

    save_network(trained(), folder / "network.model")
    with suppress(Stopped):
        train_network(TREES, TINY, device="cpu", checkpoint=folder / "n", every=0.0, on_report=stop)

    def resumed(path: Path) -> None:
        with suppress(Stopped):
            train_network(TREES, TINY, device="cpu", checkpoint=path.parent, resume=True, on_report=stop)

    state = (folder / "n" / "network.state").read_bytes()
    return {
        "word vectors": Kind(b"2 3\nthe 0.1 -0.2 0.3\ncaf\xc3\xa9 1 2e-1 3\n", read_vectors),
        "network": Kind((folder / "network.model").read_bytes(), load_network),
        "state of a network": Kind(state, resumed, "network.state", {"plan.json": (folder / "n" / "plan.json").read_bytes()}),
    }


def kinds_in(folder: Path) -> dict[str, Kind]:
    """A small file of every kind."""
    write_examples(folder)
    save_model(PCFG.parse(GRAMMAR), folder / "pcfg.model", notes={"a": 1})
    sentences = list(chunk_trees(own_treebank("dev", ("travel",))))[:20]
    tagger = HmmTagger.train([(sentence.words, sentence.tags) for sentence in sentences])
    tagged = [(sentence, tagger.lattice(sentence.words)) for sentence in sentences]
    save_models(folder / "chunks.model", train_models(tagged[:10], tagged[10:], categories_of(sentences)), tagger, "x")
    gold = [str(tree) for tree in treegauge.read(folder / "gold.mrg")[:4]]
    runs = [[str(tree) for tree in treegauge.read(folder / name)[:4]] for name in ("A.mrg", "B.mrg")]
    scores = treegauge.score(gold, {"a": runs, "b": runs[0]}, ["parseval", "freval", "hogenhout"])
    assert isinstance(scores, Scores)
    scores.save(folder / "s.scores")
    text = treegauge.score(gold, runs[0]).to_json(per_sentence=True)
    rng = np.random.default_rng(1)
    charts = [rng.normal(size=(n, n, 2)) for n in (1, 3)]
    write_charts(folder / "c.npz", charts, ["S", "NP::QP"], words=[["a"], ["a", "b", "c"]], tags=[["A"], ["A"] * 3], null=[1])
    padded = io.BytesIO()
    np.savez(padded, scores=rng.normal(size=(2, 4, 4, 2)), lengths=[1, 3], labels=["S", "NP"], convention="fencepost")
    (folder / "gold.prm").write_text(preset_text("collins"))
    store = store_content(folder)
    checkpoint = b'{"seed": 1}\n{"name": "run 1", "value": [0.5, 1]}\n{"name": "run 2", "value": null}\n'
    weights = b'{"words": ["a", "b"], "spans": [[0, 2, 1.5], [0, 2, "NP", 0.5]]}\n'
    preset = b'base = "collins"\nlabelled = true\ndelete_tags = ["A"]\nequal_labels = [["A", "B"]]\ncutoff_length = 7\n'

    def lines(function: Callable[..., Iterator[object]]) -> Callable[[Path], object]:
        return lambda path: list(function(path.read_text("utf-8", "replace").splitlines()))

    kinds = {
        "pcfg": Kind((folder / "pcfg.model").read_bytes(), load_model),
        "chunk models": Kind((folder / "chunks.model").read_bytes(), load_models),
        "scores": Kind(
            (folder / "s.scores").read_bytes(), lambda path: [one.to_dict() for one in load_scores(str(path))], "file.scores"
        ),
        "JSON of scores": Kind(text.encode(), lambda path: results_from_json(path.read_text("utf-8", "replace"))),
        "charts": Kind((folder / "c.npz").read_bytes(), lambda path: list(read_charts(path)), "file.npz"),
        "padded charts": Kind(padded.getvalue(), lambda path: list(read_charts(path)), "file.npz"),
        "store": Kind(store, listed_store, "file.sqlite"),
        "exported JSON": Kind((folder / "export.jsonl").read_bytes(), imported, "file.jsonl"),
        "exported CSV": Kind((folder / "export.csv").read_bytes(), imported, "file.csv"),
        "checkpoint of parsing": Kind(json.dumps(PLAN).encode(), resumed_parse, "out.mrg.checkpoint", {"out.mrg": OUTPUT}),
        "output of parsing": Kind(OUTPUT, resumed_parse, "out.mrg", {"out.mrg.checkpoint": json.dumps(PLAN).encode()}),
        "checkpoint of an experiment": Kind(checkpoint, lambda path: Checkpoint(path, PLAN, resume=True)),
        "weights of spans": Kind(weights * 2, lambda path: read_weights(str(path))),
        "weights of labels": Kind(b"NP 1.5\nVP 0.5\n", lambda path: read_weights(str(path))),
        "grammar": Kind(GRAMMAR.encode(), read_file),
        "preset": Kind(preset, load_preset, "file.toml"),
        "EVALB's preset": Kind((folder / "gold.prm").read_bytes(), load_preset, "file.prm"),
        "heads": Kind(b"%skip A B\nNP right NN\n* left\n", HeadRules.read),
        "brackets": Kind(b"((a b) c)\nd e\n", lambda path: read_brackets(path.read_text("utf-8", "replace"))),
        "candidates": Kind(b"NP 0 2 0.9\nVP 2 3 0.8\n\nNP 0 1 1\n", lines(read_candidates)),
        "sentences": Kind("the caf\u00e9 -LRB- fell\n\nIt\n".encode(), lambda path: list(read_sentences(str(path), "tokens"))),
        "tagged sentences": Kind(b"the/DT rain/NN\n\n", lambda path: list(read_sentences(str(path), "tagged"))),
        "raw text": Kind("He said: \u201cNo.\u201d Mr. X went.\n".encode(), lambda path: list(read_sentences(str(path), "raw"))),
        "documents": Kind(b"a 1 2\nb\t3\t4\n", lambda path: documents_of(str(path), ["x:1", "x:2", "x:3", "x:4"])),
        "marginals": Kind(b"He B-NP=0.9 O=0.1\nsat B-VP=1\n", lines(read_marginals)),
    }
    with suppress(ImportError):
        from treegauge.models.mixtures import load_mixture, save_mixture

        save_mixture(folder / "mix.model", [str(folder / "pcfg.model"), "own"], [2, 1], 0.5, notes={}, bundle=True)
        kinds["mixture"] = Kind((folder / "mix.model").read_bytes(), load_mixture)
        kinds |= {"state of learning": learnt(folder), **latent(folder)}
    with suppress(ImportError, MissingExtra):
        kinds |= networks(folder)
    return kinds


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kind]:
    return kinds_in(tmp_path_factory.mktemp("kinds"))


def bytes_changed(rng: random.Random, content: bytes) -> bytes:
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5))):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((0, 1, 4, 30)))
        match rng.randrange(5):
            case 0:
                data[start:end] = b""
            case 1:
                data[start:end] = rng.randbytes(end - start)
            case 2:
                data[start:start] = rng.choice(
                    (b"\0", b"\xff", b"[" * 5000, b"9" * 400, b"-", b"nan", b'"', b"\\ud800", b"\n", b"=")
                )
            case 3:
                data[start:] = b""
            case _:
                data[start : start + 1] = bytes([data[start] ^ 1 << rng.randrange(8)]) if start < len(data) else b"x"
    return bytes(data)


def document_changed(rng: random.Random, value: Any) -> Any:
    """JSON data with one value replaced, left out or repeated, somewhere inside."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        if rng.random() < 0.15:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: document_changed(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.7:
        place = rng.randrange(len(value))
        items = [] if rng.random() < 0.15 else [document_changed(rng, value[place])] * rng.choice((1, 1, 1, 2))
        return [*value[:place], *items, *value[place + 1 :]]
    return rng.choice(JUNK)


def array_changed(rng: random.Random, content: bytes) -> bytes:
    """A NumPy array of another type or shape, or with another value."""
    array = np.load(io.BytesIO(content))
    match rng.randrange(6):
        case 0:
            array = array[..., None]
        case 1:
            array = np.resize(array, max(0, array.size + rng.choice((-1, 1, 7))))
        case 2:
            array = np.zeros(array.shape, rng.choice((np.int8, np.uint64, np.float16, np.complex64, np.bool_, "U3", "S2", "M8[s]")))
        case 3:
            array = array.ravel()[0] if array.size else np.array(3)
        case _:
            if array.size and array.dtype.kind in "iuf":
                array = np.array(array)
                values = (
                    (-1, 0, 1, 100, 1 << 31, -(1 << 31)) if array.dtype.kind in "iu" else (np.nan, np.inf, -np.inf, -1.0, 1e300)
                )
                with np.errstate(over="ignore"):
                    array.flat[rng.randrange(array.size)] = np.array(rng.choice(values)).astype(array.dtype)
    made = io.BytesIO()
    np.save(made, array)
    return made.getvalue()


def archive_changed(rng: random.Random, content: bytes) -> bytes:
    """A zip file with a part changed, and a correct hash where there was one."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        parts, comment = {name: old.read(name) for name in old.namelist()}, old.comment
    name = rng.choice(list(parts))
    if rng.random() < 0.1:
        del parts[name]
    elif rng.random() < 0.1:
        parts[name] = bytes_changed(rng, parts[name])
    elif name.endswith(".npy"):
        parts[name] = array_changed(rng, parts[name])
    else:
        document = document_changed(rng, json.loads(parts[name]))
        parts[name] = json.dumps(document).encode("utf-8", "surrogatepass")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        new.comment = comment
        for each, data in parts.items():
            new.writestr(each, data)
    if not comment:
        return made.getvalue()
    body = made.getvalue()[: -archive._SEAL]
    return body + archive._seal(body)


def store_changed(rng: random.Random, content: bytes, folder: Path) -> bytes:
    """A database with another value in one of its cells, or without a table."""
    path = folder / "changed.sqlite"
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as connection:
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        ]
        table = rng.choice(tables)
        if rng.random() < 0.05:
            connection.execute(f"DROP TABLE {table}")
        else:
            column = rng.choice([row[1] for row in connection.execute(f"PRAGMA table_info({table})")])
            value = rng.choice((None, 7, -1, 1.5, "x", "", b"\xff\x00", "[1", "[]", "{}", "[1, 2, 3]", 1 << 40))
            with suppress(sqlite3.Error):
                connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
        connection.commit()
        connection.execute("PRAGMA journal_mode=DELETE")
    return path.read_bytes()


def mutated(rng: random.Random, kind: Kind, folder: Path) -> bytes:
    content = kind.content
    if rng.random() < 0.8:
        if content.startswith(b"PK"):
            return archive_changed(rng, content)
        if content.startswith(b"SQLite"):
            return store_changed(rng, content, folder)
        if content.startswith(b"{"):
            try:
                return json.dumps(document_changed(rng, json.loads(content))).encode("utf-8", "surrogatepass")
            except ValueError:  # JSON lines
                lines = content.splitlines()
                place = rng.randrange(len(lines))
                lines[place] = json.dumps(document_changed(rng, json.loads(lines[place]))).encode()
                return b"\n".join(lines) + b"\n"
    return bytes_changed(rng, content)


@contextmanager
def placed(kind: Kind, content: bytes, folder: Path) -> Generator[Path]:
    """A folder of its own with the file and those that belong to it."""
    own = folder / "own"
    own.mkdir()
    path = own / kind.name
    for name, data in {kind.name: content, **kind.beside}.items():
        (own / name).write_bytes(data)
    try:
        yield path
    finally:
        shutil.rmtree(own)


def test_every_kind_can_be_read(kinds: dict[str, Kind], tmp_path: Path) -> None:
    for kind in kinds.values():
        with placed(kind, kind.content, tmp_path) as path:
            kind.load(path)


def is_refused(rng: random.Random, kinds: dict[str, Kind], folder: Path) -> bool:
    """Whether a damaged file is refused, by an error of ours."""
    name = rng.choice(list(kinds))
    content = mutated(rng, kinds[name], folder)
    with placed(kinds[name], content, folder) as path, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            kinds[name].load(path)
        except TreegaugeError:
            return True
        except Exception as error:
            raise AssertionError(f"{name}: {content[:2000]!r}") from error
    return False


@pytest.mark.parametrize("seed", range(3))
def test_damaged_files_are_read_or_refused(kinds: dict[str, Kind], tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    assert sum(is_refused(rng, kinds, tmp_path) for _ in range(200)) > 70
