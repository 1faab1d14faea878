"""The faults that axe-core finds on a page."""

from __future__ import annotations

from typing import Any

RUN = """() => axe.run({ rules: { "target-size": { enabled: true } } })
  .then((found) => found.violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`))"""


def axe_faults(page: Any, script: str) -> list[str]:
    """A line for each rule that a page breaks, with the first element that does."""
    page.evaluate(script)
    return page.evaluate(RUN)
