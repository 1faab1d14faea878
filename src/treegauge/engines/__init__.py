"""Where work runs: in this process, in worker processes, on a Dask cluster, or one part at a time with no scheduler at all.

An engine maps a function over shards and gives the results in the shards' order. It knows nothing of trees or parsers; a shard is a
small value that says what to do, a result is small and adds to others. As shards and the order of addition do not depend on the
engine, neither does a single bit of what comes out.
"""

from treegauge.engines.base import HERE, Engine, Here, Shard
from treegauge.engines.choice import ENGINE_NAMES, open_engine

__all__ = ["ENGINE_NAMES", "HERE", "Engine", "Here", "Shard", "open_engine"]
