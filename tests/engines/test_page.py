"""The page on clusters: all its lines run, and give what they say."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pages import Done, follow, run

pytestmark = pytest.mark.slow

SBATCH = """#!/bin/bash
# The tasks of an array one after the other, as Slurm would run them at once; prints the number of the job.
while [ $# -gt 0 ]; do
  case $1 in --array=*) tasks=${1#--array=} ;; --wrap) wrapped=$2; shift ;; esac
  shift
done
tasks=${tasks:-1-1}
for task in $(seq "${tasks%-*}" "${tasks#*-}"); do SLURM_ARRAY_TASK_ID=$task bash -c "$wrapped" >> slurm-17.out || exit 1; done
echo 17
"""
SRUN = '#!/bin/sh\nexec "$@"\n'


def printed(found: dict[str, Done], part: str) -> str:
    """What the first command with this part in it printed."""
    return next(done.output for line, done in found.items() if part in line)


@pytest.mark.slow
def test_the_page_from_the_first_line_to_the_last(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    plain = run("treegauge examples >/dev/null && treegauge score gold.mrg A.mrg", tmp_path).output
    for name, text in {"sbatch": SBATCH, "srun": SRUN}.items():
        (tmp_path / "bin" / name).write_text(text, "utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    found = follow("docs/howto/cluster.md", tmp_path, extras=True)
    for part in ("--engine local:2", "--engine dask:2", "merge score.1.part", "dask:scheduler.json"):
        assert printed(found, part) == plain, part
    trees = run("treegauge parse own sentences.txt", tmp_path).output
    assert trees.count("\n") == 103
    assert (tmp_path / "parsed.mrg").read_text("utf-8") == trees
    for name in ("parsed.mrg.gz", "array.mrg.gz"):
        assert gzip.decompress((tmp_path / name).read_bytes()).decode("utf-8") == trees
