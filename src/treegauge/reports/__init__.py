"""What people show and read: tables, plots, printouts."""

from __future__ import annotations
