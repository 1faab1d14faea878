"""Instances of every public class, made as users come by them: from a small treebank, two parsers' trees and small models."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import treegauge
from treegauge import (
    alignment,
    chunks,
    engines,
    experiments,
    grammar,
    io,
    learning,
    metrics,
    normalise,
    parsing,
    presets,
    significance,
    trees,
)
from treegauge.data import discontinuous_treebank, own_treebank
from treegauge.grammar.latent import describe
from treegauge.learning.latent import QUICK, TrainingSettings, train_latent
from treegauge.metrics import evalb, hogenhout
from treegauge.parsing.latent import LatentParser
from treegauge.presets.prm import Parameters
from treegauge.trees import drawing

SENTENCE = ["I", "saw", "the", "old", "man", "with", "the", "telescope", "in", "the", "garden", "of", "the", "house", "."]


def scored() -> Iterator[object]:
    """Treebanks, and what scoring, comparing and reporting give."""
    gold = own_treebank("dev")
    flat = treegauge.Treebank.from_trees([normalise.pipeline("functions,unaries:top")(tree) for tree in gold])
    bare = treegauge.Treebank.from_trees([normalise.pipeline("functions,traces")(tree) for tree in gold])
    result = treegauge.score(gold, flat, breakdowns=["labels"])
    several = treegauge.score(gold, {f"a parser with the long name {i}": flat for i in range(4)}, ["parseval", "goodman", "freval"])
    comparison = treegauge.compare(gold, {"flat": flat, "bare": bare}, metric="parseval", rounds=50)
    yield from (
        gold,
        gold[0],
        trees.Origin("wsj.mrg", np.arange(1, 90)),
        gold[0].spans()[0],
        gold[0].productions()[0],
        discontinuous_treebank("german")[0],
    )
    yield from (
        result,
        several,
        result.table(),
        result.signature,
        treegauge.evaluator("freval"),
        treegauge.CompareOptions(rounds=50),
    )
    yield from (comparison, comparison["f1"], comparison["f1"].interval, treegauge.with_confidence(result, rounds=20))
    yield from (treegauge.diff(gold, flat, 3), treegauge.report(gold[:5], {"flat": flat[:5]}, treegauge.CompareOptions(rounds=10)))
    preset = treegauge.load_preset("collins")
    pair = alignment.pair(gold, flat, preset)
    labels = result.breakdowns["labels"]
    yield from (pair, pair.gold, pair.test, labels, labels.examples(labels.keys[0], 1)[0], preset)
    yield presets.EvalbFile("COLLINS.prm", Parameters())
    yield from (treegauge.ReadOptions(), treegauge.ReadOptions(encoding="latin-1", lines=True, treebank="ctb", on_error="repair"))
    yield from (io.FORMATS["export"], io.Source("wsj.mrg", b"(S (N rain))" * 100))
    yield from map(treegauge.find_metric, treegauge.metric_names())
    yield from (metrics.references_of("freval")[0], next(iter(experiments.EXPERIMENTS.values()), None))
    yield experiments.load_experiment("goodman-table2")
    lines = [b"(S (NP (DT the) (NN cat)) (VP (VBD sat)))"]
    yield next(iter(evalb.score_lines(lines, lines, Parameters())))
    yield normalise.count_gaps([discontinuous_treebank("german")])
    yield from (normalise.head_rules("collins"), normalise.pipeline("traces,functions"))
    items = drawing.tree_items(gold[0])
    yield from (items[0], drawing.lay_out(items, [4] * len(items), 2), drawing.MARKS["matched"])


def judged() -> Iterator[object]:
    """What human checks and tests of significance give."""
    metric = hogenhout.Hogenhout()
    pair = alignment.pair(own_treebank("dev"), own_treebank("dev"), treegauge.load_preset("default"))
    other = (
        treegauge.Treebank.parse("(S (NP (D a) (N b)) (VP (V c) (N d)))"),
        treegauge.Treebank.parse("(S (D a) (X (N b) (V c)) (N d))"),
    )
    asked = hogenhout.brackets_to_judge(alignment.pair(*other, treegauge.load_preset("default")), metric)[0]
    verdict = next(iter(hogenhout.Verdict))
    key = hogenhout.BracketKey(0, 1, 3, "X")
    judgements = hogenhout.Judgements({key: verdict})
    yield from (metric, pair, asked, key, verdict, judgements, hogenhout.JudgedHogenhout(judgements=judgements))
    yield hogenhout.parse_base([(12, 30.0), (20, 900.0)])
    cells = significance.Cells(700, 30, 50, 60)
    yield from (cells, significance.binomial(cells), significance.mcnemar(cells), significance.real_test(cells))
    values = np.arange(20.0), np.arange(20.0)[::-1] + 1
    yield from (significance.paired_t(*values), significance.sign_test(*values))
    rng = np.random.default_rng(1)
    columns = tuple(rng.integers(0, 9, size=(30, 2)).astype(float) for _ in range(2))
    paired = significance.PairedColumns((("m", "rate"),), columns, lambda sums: sums[..., :1] / sums[..., 1:], exact=True)
    yield from (paired, significance.bootstrap(paired, rounds=20), significance.randomisation(paired, rounds=20))


def modelled() -> Iterator[object]:
    """Grammars, models, parsers, and what they find."""
    bank = list(own_treebank("train"))[:40]
    pcfg, model = treegauge.induce(bank), grammar.shipped_model()
    own = treegauge.load("own")
    parsed = own.parse(words=SENTENCE)
    view = own.parser.view(parsing.Sentence(tuple(SENTENCE)))
    yield from (pcfg, pcfg.rules[0], model, grammar.statistics(pcfg), grammar.train(bank), own, own.parser, parsed, parsed.sentence)
    yield from (own.kbest(words=SENTENCE, k=1)[0], own.posteriors(words=SENTENCE)[0], parsed.confidence, view, view.span_labels)
    forest = treegauge.Forest(treegauge.PCFG.parse('S -> S S [.5] | "a" [.5]'), ["a"] * 6)
    yield from (forest, forest.chart_table(), forest.chart_table().entries[0], forest.argmax("labelled-recall"))
    yield from (forest.anchored_rules()[0], forest.frames()[0], forest.links()[0], parsing.OBJECTIVES["viterbi"])
    yield parsing.expected_rates(forest, forest.argmax().tree)
    yield parsing.calibrate([forest] * 3, [forest.argmax().tree] * 3, choose=lambda f: f.argmax().tree)
    yield parsing.Confidence(0.5, 0.9, own.posteriors(words=SENTENCE))
    yield parsing.CountedParts(("labels",))
    rng = np.random.default_rng(1)
    chart = parsing.SpanChart(rng.normal(size=(7, 7, 3)), labels=["", "NP", "VP"], words=SENTENCE[:7])
    yield from (chart, parsing.marginals(rng.normal(size=(7, 7, 3))), parsing.tune([chart], [chart.argmax().tree]))
    latent = train_latent(bank, TrainingSettings(grammars=1, rounds=1, tuning_grammars=0))
    parser = LatentParser(latent)
    yield from (latent, latent.settings, describe(latent), QUICK, parser, parser.view(parsing.Sentence(tuple(SENTENCE))))
    sentences = learning.read_brackets("((a b) (b a))\n(a (a b))\n" * 4)
    yield from (
        sentences,
        learning.learn(sentences, learning.LearningSettings(nonterminals=2, iterations=2)),
        learning.LearningSettings(),
    )
    dense = learning.random_grammar(2, ["a", "b"], seed=1)
    step = next(iter(learning.reestimation_steps(dense, sentences)))
    yield from (dense, step, learning.Iteration(0, 1, 2.5, 0))


def chunked() -> Iterator[object]:
    """Chunks, engines and neural charts."""
    sentences = [
        chunks.ChunkedSentence(("the", "cat", "sat"), ("DT", "NN", "VBD"), (chunks.Chunk("NP", 0, 2), chunks.Chunk("Null", 2, 3)))
    ] * 30
    tagged = chunks.with_gold_tags(sentences)
    models = chunks.train_models(tagged, tagged, ["NP", "Null"])
    evaluation = chunks.evaluate(models, tagged)
    yield from (
        sentences[0],
        sentences[0].chunks[0],
        models,
        evaluation,
        next(iter(evaluation.counts.values())),
        chunks.ChunkScores(),
    )
    yield chunks.SequenceModel(np.ones((6, 2)), 3, ["NP", "Null"])
    yield from (engines.IN_PROCESS, engines.Threads(2), chunks.HmmTagger.train([(s.words, s.tags) for s in sentences]))


def neural() -> Iterator[object]:
    """Charts on tensors."""
    import torch

    from treegauge.neural import DensePCFG, LowRankPCFG, SentCFG, SpanCRF, TreeCRF

    scores = torch.zeros(1, 5, 5, 2)
    root, rules, emissions = torch.zeros(1, 2), torch.zeros(1, 2, 4, 4), torch.zeros(1, 5, 2)
    yield from (SpanCRF(scores), TreeCRF(scores), DensePCFG(root, rules, emissions), SentCFG([emissions, rules, root]))
    yield LowRankPCFG(root, torch.zeros(1, 2, 3), torch.zeros(1, 4, 3), torch.zeros(1, 4, 3), emissions)
