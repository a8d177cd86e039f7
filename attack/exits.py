"""The interpreter exits in peace, with code 0 and no word, while a daemon thread is at work."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from attack.library import draw_setting
from attack.table import Finding

_PATIENCE = 30.0
# Seconds from the last line of the script to the end of the process.
_LONGEST = 5.0

_SCRIPT = """
import threading, time, warnings
import numpy as np
import hinge
from hinge import *
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal(({m}, 20))
y = (X[:, 0] + rng.standard_normal({m}) > 0).astype(int)
{prepare}
begun = threading.Event()
def work():
    begun.set()
    while True:
        {work}
for _ in range({threads}):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep({delay})
print(time.time(), flush=True)
"""

# What there is before the thread begins, and what the thread does again and again.
_WORK = {
    "solve": ("", "solve(X, y, tol=1e-12, **{options})"),
    "fit": ("", "LinearSVC(tol=1e-12, n_jobs={jobs}).fit(X, (y + np.arange(len(y))) % 3)"),
    "predict": ("model = LinearSVC(max_iter=1).fit(X, y)", "model.predict(X)"),
    "stream": ("model = OnlineSVC(alpha=1e-3, batch_size=7)", "model.partial_fit(X, y, classes=[0, 1])"),
    "stream predicts": ("model = OnlineSVC().fit(X, y)", "model.predict(X)"),
    "certify": ("model = OnlineSVC(alpha=1e-3).fit(X, y)", "model.certify(X, y)"),
    "verify": ("model = LinearSVC(max_iter=1, store_dual=True).fit(X, y)", "verify(model, X, y)"),
}


def case(rng: np.random.Generator) -> Finding:
    """One process that ends while its threads work."""
    kind = str(rng.choice(list(_WORK)))
    prepare, work = _WORK[kind]
    setting = draw_setting(rng)
    what = f"{kind}, {setting}" if kind == "solve" else kind
    script = _SCRIPT.format(
        m=int(rng.choice([100, 20_000, 200_000])),
        prepare=prepare,
        work=work.format(options=setting.options(), jobs=int(rng.choice([1, 2]))),
        threads=int(rng.choice([1, 2])) if not kind.startswith("stream") else 1,
        delay=float(rng.uniform(0, 0.3)),
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=_PATIENCE, check=False
    )
    ended = time.time()
    if done.returncode != 0 or done.stderr:
        return Finding(failures=[f"{what}: exit code {done.returncode}, {done.stderr.strip()[-300:]!r}"])
    seconds = ended - float(done.stdout)
    late = [f"{what}: the exit took {seconds:.1f} s"] if seconds > _LONGEST else []
    return Finding(failures=late, times=[seconds], notes=[kind])
