"""Word vectors: the two text formats, errors with their place, and networks that read them."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from treegauge.errors import FileNote, InputError, ModelError, UsageError
from treegauge.io.archive import read_archive, write_archive
from treegauge.neural.word_vectors import MOST_DIMENSIONS, WordVectors, read_vectors

GLOVE = "the 1 -1 0.5\n. . . 0 1 2\ncat -1 0 1\nthe 9 9 9\nmilk 1e0 2 3"


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_both_formats_compressed_or_not(tmp_path: Path) -> None:
    glove = read_vectors(written(tmp_path / "glove.txt", GLOVE))
    assert glove.words == ("the", ". . .", "cat", "milk")
    right = np.array([[1, -1, 0.5], [0, 1, 2], [-1, 0, 1], [1, 2, 3]])
    assert np.allclose(glove.values, right / right.std(), atol=2e-3)
    for name, content in (
        ("a.vec", f"5 3\n{GLOVE}\n".encode()),
        ("a.txt", GLOVE.replace("\n", " \r\n").encode()),
        ("a.txt.gz", gzip.compress(GLOVE.encode())),
        ("a.vec.gz", gzip.compress(b"5 3\n" + GLOVE.encode())),
    ):
        found = read_vectors(written(tmp_path / name, content))
        assert found.words == glove.words
        assert (found.values == glove.values).all()


def test_the_first_words_and_those_that_are_needed(tmp_path: Path) -> None:
    path = written(tmp_path / "v", "".join(f"w{i} {i} 1\n" for i in range(50)))
    assert read_vectors(path, {"w30", "w48", "absent"}, most=3).words == ("w0", "w1", "w2", "w30", "w48")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the 1 2\ncat 1\n", r"v:2:1: a word and 2 numbers are expected\n  cat 1"),
        ("the 1 2\ncat 1 x\n", "v:2:1: not all of its values are numbers"),
        ("the 1 2\ncat 1 nan\n", "v:2:1: not all of its values are numbers"),
        ("the 1 2\ncat 1 inf\n", "v:2:1: not all of its values are numbers"),
        (b"the 1 2\n\xff\xfe\xfd 1 2\n", "v:2:1: the word is not UTF-8"),
        ("the 1 2\n\ncat 1 2\n", "v:2:1: a word and 2 numbers"),
        ("", "no word vectors"),
        ("5 3\n", "no word vectors"),
        ("5 99999999999\nthe 1 2\n", "dimensions, not 1 to"),
        ("5 " + "9" * 5000 + "\nthe 1 2\n", "dimensions, not 1 to"),
        ("2 1\nthe 1 2\ncat 1 2\n", "v:2:1: a word and 1 numbers are expected"),
        ("word\n", "not word vectors: the first line has 0 dimensions"),
        ("\nthe 1 2\n", "not word vectors: the first line has 0 dimensions"),
        ("(S (NP a))\n", r"v:1:1: not all of its values are numbers"),
        ("the " + "1 " * (MOST_DIMENSIONS + 1), "not word vectors"),
    ],
)
def test_bad_files_are_errors_with_a_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_vectors(written(tmp_path / "v", text))
    with pytest.raises(InputError, match="no such file"):
        read_vectors(tmp_path / "absent")


def test_a_file_with_fewer_words_than_its_first_line_tells_of_gets_a_note(tmp_path: Path) -> None:
    with pytest.warns(FileNote, match="it has 2 of the 5 words that its first line tells of"):
        assert read_vectors(written(tmp_path / "v", "5 2\nthe 1 2\ncat 1 2\n")).words == ("the", "cat")


def test_vectors_that_are_all_the_same_are_finite(tmp_path: Path) -> None:
    assert np.isfinite(read_vectors(written(tmp_path / "v", "the 0.1 0.1\ncat 0.1 0.1\n")).values).all()


VECTORS = WordVectors(("The", "cat", "zebra", "yak", '"'), np.array([[1, 0], [0, 1], [2, -2], [-2, 2], [3, 3]], np.float16))


@pytest.mark.torch
def test_a_network_reads_the_vectors_of_words_that_training_never_saw(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
    from tests.neural.toy_network import TINY, TREES

    from treegauge.neural.network_model import SCHEMA, VERSION, load_network, save_network
    from treegauge.neural.network_training import train_network
    from treegauge.neural.network_view import network_views

    def scores(model: object, *words: str) -> np.ndarray:
        return network_views(model.network("cpu"), model.vocabulary, 0.4, [words])[0].scores  # type: ignore[attr-defined]

    train_network(TREES * 6, TINY, device="cpu", vectors=VECTORS, save=lambda made: save_network(made, tmp_path / "m"))
    model = load_network(tmp_path / "m")
    assert [model.vocabulary.vector_number(word) for word in ("The", "CAT", "the", "``", "dog")] == [1, 2, 0, 5, 0]
    assert (model.vectors == VECTORS.values).all()
    # The two words have the same unknown characters and no number, so only their vectors differ.
    model.vocabulary.character_numbers.clear()
    assert not np.allclose(scores(model, "zebra", "sat"), scores(model, "yakxx", "sat"), atol=1e-4)
    assert np.allclose(scores(model, "xxxxx", "sat"), scores(model, "yyyyy", "sat"))
    train_network(TREES * 6, TINY, device="cpu", vectors=VECTORS, save=lambda made: save_network(made, tmp_path / "n"))
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    document, arrays = read_archive(tmp_path / "m", SCHEMA, VERSION)
    for change in (arrays["vectors"][:-1], np.full_like(arrays["vectors"], np.nan), arrays["vectors"].astype(np.float32)):
        write_archive(tmp_path / "h", document, {**arrays, "vectors": change})
        with pytest.raises(ModelError, match="the weights vectors"):
            load_network(tmp_path / "h")

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_network(TREES, TINY, device="cpu", vectors=VECTORS, checkpoint=tmp_path / "c", on_report=stop)
    with pytest.raises(UsageError, match="what differs: embeddings"):
        train_network(
            TREES, TINY, device="cpu", vectors=VECTORS._replace(values=-VECTORS.values), checkpoint=tmp_path / "c", resume=True
        )
