"""Charts of benepar and supar, and the replacements for torch-struct, against the packages themselves (random weights)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from treegauge.errors import UsageError
from treegauge.neural import SentCFG, TreeCRF, benepar_charts, supar_charts

torch: Any = pytest.importorskip("torch", reason="torch is not installed (extra [torch])")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]  # the warnings are those of the packages
SENTENCES = [text.split() for text in ("the cat saw a dog in the park", "dogs", "a cat saw (")]


def package(name: str) -> Any:
    """An optional package; without it the test is skipped."""
    return pytest.importorskip(name, reason=f"{name} is not installed", exc_type=ImportError)


def benepar_parser(*, tags: bool, root: bool) -> Any:
    """A benepar parser of characters with random weights."""
    chart, util, chars = package("benepar.parse_chart"), package("benepar.nkutil"), package("benepar.char_lstm")
    rates = ["char_lstm_input_dropout", "morpho_emb_dropout", "relu_dropout", "residual_dropout", "attention_dropout"]
    sizes = {"d_model": 16, "d_char_emb": 8, "encoder_max_len": 32, "num_heads": 2, "d_kv": 4, "d_ff": 8, "num_layers": 1}
    more = {"d_label_hidden": 8, "d_tag_hidden": 8, "tag_loss_scale": 1.0, "use_encoder": True, "use_pretrained": False}
    settings = util.HParams(
        use_chars_lstm=True, predict_tags=tags, force_root_constituent=root, **dict.fromkeys(rates, 0.0), **sizes, **more
    )
    torch.manual_seed(3)
    vocabulary = chars.RetokenizerForCharLSTM.build_vocab([" ".join(words) for words in SENTENCES])
    names = {"": 0, "NP": 1, "S": 2, "S::VP": 3, "VP": 4}
    parser = chart.ChartParser({"UNK": 0, "D": 1, "N": 2, "V": 3}, names, vocabulary, settings)
    with torch.no_grad():
        for parameter in parser.f_label.parameters():
            parameter.mul_(3)
    return parser


@pytest.mark.parametrize(("tags", "root"), [(True, True), (False, False)])
def test_benepar(tags: bool, root: bool) -> None:
    """The most probable trees are benepar's own, with its tags and escaped words, except for its node TOP."""
    parser = benepar_parser(tags=tags, root=root)
    benepar = package("benepar")
    inputs = [
        benepar.InputSentence(words=w, space_after=[True] * len(w), escaped_words=[x.replace("(", "-LRB-") for x in w])
        for w in SENTENCES
    ]
    charts = benepar_charts(parser, inputs)
    for chart, theirs in zip(charts, parser.parse(inputs), strict=True):
        flat = " ".join(str(theirs).split())
        ours = str(chart.argmax("viterbi").tree)
        assert flat == f"(TOP {ours})" or (not root and flat == ours)
        assert chart.root == root
    assert charts[2].words[-1] == "-LRB-"
    given = benepar_charts(parser, inputs, tags=[["T"] * len(w) for w in SENTENCES], temperature=2.0)
    assert given[0].tags == ["T"] * 8
    assert given[0].temperature == 2.0


def test_a_whole_benepar_parser() -> None:
    """Lists of words, and input sentences with some fields: words and tags are those of the trees that benepar itself makes."""
    benepar = package("benepar")
    parser = benepar.Parser.__new__(benepar.Parser)  # the constructor would download a model
    parser._parser, parser._language_code, parser._tokenizer_lang, parser.batch_size = (
        benepar_parser(tags=True, root=True),
        "en",
        None,
        8,
    )
    given = [*SENTENCES, benepar.InputSentence(words=["a", "cat"], tags=["D", "N"]), benepar.InputSentence(escaped_words=["dogs"])]
    charts = benepar_charts(parser, given)
    for chart, theirs in zip(charts, parser.parse_sents(given), strict=True):
        assert " ".join(str(theirs).split()) == f"(TOP {chart.argmax('viterbi').tree})"
    assert charts[2].words[-1] == "-LRB-"
    assert charts[3].tags == ["D", "N"]
    assert benepar_charts(parser, []) == []
    for wrong, inputs, message in (
        (parser, ["a cat"], "sentence 1 must be words in a list"),
        (parser._parser, SENTENCES, "sentence 1 must be an input sentence of benepar"),
        (parser._parser, [benepar.InputSentence(words=["a"])], "sentence 1 has no escaped_words"),
        (object(), SENTENCES, "object is not a benepar parser"),
    ):
        with pytest.raises(UsageError, match=message):
            benepar_charts(wrong, inputs)
    with pytest.raises(UsageError, match="tags are given for 1 sentence, but there are 3"):
        benepar_charts(parser, SENTENCES, tags=[["T"]])


def test_supar() -> None:
    """Posteriors are supar's marginals of spans times its label probabilities; labels of binarisation do not appear in trees."""
    models, structs = package("supar.models.const"), package("supar.structs")
    names = ["NP", "S", "S|<>", "VP", "VP|<>"]
    torch.manual_seed(5)
    model = models.CRFConstituencyModel(
        n_words=20, n_labels=5, n_tags=5, feat=["tag"], encoder="lstm", n_embed=8, n_pretrained=0, n_feat_embed=8,
        n_encoder_hidden=16, n_encoder_layers=1, n_span_mlp=8, n_label_mlp=8, pad_index=0, unk_index=1,
    )  # fmt: skip
    words = torch.randint(2, 20, (3, 9))
    words[1, 6:], words[2, 4:] = 0, 0
    model.eval()
    with torch.no_grad():
        s_span, s_label = (30 * torch.randn(x.shape) * x.abs() + x for x in model(words, [words % 5]))
    valid = words.ne(0)[:, 1:]
    mask = (valid.unsqueeze(1) & valid.unsqueeze(2)).triu(1)
    lengths = mask[:, 0].sum(-1)
    spans = structs.ConstituencyCRF(s_span.clone().requires_grad_(), lengths).marginals.detach()
    shares = s_label.softmax(-1)
    charts = supar_charts(s_span, s_label, lengths, names, words=[["w"] * n for n in lengths.tolist()])
    for i, chart in enumerate(charts):
        n = int(lengths[i])
        exact = (spans[i, :-1, 1:, None] * shares[i, :-1, 1:])[:n, :n].numpy().copy()
        exact[..., [2, 4]] = 0.0
        assert np.allclose(chart.posterior, exact, atol=1e-5)
        tree = chart.argmax().tree
        assert tree.words == ("w",) * n
        assert not any("|<>" in node.label for node in tree.nodes())
    with pytest.raises(UsageError, match="labels must have 5 names, not 4"):
        supar_charts(s_span, s_label, lengths, names[:4])
    with pytest.raises(UsageError, match="words are given for 1 sentence, but there are 3"):
        supar_charts(s_span, s_label, lengths, names, words=[["w"]])


def random_potentials(labels: int, seed: int) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(3, 5, 5, labels, dtype=torch.float64, generator=generator), torch.tensor([5, 3, 2])


def test_tree_crf_beside_torch_struct() -> None:
    """Shapes and values of everything that both classes have."""
    peer = package("torch_struct")
    (potentials, lengths), (others, _) = random_potentials(2, 1), random_potentials(2, 2)
    potentials[0, 1, 3, 0] = -1e4
    ours, theirs = TreeCRF(potentials, lengths), peer.TreeCRF(potentials, lengths=lengths)
    for name in ("partition", "marginals", "entropy", "argmax", "mode", "max", "count"):
        mine, its = getattr(ours, name), getattr(theirs, name)
        assert mine.shape == its.shape, name
        assert torch.allclose(mine.double(), its.double(), atol=1e-6), name
    assert torch.equal(ours.from_event(ours.argmax)[0], theirs.from_event(theirs.argmax)[0].to(ours.argmax.dtype))
    assert torch.equal(ours.to_event(ours.argmax, 2, lengths), theirs.to_event(ours.argmax, 2, lengths))
    assert ours.batch_shape == theirs.batch_shape
    assert ours.event_shape == theirs.event_shape
    for name in ("topk", "kmax"):
        mine, its = getattr(ours, name)(2), getattr(theirs, name)(2)
        assert mine.shape == its.shape, name
        assert torch.allclose(mine.double()[:, :2], its.double()[:, :2], atol=1e-6), name  # two words have one tree
    events = ours.argmax[None].repeat(2, 1, 1, 1, 1)
    assert torch.allclose(ours.log_prob(events), theirs.log_prob(events))
    second, its_second = TreeCRF(others, lengths), peer.TreeCRF(others, lengths=lengths)
    assert torch.allclose(ours.cross_entropy(second), theirs.cross_entropy(its_second), atol=1e-6)
    assert torch.allclose(ours.kl(second), theirs.kl(its_second), atol=1e-6)
    assert ours.sample((7,)).shape == theirs.sample((7,)).shape


def test_tree_crf_samples() -> None:
    """Samples have the right probabilities, and the seed is torch's unless one is given."""
    potentials, lengths = random_potentials(1, 4)
    crf = TreeCRF(potentials, lengths)
    drawn = crf.sample((4000,), seed=2)
    assert drawn.shape == (4000, 3, 5, 5, 1)
    assert torch.allclose(drawn.mean(0), crf.marginals, atol=0.04)
    found = Counter(tuple(tree[0].flatten().tolist()) for tree in drawn)
    for tree, count in found.most_common(3):
        event = torch.tensor(tree).reshape(5, 5, 1)
        assert count / 4000 == pytest.approx(float(crf.log_prob(event[None].expand(3, 5, 5, 1))[0].exp()), abs=0.04)
    assert crf.sample().shape == (3, 5, 5, 1)
    assert crf.sample((2, 3)).shape == (2, 3, 3, 5, 5, 1)
    runs = []
    for _ in range(2):
        torch.manual_seed(9)
        runs.append(crf.sample((5,)))
    assert torch.equal(*runs)
    impossible = torch.full((1, 2, 2, 1), 0.0)
    impossible[0, 1, 1] = -float("inf")
    assert TreeCRF(impossible).count.tolist() == [0.0]
    assert TreeCRF(torch.zeros(1, 5, 5, 2)).count.tolist() == [14.0 * 2**9]


def test_sent_cfg_beside_torch_struct() -> None:
    peer = package("torch_struct")
    generator = torch.Generator().manual_seed(1)
    sizes = [(3, 5, 3), (3, 2, 25), (3, 2)]
    terms, rules, roots = (torch.randn(*x, dtype=torch.float64, generator=generator).log_softmax(-1) for x in sizes)
    given, lengths = (terms, rules.reshape(3, 2, 5, 5), roots), torch.tensor([5, 3, 2])
    ours, theirs = SentCFG(given, lengths), peer.SentCFG(given, lengths=lengths)
    for name in ("partition", "max", "entropy"):
        assert torch.allclose(getattr(ours, name), getattr(theirs, name), atol=1e-6), name
    for name in ("marginals", "argmax", "mode"):
        for mine, its in zip(getattr(ours, name), getattr(theirs, name), strict=True):
            assert mine.shape == its.shape, name
            assert torch.allclose(mine, its.to(mine.dtype), atol=1e-6), name
    assert torch.allclose(ours.log_prob(ours.argmax), ours.max - ours.partition)
