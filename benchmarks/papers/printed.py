"""What the papers print, as numbers. A dash is a cell that the paper leaves empty, or that our copy does not show.

Panagiotakopoulos & Tsampouka: "The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited".
Shalev-Shwartz, Singer & Srebro: "Pegasos: Primal Estimated sub-GrAdient SOlver for SVM", ICML 2007.
Rupnik: "Stochastic subgradient approach for solving linear support vector machines: an overview".
Lee & Wright: "ASSET: Approximate Stochastic Subgradient Estimation Training for Support Vector Machines", 2011.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """A cell: what the algorithm was given (epsilon), the passes it took and its seconds, as far as printed."""

    epsilon: float | None = None
    passes: int | None = None
    seconds: float | None = None


#: data set -> solver -> figures
Table = dict[str, dict[str, Figures]]

_SGD_LAYOUT = (("pegasos", "Ts"), ("sgd-r", "Ts"), ("sgd-s", "eTs"), ("sgd-m", "eTs"))
_LINEAR_LAYOUT = (("cutting-plane", "es"), ("ocas", "s"), ("dcd", "es"), ("mpu", "es"))
_SINGLE_LAYOUT = (("svmsgd", "Ts"), ("sgd-qn", "Ts"), ("sgd-m", "eTs"), ("mpu", "es"))


def parse(text: str, layout: tuple[tuple[str, str], ...]) -> Table:
    """A table of the SGD paper: a row per data set; per solver epsilon (e), passes (T) and seconds (s), as `layout` has them."""
    width = sum(len(fields) for _, fields in layout)
    table: Table = {}
    for line in text.strip().splitlines():
        name, *cells = line.split()
        if len(cells) != width:
            raise ValueError(f"{name} has {len(cells)} figures, not {width}: {line!r}")
        values = iter(None if cell == "-" else float(cell) for cell in cells)
        table[name] = {}
        for solver, fields in layout:
            found = dict.fromkeys("eTs") | {field: next(values) for field in fields}
            passes = None if found["T"] is None else int(found["T"])
            table[name][solver] = Figures(found["e"], passes, found["s"])
    return table


#: Table 1: passes, primal and dual of SGD-s at a relative gap of 1e-5, C = 0.1, on the data sets at hand
SGD_1: dict[str, tuple[int, float, float]] = {
    "Adult": (208174, 1149.904, 1149.893),
    "Web": (16849, 755.1139, 755.1064),
    "Covertype": (712648, 36427.52, 36427.16),
}

# Tables 2, 4, 6: Pegasos t_max/m, s; SGD-r t_max/m, s; SGD-s epsilon, T, s; SGD-m epsilon, T, s
SGD_2 = parse(
    """
    Adult     181 2.4   116 0.52  0.105 111 0.52  0.33  50 0.23
    Web        53 0.67   46 0.31  0.054  26 0.19  0.1   14 0.11
    Physics     2 0.11    6 0.09  2.1     1 0.02  0.14   3 0.05
    Realsim    66 2.8    70 2.0   0.046  20 0.56  0.061 16 0.45
    News20     89 9.4    88 7.0   0.023  39 3.1   0.029 25 2.1
    Webspam     8 2.9     9 2.0   0.068  14 2.9   0.21   5 1.2
    Covertype   - -      62 10.6  0.264  65 8.2   1.12  18 2.4
    C11        41 28.8   39 20.8  0.05   16 7.7   0.136  8 4.1
    CCAT       37 29.0   36 19.5  0.055  16 7.8   0.163  7 4.0
    """,
    _SGD_LAYOUT,
)
SGD_4 = parse(
    """
    Adult       - -     1146 5.1   0.098  1172 5.4  0.35  455 2.2
    Web       338 4.3    330 2.3   0.049   220 1.5  0.105  99 0.70
    Physics    12 0.66    51 0.75  0.203    17 0.27 0.223  19 0.33
    Realsim   746 27.7   738 20.7  0.0162  487 12.7 0.027 261 6.9
    News20    796 72.0   797 58.3  0.0104  719 52.4 0.012 279 21.0
    Webspam     - -       64 14.1  0.125    62 12.1 0.4    26 5.6
    Covertype   - -      472 80.3  0.343   462 56.8 0.77  269 34.4
    C11       446 308.2  441 234.2 0.0415  178 81.1 0.085 116 53.2
    CCAT        - -      387 207.9 0.0471  170 78.0 0.112  98 46.2
    """,
    _SGD_LAYOUT,
)
SGD_6 = parse(
    """
    Adult     7 0.09  12 0.05  0.07 10 0.05  0.15 6 0.03
    Web       4 0.06   4 0.03  0.06  2 0.02  0.06 2 0.02
    Physics   1 0.06   1 0.02  0.11  1 0.02  0.06 1 0.02
    Realsim   3 0.19   3 0.08  0.09  1 0.06  0.14 1 0.06
    News20    4 0.66   3 0.31  0.08  1 0.19  0.12 1 0.20
    Webspam   1 0.39   2 0.45  0.4   1 0.42  0.18 1 0.42
    Covertype 5 2.4    4 0.69  0.25  4 0.59  0.27 5 0.75
    C11       2 1.4    3 1.6   0.03  2 1.4   0.1  1 0.95
    CCAT      2 1.7    2 1.1   0.12  1 0.95  0.12 1 0.98
    """,
    _SGD_LAYOUT,
)

# Tables 3, 5, 7: SVM-perf epsilon, s; OCAS s; DCD epsilon, s; MPU epsilon, s
SGD_3 = parse(
    """
    Adult     0.7  1.3   0.06  2.8 0.14  0.02 0.09
    Web       0.2  0.27  0.27  6   0.06  0.01 0.03
    Physics   1.0  0.30  0.02  23  0.06  0.06 0.06
    Realsim   0.08 0.75  0.59  0.7 0.20  0.06 0.22
    News20    0.14 12.5  6.0   0.4 0.64  0.03 1.5
    Webspam   0.5  7.3   4.2   2.5 1.4   0.1  0.95
    Covertype 4.2  45.6  3.3   6.5 9.1   0.1  5.8
    C11       0.09 12.7  8.9   1.4 3.5   0.09 2.4
    CCAT      0.25 19.1  12.9  1.6 3.6   0.1  3.1
    """,
    _LINEAR_LAYOUT,
)
SGD_5 = parse(
    """
    Adult     0.6   37.0   0.30  2.6  1.1   0.04 0.59
    Web       0.23  1.2    0.50  8    0.17  0.02 0.06
    Physics   1.3   2.8    0.09  23   0.30  0.05 0.20
    Realsim   0.031 4.2    2.4   0.25 0.45  0.02 0.39
    News20    0.019 146.2  40.7  0.2  1.5   0.02 2.1
    Webspam   0.36  36.6   6.8   2.2  5.2   0.2  2.5
    Covertype 2.1   51.8   15.8  6.1  90.8  0.08 36.3
    C11       0.079 38.6   25.0  0.65 9.1   0.02 5.5
    CCAT      0.14  71.1   35.2  0.85 11.7  0.02 7.8
    """,
    _LINEAR_LAYOUT,
)
SGD_7 = parse(
    """
    Adult     1.1  0.11  0.05  3   0.02  0.01 0.03
    Web       0.3  0.08  0.09  4   0.03  0.01 0.02
    Physics   1.1  0.08  0.02  12  0.03  0.02 0.02
    Realsim   0.7  0.23  0.19  0.7 0.14  0.2  0.14
    News20    0.9  1.3   0.72  3   0.23  0.2  0.55
    Webspam   1.1  2.8   2.3   1   1.1   0.2  0.69
    Covertype 2.9  53.2  1.5   6   1.2   0.3  1.3
    C11       0.11 4.6   2.9   4   1.4   0.1  1.4
    CCAT      0.25 7.1   5.7   1   2.6   0.1  1.6
    """,
    _LINEAR_LAYOUT,
)

# Table 8, single precision: SvmSgd T, s; SGD-QN T, s; SGD-m epsilon, T, s; MPU epsilon, s
SGD_8 = parse(
    """
    Adult     261 0.59  39 0.06  0.33  50 0.11  0.02 0.06
    Web        49 0.16  39 0.11  0.1   14 0.05  0.01 0.03
    Physics     2 0.03   1 0.02  0.14   3 0.03  0.06 0.03
    Realsim    29 0.41  27 0.37  0.061 16 0.33  0.06 0.16
    News20    199 9.3    - -     0.029 25 1.7   0.03 1.2
    Webspam    10 0.84   6 0.58  0.21   5 0.84  0.1  0.69
    Covertype 573 28.6  14 0.65  0.57  42 4.4   0.1  5.6
    C11        23 5.0   21 4.7   0.136  8 3.0   0.09 1.9
    CCAT       23 5.2   23 5.7   0.163  7 2.9   0.1  2.4
    """,
    _SINGLE_LAYOUT,
)

#: By the names of the exhibits.
SGD = {f"sgd-table{n}": table for n, table in enumerate((SGD_2, SGD_3, SGD_4, SGD_5, SGD_6, SGD_7, SGD_8), 2)}

#: Table 1 of Pegasos: CPU seconds to an objective (lambda P) within 0.001 of SVM-perf's. SVM-perf on CCAT is lost in our copy.
PEGASOS_1: dict[str, dict[str, float | None]] = {
    "CCAT": {"pegasos": 2.0, "cutting-plane": None, "svm-light": 20_075.0},
    "Covertype": {"pegasos": 6.0, "cutting-plane": 85.0, "svm-light": 25_514.0},
    "astro-ph": {"pegasos": 2.0, "cutting-plane": 5.0, "svm-light": 80.0},
}
#: lambda of its data sets
PEGASOS_LAMBDA = {"CCAT": 1e-4, "astro-ph": 2e-4, "Covertype": 1e-6}

#: The overview on CCAT, k = 8000, lambda = 1e-4: steps -> relative distance from the optimum
OVERVIEW_MILESTONES = {200: 0.003, 560: 0.001}
#: Test error after 50 steps, and of SVM-light
OVERVIEW_ERRORS = (0.058, 0.056)


@dataclass(frozen=True)
class Kernelised:
    """A data set of the ASSET paper: C = 1/(lambda m), gamma = 1/(2 sigma^2), s, and Table 2 at that s.

    `errors` and `seconds` are by program: percent of the test rows, and CPU seconds of training.
    """

    C: float
    gamma: float
    s: int
    errors: dict[str, float]
    seconds: dict[str, float]


_ASSET_PROGRAMS = ("asset", "asset-star", "cutting-plane", "lasvm", "SVC")


def _kernelised(C: float, gamma: float, s: int, errors: str, seconds: str) -> Kernelised:
    named = (dict(zip(_ASSET_PROGRAMS, map(float, text.split()), strict=True)) for text in (errors, seconds))
    return Kernelised(C, gamma, s, *named)


#: Tables 1 and 2 of ASSET. "SVC" is SVM-light there, "cutting-plane" is CPNY; CPSP is left out.
ASSET_2 = {
    "Adult": _kernelised(1000.0, 0.001, 512, "15.06 15.07 15.13 18.02 15.13", "22.5 23.9 29520 1011.4 856.8"),
    "MNIST": _kernelised(100.0, 0.01, 1024, "2.66 2.67 2.69 1.40 1.24", "274.9 275.4 515.4 587.5 1322.6"),
    "ijcnn1": _kernelised(100.0, 1.0, 1024, "0.79 0.79 0.80 0.76 0.73", "307.1 297.0 598.0 288.1 1331.3"),
    "Covertype": _kernelised(3.0, 1.0, 1024, "16.47 16.47 16.52 13.46 13.82", "2259.4 2063.9 3597.7 137880 189720"),
    "CCAT": _kernelised(10.0, 1.0, 1024, "7.09 7.11 7.15 4.71 4.72", "264.6 278.4 122.9 2616.0 3422.6"),
}
#: Table 3: d -> (mean, standard deviation) of the test error in percent, of ASSET_on and of its starred form
ASSET_3 = {
    1024: {"asset": (11.5, 0.56), "asset-star": (11.8, 0.57)},
    4096: {"asset": (4.8, 0.33), "asset-star": (5.8, 0.54)},
}
