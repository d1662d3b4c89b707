#!/usr/bin/env python3
"""What `sbatch`, `srun`, `sacct` and `scancel` do, on this machine: enough for submitit's arrays.

A folder named by SLURM_STAND_IN holds a file per task with its state. A file `fails` there has the first task of the
next array end without a trace, as one whose node is lost.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(os.environ["SLURM_STAND_IN"])


def sbatch(file: str) -> None:
    text = Path(file).read_text()
    number = 100 + len(list(HERE.glob("job-*")))
    (HERE / f"job-{number}").write_text(text)
    array = re.search(r"--array=0-(\d+)", text)
    fails = HERE / "fails"
    for n in range(int(array[1]) + 1) if array else [None]:
        name = f"{number}" if n is None else f"{number}_{n}"
        if fails.exists():
            fails.unlink()
            (HERE / f"task-{name}").write_text("NODE_FAIL")
            continue
        (HERE / f"task-{name}").write_text("RUNNING")
        about = {"SLURM_JOB_ID": str(number), "STAND_IN_TASK": name}
        if n is not None:
            about |= {"SLURM_ARRAY_JOB_ID": str(number), "SLURM_ARRAY_TASK_ID": str(n)}
        log = (HERE / f"log-{name}").open("w")
        subprocess.Popen(["bash", file], env=os.environ | about, stdout=log, stderr=log, start_new_session=True)
    print(f"Submitted batch job {number}")


def srun(*argv: str) -> None:
    words = list(argv)
    while words and words[0].startswith("--"):
        words = words[1 if words[0] == "--unbuffered" else 2 :]
    code = subprocess.run(words).returncode
    (HERE / f"task-{os.environ['STAND_IN_TASK']}").write_text("FAILED" if code else "COMPLETED")


def sacct(*_: str) -> None:
    print("JobID|State|NodeList")
    for task in sorted(HERE.glob("task-*")):
        print(f"{task.name.removeprefix('task-')}|{task.read_text()}|here")


def scancel(*_: str) -> None:
    pass


if __name__ == "__main__":
    {"sbatch": sbatch, "srun": srun, "sacct": sacct, "scancel": scancel}[Path(sys.argv[0]).name](*sys.argv[1:])
