"""The page on clusters: all its lines run, and give what they say."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pages import Done, follow, run

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[2] / "docs/howto/cluster.md"

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
    dask = f'#!/bin/sh\nexec {sys.executable} -m dask "$@"\n'
    for name, text in {"sbatch": SBATCH, "srun": SRUN, "dask": dask}.items():
        (tmp_path / "bin" / name).write_text(text, "utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    found = follow("docs/howto/cluster.md", tmp_path, extras=True)
    for part in ("--engine local:2", "--engine dask:2", "dask:scheduler.json"):
        assert printed(found, part) == plain, part
    trees = run("treegauge parse own sentences.txt", tmp_path).output
    assert trees.count("\n") == 103
    assert gzip.decompress((tmp_path / "parsed.mrg.gz").read_bytes()).decode("utf-8") == trees
    for name in ("joined.mrg", "array.mrg"):
        assert (tmp_path / name).read_text("utf-8") == trees


JOBQUEUE = """
from distributed import LocalCluster

class SLURMCluster(LocalCluster):
    def __init__(self, cores, processes, memory, walltime, queue):
        assert cores == processes
        super().__init__(n_workers=0, threads_per_worker=cores // processes, dashboard_address=":0", silence_logs=50)

    def scale(self, jobs):
        super().scale(2)
"""
OPERATOR = """
from distributed import LocalCluster

def make_cluster_spec(name, image, n_workers):
    return {"spec": {"worker": {"replicas": n_workers, "spec": {"containers": [{"args": ["dask-worker"], "image": image}]}}}}

class KubeCluster(LocalCluster):
    def __init__(self, custom_cluster_spec):
        arguments = custom_cluster_spec["spec"]["worker"]["spec"]["containers"][0]["args"]
        threads = int(arguments[arguments.index("--nthreads") + 1])
        super().__init__(n_workers=2, threads_per_worker=threads, dashboard_address=":0", silence_logs=50)
"""


@pytest.mark.parametrize(
    ("module", "stand_in"), [("dask_jobqueue", JOBQUEUE), ("dask_kubernetes", OPERATOR)], ids=["jobqueue", "kubernetes"]
)
def test_clusters_of_other_libraries_with_workers_on_this_machine(module: str, stand_in: str, tmp_path: Path) -> None:
    """The scripts of the page, in which the library's cluster is one of this machine."""
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (script,) = (block for block in blocks if f"from {module}" in block)
    (tmp_path / module).mkdir()
    (tmp_path / module / ("__init__.py" if module == "dask_jobqueue" else "operator.py")).write_text(stand_in, "utf-8")
    guarded = script.replace("\n", "\n    ")
    (tmp_path / "cluster.py").write_text(f'if __name__ == "__main__":\n    {guarded}', "utf-8")
    plain = run("treegauge examples >/dev/null && treegauge score gold.mrg A.mrg", tmp_path).output
    command = [sys.executable, "-u", "cluster.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        address = "scheduler.json" if module == "dask_jobqueue" else running.stdout.readline().strip()
        until = time.monotonic() + 60
        while module == "dask_jobqueue" and not (tmp_path / address).exists() and time.monotonic() < until:
            time.sleep(0.2)
        there = run(f"treegauge score gold.mrg A.mrg --engine dask:{address}", tmp_path).output
        running.communicate("\n", timeout=60)
    assert there == plain
