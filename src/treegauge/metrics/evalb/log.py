"""What reading and comparing a sentence has to say, in order, kept as values until somebody prints it."""

from __future__ import annotations

__all__ = ["Log"]


class Log:
    r"""Error messages, and between them the pieces of the DEBUG 2 trace; apart from these, remarks of our own.

    The error limit can end a run between any two messages, so the trace is kept in pieces: piece *i* stands before
    message *i*, and one more after the last.

    >>> log = Log(tracing=True)
    >>> log.trace(b"a\n"); log.message(b"Reading sentence"); log.trace(b"b\n")
    >>> log.messages, log.pieces()
    ((b'Reading sentence',), (b'a\n', b'b\n'))
    """

    def __init__(self, *, tracing: bool = False) -> None:
        self.tracing = tracing
        self.remarks: list[bytes] = []
        self._messages: list[bytes] = []
        self._pieces: list[list[bytes]] = [[]]

    def message(self, text: bytes) -> None:
        self._messages.append(text)
        self._pieces.append([])

    def trace(self, text: bytes) -> None:
        self._pieces[-1].append(text)

    @property
    def messages(self) -> tuple[bytes, ...]:
        return tuple(self._messages)

    def pieces(self) -> tuple[bytes, ...]:
        """The trace, one piece more than there are messages."""
        return tuple(b"".join(piece) for piece in self._pieces)
