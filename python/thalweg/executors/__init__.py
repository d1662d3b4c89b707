"""Runs on other people's executors: processes, Dask, Slurm, whatever has `submit`.

    thalweg.sweep("study.toml", {"seed": range(40)}, out="runs/s", executor=ProcessPoolExecutor(4))
    thalweg.sweep("study.toml", {"seed": range(40)}, out="runs/s", executor="tcp://scheduler:8786")

The contract is that of `concurrent.futures`: `executor.submit(function, argument)` answers with a future that has
`done()`, `result()` and `cancel()`. Pools of threads and processes, Dask's `Client` and `Client.get_executor()`,
submitit's executors, Ray's, loky's and mpi4py's have it. Names stand for those that thalweg makes by itself: "local"
(threads of this process, as without any), "dask", "tcp://HOST:PORT", "slurm", "slurm:PARTITION".
"""

from thalweg.executors.driving import perform_on
from thalweg.executors.named import NAMES, Named, named, opened

__all__ = ["NAMES", "Named", "named", "opened", "perform_on"]
