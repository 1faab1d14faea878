"""Networks: posteriors against enumeration, parsing by every objective, training that repeats and resumes, model files."""

from __future__ import annotations

import copy
import itertools
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treegauge
from treegauge.errors import ModelError, TreegaugeError, TreegaugeWarning, UsageError
from treegauge.io.archive import read_archive, write_archive
from treegauge.trees import Tree

pytest.importorskip("torch", reason="torch is not installed (extra [torch])")

import torch
from tests.neural.test_span_crf import all_trees
from tests.neural.toy_network import TINY, TREES, trained

from treegauge.neural.network_model import SCHEMA, VERSION, load_network, save_network
from treegauge.neural.network_parser import MOST_WORDS, NetworkParser
from treegauge.neural.network_training import train_network
from treegauge.neural.network_view import NetworkView, network_views
from treegauge.neural.sentence_batches import encode_sentences, make_batch, vocabulary_of
from treegauge.neural.span_network import SpanNetwork, on_device, tree_distribution
from treegauge.parsing.parser import Sentence

pytestmark = pytest.mark.torch
ROOT = Path(__file__).resolve().parents[2]


def sentence_of(text: str) -> Sentence:
    return Sentence(tuple(text.split()))


def views(*sentences: str, **options: Any) -> list[NetworkView]:
    model = trained(**options)
    return network_views(model.network("cpu"), model.vocabulary, model.lam, [each.split() for each in sentences])


def enumeration(view: NetworkView) -> list[tuple[float, dict[tuple[int, int], str]]]:
    """All trees of a short sentence with their probabilities, from the scores of their spans."""
    n, labels = view.n, view.vocabulary.labels
    trees = all_trees(n, tuple(range(len(labels))), len(labels), False).reshape(-1, n, n, len(labels))
    scores = np.zeros((n, n, len(labels)))
    scores[np.triu_indices(n)] = view.scores
    weight = np.exp(trees.reshape(len(trees), -1) @ scores.reshape(-1))
    spans = [{(int(s), int(t) + 1): labels[X] for s, t, X in np.argwhere(tree)} for tree in trees]
    return list(zip((weight / weight.sum()).tolist(), spans, strict=True))


@pytest.fixture(scope="module", params=["sat", "milk sat", "the cat sat"])
def view(request: pytest.FixtureRequest) -> NetworkView:
    # Few labels, so that the trees can be enumerated.
    model, words = trained(), request.param.split()
    few = replace(model.vocabulary, labels=("S", "NP", "S::VP", "VP::NP::VP"))
    torch.manual_seed(len(words))
    return network_views(SpanNetwork(TINY, few.sizes).eval(), few, 0.4, [words])[0]


def test_a_tree_without_a_constituent_over_the_sentence_has_a_root_that_does_not_count(view: NetworkView) -> None:
    """In a treebank without a label above all trees the stand-in is no label of a treebank, such as X."""
    rootless = copy.copy(view)
    rootless.treebank_root = None
    spans = [spans for _, spans in sorted(enumeration(view), key=lambda tree: -tree[0])]
    bare = {str(parse.tree) for parse, own in zip(rootless.kbest(10**4), spans, strict=True) if (0, view.n) not in own}
    assert bare
    assert all(text.startswith("(TOP ") or view.n == 1 for text in bare)


def test_posteriors_against_enumeration(view: NetworkView) -> None:
    right: dict[tuple[int, int, str], float] = {}
    top: dict[tuple[int, int, str], float] = {}
    for p, spans in enumeration(view):
        for (s, t), chain in spans.items():
            parts = chain.split("::")
            for label in set(parts):
                top[s, t, label] = top.get((s, t, label), 0.0) + p * 0.5 ** parts.index(label)
                right[s, t, label] = right.get((s, t, label), 0.0) + p
    found = {(c.start, c.end, c.label): c.posterior for c in view.phrase_constituents()}
    assert found == pytest.approx(right, abs=1e-6)
    labels = view.span_labels
    span = np.repeat(np.arange(view.n * (view.n + 1)), np.diff(labels.first))
    tops = {
        (*divmod(int(at), view.n + 1), labels.names[X]): p for at, X, p in zip(span, labels.label, labels.top, strict=True) if p
    }
    assert tops == pytest.approx(top, abs=1e-6)
    for s, t in itertools.combinations(range(view.n + 1), 2):
        some = sum(p for p, spans in enumeration(view) if (s, t) in spans)
        untagged = dict(view.tag_posteriors(s)).get(None, 0.0) if t == s + 1 else 1.0
        assert labels.some[s, t] == pytest.approx(1 - (1 - some) * untagged, abs=1e-5)
    for i in range(view.n):
        assert sum(p for _, p in view.tag_posteriors(i)) == pytest.approx(1, abs=1e-4)
    assert {c.label for c in view.shown_constituents()} >= set(view.vocabulary.tags) - {""}


def test_best_trees_and_samples_against_enumeration(view: NetworkView) -> None:
    trees = sorted(enumeration(view), key=lambda each: -each[0])
    best = view.kbest(5)
    assert [math.exp(parse.log_probability) for parse in best] == pytest.approx([p for p, _ in trees[:5]], rel=1e-5)
    assert best[0] == view.best()
    assert view.argmax("viterbi").score == pytest.approx(trees[0][0], rel=1e-5)
    assert best[0].tree.label == "TOP"
    assert best[0].tree.words == view.words
    assert view.entropy() == pytest.approx(-sum(p * math.log(p) for p, _ in trees), abs=1e-4)
    drawn = view.sample(4000, seed=3)
    shown = {str(parse.tree): math.exp(parse.log_probability) for parse in best}
    for text, p in shown.items():
        assert sum(str(tree) == text for tree in drawn) / 4000 == pytest.approx(p, abs=0.05)


def test_the_best_tree_by_posteriors_against_enumeration(view: NetworkView) -> None:
    """Every bracketing with every set of labels: none has a larger sum of g - lam."""
    g = {(c.start, c.end, c.label): c.posterior for c in view.phrase_constituents()}
    for lam in (0.1, 0.4):
        best = view.argmax("labelled-precision-recall", lam=lam)
        worth = {(s, t): sum(max(0.0, g.get((s, t, x), 0.0) - lam) for x in view.vocabulary.phrase_labels)
                 for s, t in itertools.combinations(range(view.n + 1), 2)}  # fmt: skip
        root = max(g.get((0, view.n, x), 0.0) for x in view.vocabulary.phrase_labels) - lam
        values = [
            sum(worth[span] for span in spans if span != (0, view.n))
            + (min(root, 0.0) if view.n > 1 and root < 0 else worth[0, view.n])
            for spans in {tuple(sorted(spans)) for _, spans in enumeration(view)}
        ]
        assert best.score == pytest.approx(max(values), abs=1e-6)


def test_a_batch_gives_what_single_sentences_give() -> None:
    sentences = [
        "the cat sat",
        "milk",
        "the old dog saw a supercalifragilisticexpialidocious cat with milk",
        "sat with unseen words",
        "sat",
    ]
    together = views(*sentences)
    for sentence, view in zip(sentences, together, strict=True):
        alone = views(sentence)[0]
        assert np.allclose(view.spans, alone.spans, atol=1e-5)
        assert np.allclose(view.scores, alone.scores, atol=1e-4)
        assert [tags[0][0] for tags in view.tags] == [tags[0][0] for tags in alone.tags]


def test_the_loss_is_the_likelihood_of_the_tree() -> None:
    """The CRF over sums of labels, less the scores of a tree's labels, against the CRF over labels."""
    from treegauge.neural import SpanCRF

    vocabulary = vocabulary_of([Tree.parse("(S (NP (DT a) (NN b)) (VP (VBD c)))")], None)
    network = SpanNetwork(TINY, vocabulary.sizes)
    batch = on_device(make_batch(encode_sentences(vocabulary, [["a", "b", "c"], ["c"]]), np.array([1, 0])), "cpu")
    assert batch.chosen.tolist() == [0, 1]
    scores, tags = network(batch)
    assert tags.shape == (4, 3)
    dense = torch.zeros(2, 3, 3, 1 + len(vocabulary.labels))
    for row, cell in enumerate(batch.cell.tolist()):
        dense.view(18, -1)[cell, 1:] = scores[row]
    whole = SpanCRF(dense, [3, 1], null=0, root=False, labels=["", *vocabulary.labels])
    assert torch.allclose(tree_distribution(scores, batch).log_partition, whole.log_partition, atol=1e-5)


def test_every_objective_and_option() -> None:
    model, sentence = trained(), sentence_of("the old dog sat with milk")
    for objective in ("viterbi", "labelled-recall", "bracketed-recall", "labelled-precision-recall", "mbr:parseval"):
        found = NetworkParser(model, objective, kbest=2, posteriors=True, device="cpu").parse(sentence)
        assert found.tree.words == sentence.words
        assert (found.tree.label, found.fallback, found.sentence_log_probability, len(found.kbest)) == ("TOP", False, 0.0, 2)
        assert found.constituents
    for objective in ("frames", "max-rule"):
        with pytest.raises(UsageError, match=objective):
            NetworkParser(model, objective).check()
    tags = ("A", "NN", "NN", "B", "IN", "NN")
    kept = NetworkParser(model, gold_tags=True, device="cpu").parse(sentence._replace(tags=tags))
    assert kept.tree.tags == tags
    with pytest.raises(TreegaugeError, match="no tags are given"):
        NetworkParser(model, gold_tags=True, device="cpu").parse(sentence)


def test_no_words_and_too_many() -> None:
    parser = NetworkParser(trained(), device="cpu")
    empty, usual, long = parser.parse_all([Sentence(()), Sentence(("the", "cat")), Sentence(("milk",) * (MOST_WORDS + 1))], jobs=2)
    assert (str(empty.tree), empty.fallback, empty.too_long) == ("()", True, False)
    assert (usual.fallback, long.fallback, long.too_long) == (False, True, True)
    assert long.tree.width == MOST_WORDS + 1
    assert parser.views([Sentence(()), Sentence(("the",))])[0] is None


def test_it_learns() -> None:
    settings = replace(TINY, epochs=40, hidden=16, words=16, characters=8, spans=24, dropout=0.1, unknown=0.1)
    model = train_network(TREES * 6, settings, device="cpu", tune=False)
    assert model.notes["history"][-1][0] < model.notes["history"][0][0] / 10
    for tree in [*TREES[:5], TREES[6]]:
        assert NetworkParser(model, device="cpu").parse(Sentence(tree.words)).tree == tree


def written(path: Path, **options: Any) -> bytes:
    train_network(TREES * 6, TINY, device="cpu", save=lambda model: save_network(model, path), **options)
    return path.read_bytes()


def test_training_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    assert written(tmp_path / "a") == written(tmp_path / "b", jobs=2)
    other = train_network(TREES * 6, replace(TINY, seed=2), device="cpu")
    assert any((each != other.weights[name]).any() for name, each in trained().weights.items())


KILLED = """
import sys, time
from pathlib import Path
from tests.neural.toy_network import TINY, TREES
from treegauge.neural.network_model import save_network
from treegauge.neural.network_training import train_network
folder = Path(sys.argv[1])
train_network(TREES * 6, TINY, device="cpu", checkpoint=folder / "c", every=0, resume=(folder / "c").exists(),
              on_report=lambda at: time.sleep(0.02), save=lambda model: save_network(model, folder / "m"))
"""


def test_killed_at_any_moment_and_resumed(tmp_path: Path) -> None:
    """State is written after every step; each run is killed a little later than the one before."""
    right = written(tmp_path / "right")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    kills = 0
    while not (tmp_path / "m").exists():
        assert kills < 100
        with subprocess.Popen([sys.executable, "-c", KILLED, tmp_path], env=environment) as process:
            while not (tmp_path / "c" / "network.state").exists() and process.poll() is None:
                time.sleep(0.01)
            time.sleep(0.4 * (kills % 7))
            if process.poll() is None and kills < 6:
                process.send_signal(signal.SIGKILL)
                kills += 1
            assert process.wait(120) in (0, -signal.SIGKILL)
    assert kills
    assert (tmp_path / "m").read_bytes() == right
    assert not (tmp_path / "c").exists()


def test_a_loss_that_is_no_number_ends_training_and_keeps_the_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from treegauge.neural import network_training

    step = network_training._Training._train_batch

    def diverging(self: Any, parts: Any) -> Any:
        return step(self, parts) * (1.0 if self.step < 3 else math.nan)

    monkeypatch.setattr(network_training._Training, "_train_batch", diverging)
    for every in (0.0, 60.0):
        with pytest.raises(UsageError, match="training diverged"):
            train_network(TREES * 6, TINY, device="cpu", checkpoint=tmp_path / f"{every}", every=every)
    assert list((tmp_path / "0.0").iterdir())


@pytest.mark.parametrize("rate", [0.0, 1e-4])
def test_nothing_is_said_of_the_trees_of_a_network_that_has_learned_little(rate: float, recwarn: pytest.WarningsRecorder) -> None:
    train_network(TREES * 40, replace(TINY, epochs=1, rate=rate), device="cpu")
    assert not [each for each in recwarn if issubclass(each.category, TreegaugeWarning)]


def test_of_epochs_that_the_slice_cannot_tell_apart_the_latest_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from treegauge.neural import network_training

    rates = iter([0.5, 0.8, 0.796, 0.7, 0.6])
    monkeypatch.setattr(network_training._Training, "_f1", lambda *_: next(rates, 0.0))
    model = train_network(TREES * 20, replace(TINY, epochs=5), device="cpu")
    assert (model.notes["best_epoch"], len(model.notes["history"])) == (3, 5)


def test_another_run_is_not_resumed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no checkpoint there"):
        train_network(TREES, TINY, checkpoint=tmp_path / "c", resume=True, device="cpu")

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_network(TREES, TINY, checkpoint=tmp_path / "c", device="cpu", on_report=stop)
    with pytest.raises(UsageError, match="another run; what differs: seed"):
        train_network(TREES, replace(TINY, seed=2), checkpoint=tmp_path / "c", resume=True, device="cpu")


def test_few_trees_and_none() -> None:
    with pytest.raises(UsageError, match="no trees"):
        train_network([], TINY)
    model = train_network([Tree.parse("(NN milk)")], TINY, device="cpu")
    assert model.notes["f1"] is None
    assert str(NetworkParser(model, device="cpu").parse(Sentence(("milk", "milk"))).tree.words) == "('milk', 'milk')"
    with pytest.raises(TreegaugeError, match="no tree with words"):
        train_network([Tree("S")], TINY)


def test_trees_whose_root_has_no_label_and_several_children(tmp_path: Path) -> None:
    tree = Tree.parse("( (S (NP (DT the) (NN cat))) (. .))")
    save_network(train_network([tree], TINY, device="cpu"), tmp_path / "m")
    parser = NetworkParser(load_network(tmp_path / "m"), device="cpu")
    assert parser.parse(Sentence(tree.words)).tree.label == ""


Parts = tuple[dict[str, Any], dict[str, np.ndarray]]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    path = tmp_path_factory.mktemp("models") / "m.model"
    save_network(trained(), path)
    return read_archive(path, SCHEMA, VERSION)


def test_a_file_holds_the_model(tmp_path: Path, parts: Parts) -> None:
    model = trained()
    save_network(model, tmp_path / "m")
    read = load_network(tmp_path / "m")
    assert (read.vocabulary, read.settings, read.lam, read.notes) == (model.vocabulary, model.settings, model.lam, model.notes)
    assert all((read.weights[name] == each).all() for name, each in model.weights.items())
    assert (read.sentences == model.sentences).all()
    assert len(read.sentences) == len(TREES)
    size = sum(array.size for array in read.weights.values())
    assert repr(read) == repr(copy.deepcopy(read)) == f"<NetworkModel of {size:,} weights, 6 labels, lam {read.lam:g}>"
    save_network(read, tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


@pytest.mark.parametrize("seed", range(60))
def test_hostile_content_is_refused(tmp_path: Path, parts: Parts, seed: int) -> None:
    rng = random.Random(seed)
    document, arrays = copy.deepcopy(parts)
    name, what = rng.choice(list(arrays)), rng.choice(["array", "settings", "vocabulary", "lam"])
    if what == "array":
        old = arrays[name]
        arrays[name] = rng.choice([old[:-1], old.astype(np.float64), old.reshape(-1, 1, 1), np.full(old.shape, np.nan, np.float16)])
    elif what == "lam":
        document["lam"] = rng.choice([None, "x", float("1e9"), -1, []])
    else:
        inner = document[what]
        harmless = {"seed", "tag_weight", "rate", "encoder_rate", "epochs", "tokens", "unknown", "dropout", "passes"}
        key = rng.choice([key for key in inner if key not in {*harmless, "root", "vectors"}])
        inner[key] = rng.choice([None, "x", [], [1], {}, -1, 10**12, ["a", "a"], 1.5])
    write_archive(tmp_path / "m", document, arrays)
    with pytest.raises(ModelError):
        load_network(tmp_path / "m")


def test_damaged_bytes_are_refused(tmp_path: Path) -> None:
    save_network(trained(), tmp_path / "m")
    content = bytearray((tmp_path / "m").read_bytes())
    rng = random.Random(1)
    for _ in range(30):
        changed = content.copy()
        changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        (tmp_path / "n").write_bytes(changed[: rng.choice([len(content), len(content), rng.randrange(len(content))])])
        with pytest.raises(ModelError):
            load_network(tmp_path / "n")


WITHOUT = """
import sys
for name in ("numba", "click", "rich", "jinja2"):
    sys.modules[name] = None
import treegauge.neural
from tests.neural.toy_network import trained
model = trained()
print(len(model.notes["history"]), model.notes["f1"])
"""


def test_training_without_numba_and_the_libraries_of_commands() -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    done = subprocess.run([sys.executable, "-c", WITHOUT], env=environment, capture_output=True, text=True, check=True)
    epochs, f1 = done.stdout.split()
    assert int(epochs) >= 1
    assert float(f1) == pytest.approx(trained().notes["f1"], abs=0.2)


def test_posteriors_are_computed_without_tf32() -> None:
    # On a GPU, TF32 would change scores by up to 0.003. The settings are those of the whole process, also for several threads.
    from treegauge.neural.backend import _tf32_settings, fast_products, full_precision

    settings, off = _tf32_settings()

    def values() -> list[Any]:
        return [getattr(*setting) for setting in settings]

    before, inside = values(), list[Any]()
    network = trained().network("cpu")
    hook = network.register_forward_pre_hook(lambda *given: inside.append(values()))
    try:
        for allowed in (True, False):
            torch.backends.cudnn.allow_tf32 = allowed
            set_before = values()
            views("the cat sat")
            assert values() == set_before
            assert torch.backends.cudnn.allow_tf32 is allowed
        with fast_products():
            assert values()[0] not in (off, before[0])
            views("the cat sat")
            assert values()[0] not in (off, before[0])
        assert inside == [[off] * len(settings)] * 3
        with pytest.raises(ZeroDivisionError), full_precision:
            raise ZeroDivisionError
        both = threading.Barrier(2)

        def in_thread() -> list[Any]:
            with full_precision:
                both.wait(10)
                found = values()
            both.wait(10)
            return found

        with ThreadPoolExecutor(2) as pool:
            first, second = pool.submit(in_thread), pool.submit(in_thread)
            assert first.result() == second.result() == [off] * len(settings)
    finally:
        hook.remove()
        torch.backends.cudnn.allow_tf32 = True
    assert values() == before


def test_a_command_that_has_loaded_triton_ends_without_a_word() -> None:
    pytest.importorskip("triton")
    program = "import sys, triton.language; from treegauge.cli import main; sys.argv[1:] = ['score', '--list']; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_checkpoint_with_a_negative_number_of_steps_is_damaged() -> None:
    from treegauge.neural.network_training import _Training

    with pytest.raises(ValueError, match="negative"):
        _Training.restore(object.__new__(_Training), {"epoch": -1, "at": 0, "step": 0, "total": 0.0, "history": []}, {})


def test_a_network_learns_no_functions_before_a_mark() -> None:
    text = "(STA+fcl (SUBJ+np (>N+pron-det esta) (H+n {}a)) (P+v-fin cai) (.))"
    trees = treegauge.as_treebank([text.format(letter) for letter in "abcdefghijklmnopqrst"], treebank="floresta")
    small = {name: getattr(TINY, name) for name in ("words", "characters", "hidden", "spans")}
    model = treegauge.train(trees, treebank="floresta", neural=True, tune=False, epochs=1, device="cpu", **small)
    assert isinstance(model.parser, NetworkParser)
    assert model.parser.model.vocabulary.tags == (".", "n", "pron-det", "v-fin")
    assert set(model.parser.model.vocabulary.labels) <= {"", "fcl", "np"}
    assert model.notes["steps"].startswith("traces,functions:before=+")
