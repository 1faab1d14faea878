"""The encoding of a text told from its bytes.

UTF-16 is told by its byte order mark or its zero bytes, UTF-32 by its mark, UTF-8 by being valid. A text is taken for Windows-1252,
of which Latin-1 is a part, if the letters are those of one language of Western Europe, and no sign such as ``³`` or ``¼``, which
stand for letters in other encodings, is inside a word; a short text in another encoding may look so, too. Anything else must be
named.
"""

from __future__ import annotations

import codecs
import re

from treegauge.io.formats import SINICA_LINE

WINDOWS = "cp1252"
_LEAST_SHARE = 0.97
"""Names from other languages may have the rest of the letters."""
_ALPHABETS = (
    *("àâæçèéêëîïôœùûü", "äöüß", "áéíñóúü", "áâãàçéêíóôõúü", "àèéìíîòóùú", "àçèéíïòóúü", "áéíóúèêëïöüç", "åäöé"),
    *("æøåâèéêòóô", "áæðéíóöúýþ", "äõöü"),
)
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH = re.compile(rb"[\x80-\xff]")
_XML = re.compile(rb"\s*<(\?xml|!DOCTYPE|!--|(corpus|body|s|treebank|alpino_ds|node)[\s>/])")
_INSIDE_WORDS = re.compile("(?<=[^\\W\\d_])[^\\x00-\\x7f\\w’·\\xad–—](?=[^\\W\\d_])|[¹²³¼½¾ªº](?=[^\\W\\d_])")


def utf16(beginning: bytes) -> str:
    """The name of the kind of UTF-16, or of UTF-32, that a text is in; empty if it is neither.

    >>> utf16("(S (N a))".encode("utf-16")), utf16("(S (N a))".encode("utf-16-be")), utf16(b"(S (N a))")
    ('utf-16', 'utf-16-be', '')
    """
    if beginning.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    even, odd = beginning[:4096:2], beginning[1:4096:2]
    if 2 * odd.count(b"\0") > len(odd) and b"\0" not in even:
        return "utf-16-le"
    return "utf-16-be" if 2 * even.count(b"\0") > len(even) and b"\0" not in odd else ""


def is_xml(beginning: bytes) -> bool:
    """Whether a text is XML, which declares its encoding."""
    return _XML.match(beginning.removeprefix(codecs.BOM_UTF8)) is not None


def has_utf8(text: bytes) -> bool:
    """Whether a text that is not UTF-8 is so in a few places only, or where it is put together from files in two encodings.

    >>> has_utf8("Größe".encode() + "Größe".encode("latin1")), has_utf8("Größe".encode("latin1"))
    (True, False)
    """
    return 50 * len(_UTF8.findall(text)) > len(_HIGH.findall(text))


def is_western(text: bytes) -> bool:
    """Whether a text that is not UTF-8 looks like Windows-1252.

    >>> [is_western(word.encode("latin2")) for word in ("Größe", "małżeństwo", "hűvös")]
    [True, False, False]
    """
    if has_utf8(text) or SINICA_LINE.match(text):
        return False
    try:
        decoded = text.decode(WINDOWS)
    except UnicodeDecodeError:
        return False
    letters = [letter for letter in decoded.lower() if letter > "\x7f" and letter.isalpha() and letter not in "ªº"]
    most = max(sum(letter in alphabet for letter in letters) for alphabet in _ALPHABETS)
    return most >= _LEAST_SHARE * len(letters) and _INSIDE_WORDS.search(decoded) is None
