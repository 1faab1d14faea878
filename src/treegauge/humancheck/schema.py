"""The tables of the store."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Integer, MetaData, String, Table, Text

__all__ = ["JUDGEMENT", "METADATA", "SENTENCE", "SETTING"]

METADATA = MetaData()

SENTENCE = Table(
    "sentence",
    METADATA,
    Column("hash", String(64), primary_key=True),
    Column("words", Text, nullable=False),  # a JSON list in ASCII, which holds any string
)

JUDGEMENT = Table(
    "judgement",
    METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("sentence", String(64), ForeignKey("sentence.hash"), nullable=False),
    Column("start_word", Integer, nullable=False),
    Column("end_word", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("gold", String(64), nullable=False),
    Column("kind", String(2), nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("annotator", Text, nullable=False),
    Column("role", String(16), nullable=False),
    Column("note", Text, nullable=False),
    Column("correction", Boolean, nullable=False),
    Column("undoes", String(64), nullable=False),
    Column("blind", Boolean, nullable=False),
    Column("seconds", Float, nullable=True),
    Column("at", String(32), nullable=False),
    sqlite_autoincrement=True,
)

SETTING = Table(
    "setting",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
