"""EVALB once more, slowly: character by character and loop by loop, as its description reads.

Shares nothing with treegauge, so that the two can be compared. Raises ``Undefined`` where EVALB itself would leave its
arrays or its line; without ``limits`` the arrays are as large as needed.
"""

from __future__ import annotations

BLANKS = b" \t\n\v\f\r"


class Undefined(Exception):
    """EVALB would read or write memory that is not its own."""


class _Exit(Exception):
    """The error limit was passed."""


class Bracket:
    def __init__(self, start, label, opened):
        self.start, self.end, self.label, self.opened, self.closed, self.code = start, -1, label, opened, None, 9


class Word:
    def __init__(self, word, tag):
        self.word, self.tag, self.code = word, tag, 9


class QuoteTerminal:
    def __init__(self, word, tag, index, brackets, stack):
        self.word, self.tag, self.index, self.brackets, self.stack = word, tag, index, brackets, stack


class Tree:
    def __init__(self, text):
        self.text, self.words, self.brackets, self.quotes, self.length = text, [], [], [], 0


def blank(character):
    return character in BLANKS


def stops(character):
    return character in BLANKS or character in b"()"


class Literal:
    """One run of EVALB on bytes; ``stdout``, ``stderr`` and ``code`` hold what it did."""

    def __init__(self, prm, gold, test, *, limits=True):
        self.out, self.err, self.limits = [], [], limits
        self.debug, self.limit, self.cutoff, self.labelled = 0, 10, 40, 1
        self.delete, self.delete_length, self.quote, self.eq_label, self.eq_word = [], [], [], [], []
        for line in (prm or b"").split(b"\n"):
            self.directive(line)
        self.errors = 0
        self.rows = []
        try:
            self.run(lines(gold), lines(test))
            self.code = 0
        except _Exit:
            self.code = 1
        self.stdout, self.stderr = b"".join(self.out), b"".join(self.err)

    # section 2

    def directive(self, line):
        while len(line) > 1 and blank(line[-1]):
            line = line[:-1]
        if line[:1] == b"#" or len(line) < 3:
            return
        at = 0
        while at < len(line) and not blank(line[at]):
            at += 1
        keyword = line[:at]
        if at == len(line):
            raise Undefined
        while blank(line[at]):
            at += 1
        value = line[at:]
        if keyword == b"DEBUG":
            self.debug = int(value)
        elif keyword == b"MAX_ERROR":
            self.limit = int(value)
        elif keyword == b"CUTOFF_LEN":
            self.cutoff = int(value)
        elif keyword == b"LABELED":
            self.labelled = int(value)
        elif keyword == b"DELETE_LABEL":
            self.delete.append(value)
        elif keyword == b"DELETE_LABEL_FOR_LENGTH":
            self.delete_length.append(value)
        elif keyword == b"QUOTE_LABEL":
            self.quote.append(value)
        elif keyword in (b"EQ_LABEL", b"EQ_WORD"):
            if len(value.split()) != 2:
                self.err.append(keyword + b" requires two values\n")
            elif keyword == b"EQ_LABEL":
                self.eq_label.append(value.split())
            else:
                self.eq_word.append(value.split())
        else:
            self.err.append(b"Unknown keyword (" + line + b") in parameter file\n")

    # section 9

    def error(self, text):
        self.err.append(b"%d : %s\n" % (self.line, text))
        self.status = 1
        self.errors += 1
        if self.errors - 1 > self.limit:
            raise _Exit

    # section 3

    def read(self, text):
        tree, stack, at = Tree(text), [], 0
        while at < len(text) and text[at] != 0:
            if blank(text[at]):
                at += 1
            elif text[at : at + 1] == b"(":
                at = self.read_open(tree, stack, at + 1)
            elif text[at : at + 1] == b")":
                if not stack:
                    raise Undefined
                bracket = stack.pop()
                bracket.end, bracket.closed = len(tree.words), at
                at += 1
            else:
                self.error(b"Reading sentence")
        if stack:
            self.error(b"Bracketing is unbalanced (too many open bracket)")
        self.hold(len(tree.words), 200)
        self.hold(len(tree.brackets), 200)
        self.hold(len(tree.quotes), 20)
        self.hold(len(text), 4999)
        return tree

    def hold(self, size, limit):
        if self.limits and size > limit:
            raise Undefined

    def read_open(self, tree, stack, at):
        text = tree.text
        start = at
        while at < len(text) and not stops(text[at]):
            at += 1
        if at == len(text):
            raise Undefined
        self.hold(at - start, 29)
        label = until_nul(text[start:at])
        ahead = at
        if blank(text[at]):
            while ahead < len(text) and blank(text[ahead]):
                ahead += 1
            start = ahead
            while ahead < len(text) and not stops(text[ahead]):
                ahead += 1
            if ahead == len(text):
                raise Undefined
            self.hold(ahead - start, 99)
            word = until_nul(text[start:ahead])
            if self.debug > 1:
                self.out.append(b"label=%s, word=%s, wid=%d\n" % (label, word, len(tree.words)))
            if text[ahead : ahead + 1] == b")":
                self.read_terminal(tree, stack, label, word)
                return ahead + 1
            if text[ahead : ahead + 1] != b"(":
                self.error(b"More than two elements in a bracket")
        tree.brackets.append(Bracket(len(tree.words), label, at))
        stack.append(tree.brackets[-1])
        return at

    def read_terminal(self, tree, stack, tag, word):
        if tag not in self.delete_length:
            tree.length += 1
        if tag in self.quote and word in (b"'", b'"', b"/"):
            tree.quotes.append(QuoteTerminal(word, tag, len(tree.words), len(tree.brackets), list(stack)))
        if tag not in self.delete:
            tree.words.append(Word(word, tag))

    # section 5

    def repair(self, gold, test):
        if self.debug > 1:
            for i in range(max(len(gold.quotes), len(test.quotes))):
                for quote in gold.quotes[i : i + 1] + test.quotes[i : i + 1]:
                    self.out.append(b"%d: %s - %s\n" % (quote.index, quote.tag, quote.word))
        for i, x in enumerate(test.quotes):
            ind = x.index
            for j, y in enumerate(gold.quotes):
                if y.index == ind and x.tag != y.tag:
                    if y.tag in self.delete and x.tag not in self.delete:
                        self.put_back(gold, y)
                        for later in gold.quotes[j:]:
                            later.index += 1
                    elif x.tag in self.delete and y.tag not in self.delete:
                        self.put_back(test, x)
                        for later in test.quotes[i:]:
                            later.index += 1

    def put_back(self, tree, quote):
        tree.words.insert(quote.index, Word(quote.word, quote.tag))
        self.hold(len(tree.words), 200)
        if self.debug > 1:
            self.out.append(b"bra=%d, ind=%d\n" % (quote.brackets, quote.index))
        for number, bracket in enumerate(tree.brackets):
            if self.debug > 1:
                self.out.append(b"bracket[%d]={%d,%d}\n" % (number, bracket.start, bracket.end))
            if number >= quote.brackets:
                bracket.start += 1
                bracket.end += 1
        if self.debug > 1:
            self.out.append(b"endslen=%d\n" % len(quote.stack))
        for bracket in quote.stack:
            bracket.end += 1

    # sections 4, 6, 7, 8

    def same(self, pairs, one, other):
        return one == other or [one, other] in pairs or [other, one] in pairs

    def decide(self, gold, test):
        if self.debug > 1:
            self.out.append(b"\n")
        if len(test.words) == 0:
            self.status = 2
            return (0, 0, 0, 0, 0, 0)
        if len(gold.words) != len(test.words):
            self.repair(gold, test)
            if len(gold.words) != len(test.words):
                self.error(b"Length unmatch (%d|%d)" % (len(gold.words), len(test.words)))
                return (0, 0, 0, 0, 0, 0)
        for ours, theirs in zip(gold.words, test.words, strict=True):
            if not self.same(self.eq_word, ours.word, theirs.word):
                self.error(b"Words unmatch (%s|%s)" % (ours.word, theirs.word))
                return (0, 0, 0, 0, 0, 0)
        for bracket in gold.brackets + test.brackets:
            self.prepare(bracket)
        matched = self.match(gold, test)
        crossing = self.cross(gold, test)
        tags = 0
        for ours, theirs in zip(gold.words, test.words, strict=True):
            ours.code = theirs.code = 1 if self.same(self.eq_label, ours.tag, theirs.tag) else 0
            tags += ours.code
        counted = [sum(bracket.code != 5 for bracket in tree.brackets) for tree in (gold, test)]
        return (matched, *counted, crossing, len(gold.words), tags)

    def prepare(self, bracket):
        bracket.code = 0
        if bracket.start == bracket.end:
            bracket.code = 5
            return
        for at in range(len(bracket.label)):
            if bracket.label[at] in b"-=":
                bracket.label = bracket.label[:at]
                break
        for deleted in self.delete:
            if self.same(self.eq_label, bracket.label, deleted):
                bracket.code = 5

    def match(self, gold, test):
        matched, seen = 0, []
        for ours in gold.brackets:
            found = False
            for theirs in test.brackets:
                if self.debug > 1:
                    self.out.append(b"1.res=%d, 2.res=%d, " % (ours.code, theirs.code))
                    self.out.append(b"1.start=%d, 2.start=%d, " % (ours.start, theirs.start))
                    self.out.append(b"1.end=%d, 2.end=%d\n" % (ours.end, theirs.end))
                if ours.code == 5 or theirs.code != 0 or (ours.start, ours.end) != (theirs.start, theirs.end):
                    continue
                found = True
                if self.labelled == 0 or self.same(self.eq_label, ours.label, theirs.label):
                    ours.code = theirs.code = 1
                    matched += 1
                    break
                self.show(b"LABEL", gold, ours)
                seen.append(theirs)
            if not found and ours.code != 5:
                self.show(b"BRACKET", gold, ours)
        for theirs in test.brackets:
            if theirs.code == 0 and theirs not in seen:
                self.show(b"EXTRA", test, theirs)
        return matched

    def cross(self, gold, test):
        crossing, last = 0, None
        for theirs in test.brackets:
            for ours in gold.brackets:
                if ours.code == 5 or theirs.code == 5:
                    continue
                a, b, c, d = theirs.start, theirs.end, ours.start, ours.end
                if (c < a and a < d and d < b) or (a < c and c < b and b < d):
                    if ours is not last:
                        self.show(b"CROSSING", gold, ours)
                        last = ours
                    crossing += 1
                    break
        return crossing

    def show(self, kind, tree, bracket):
        if self.debug > 1:
            if bracket.closed is None or 0 in tree.text:
                raise Undefined
            self.hold(bracket.closed - bracket.opened, 999)
            text = tree.text[bracket.opened : bracket.closed]
            self.out.append(b"  %s[%d-%d]: %s\n" % (kind, bracket.start, bracket.end - 1, text))

    # section 10

    def run(self, gold_lines, test_lines):
        self.out.append(b"  Sent.                        Matched  Bracket   Cross        Correct Tag\n")
        self.out.append(b" ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n")
        self.out.append(b"=" * 76 + b"\n")
        self.line = 0
        for number, text in enumerate(gold_lines):
            self.line = number + 1
            self.status = 0
            gold = self.read(text)
            if number >= len(test_lines):
                self.error(b"Number of lines unmatch (too many lines in gold file)")
                break
            test = self.read(test_lines[number])
            counts = self.decide(gold, test)
            self.row(gold.length, counts)
            if self.debug >= 1:
                self.dump(gold, test)
        if len(test_lines) > len(gold_lines):
            self.line = len(gold_lines) + 1
            self.error(b"Number of lines unmatch (too many lines in test file)")
        self.summary()

    def row(self, length, counts):
        m, g, t, x, w, c = counts
        self.rows.append((length, self.status, *counts))
        self.out.append(b"%4d  %3d    %d  " % (self.line, length, self.status))
        self.out.append(b"%6.2f %6.2f   " % (100.0 * m / g if g else 0.0, 100.0 * m / t if t else 0.0))
        self.out.append(b"%3d    %3d  %3d    %3d   " % (m, g, t, x))
        self.out.append(b"%4d  %4d   %6.2f\n" % (w, c, 100.0 * c / w if w else 0.0))

    def dump(self, gold, test):
        sizes = (len(gold.words), len(gold.brackets), len(test.words), len(test.brackets))
        self.out.append(b"-<1>---(wn1=%3d, bn1=%3d)-           -<2>---(wn2=%3d, bn2=%3d)-\n" % sizes)
        for i in range(max(len(gold.words), len(test.words))):
            if i < len(gold.words) and gold.words[i].word:
                w = gold.words[i]
                self.out.append(b"%3d : %d : %-6s  %-16s      " % (i, w.code, w.tag, w.word))
            else:
                self.out.append(b" " * 40)
            if i < len(test.words) and test.words[i].word:
                w = test.words[i]
                self.out.append(b"%3d : %d : %-6s  %-16s" % (i, w.code, w.tag, w.word))
            self.out.append(b"\n")
        self.out.append(b"\n")
        for i in range(max(len(gold.brackets), len(test.brackets))):
            if i < len(gold.brackets):
                b = gold.brackets[i]
                self.out.append(b"%3d : %d : %3d  %3d  %-6s      " % (i, b.code, b.start, b.end, b.label))
            else:
                self.out.append(b" " * 32)
            if i < len(test.brackets):
                b = test.brackets[i]
                self.out.append(b"%3d : %d : %3d  %3d  %-6s" % (i, b.code, b.start, b.end, b.label))
            self.out.append(b"\n")
        self.out.append(b"\n========\n")

    def summary(self):
        self.out.append(b"=" * 76 + b"\n")
        _, m, g, t, x, w, c = sums(self.rows)
        if g > 0 and t > 0:
            self.out.append(b" " * 16 + b"%6.2f %6.2f %6d %5d %5d  %5d" % (100.0 * m / g, 100.0 * m / t, m, g, t, x))
        self.out.append(b"  %5d %5d   %6.2f\n" % (w, c, 100.0 * c / w if w else 0.0))
        self.out.append(b"=== Summary ===\n\n-- All --\n")
        self.block(self.rows)
        self.out.append(b"\n-- len<=%d --\n" % self.cutoff)
        self.block([row for row in self.rows if row[0] <= self.cutoff])

    def block(self, rows):
        n, m, g, t, x, w, c = sums(rows)
        valid = [row for row in rows if row[1] == 0]
        recall, precision = 100.0 * m / g if g else 0.0, 100.0 * m / t if t else 0.0
        f = b"  -nan"
        if precision + recall > 0:
            f = b"%6.2f" % (2 * precision * recall / (precision + recall))
        complete = sum(row[2] == row[3] == row[4] for row in valid)
        none, few = sum(row[5] == 0 for row in valid), sum(row[5] <= 2 for row in valid)
        self.out.append(b"Number of sentence        = %6d\n" % len(rows))
        self.out.append(b"Number of Error sentence  = %6d\n" % sum(row[1] == 1 for row in rows))
        self.out.append(b"Number of Skip  sentence  = %6d\n" % sum(row[1] == 2 for row in rows))
        self.out.append(b"Number of Valid sentence  = %6d\n" % n)
        self.out.append(b"Bracketing Recall         = %6.2f\n" % recall)
        self.out.append(b"Bracketing Precision      = %6.2f\n" % precision)
        self.out.append(b"Bracketing FMeasure       = %s\n" % f)
        self.out.append(b"Complete match            = %6.2f\n" % (100.0 * complete / n if n else 0.0))
        self.out.append(b"Average crossing          = %6.2f\n" % (1.0 * x / n if n else 0.0))
        self.out.append(b"No crossing               = %6.2f\n" % (100.0 * none / n if n else 0.0))
        self.out.append(b"2 or less crossing        = %6.2f\n" % (100.0 * few / n if n else 0.0))
        self.out.append(b"Tagging accuracy          = %6.2f\n" % (100.0 * c / w if w else 0.0))


def sums(rows):
    """Number of valid rows, and over them the sums of matched, gold, test, crossing, words, tags."""
    valid = [row for row in rows if row[1] == 0]
    return (len(valid), *(sum(row[i] for row in valid) for i in range(2, 8)))


def lines(data):
    """The lines of a file, each with its newline if it has one."""
    *complete, rest = data.split(b"\n")
    return [text + b"\n" for text in complete] + ([rest] if rest else [])


def until_nul(text):
    return text.split(b"\0")[0]
