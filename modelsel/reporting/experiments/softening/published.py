"""Published results on softened trees (Dvořák 2019): sizes and areas per data set, and fourteen findings."""

from dataclasses import dataclass


@dataclass(frozen=True)
class HardTreeFigures:
    """Splits and 100 AUC of the hard trees: least, median, largest."""

    splits: tuple[float, float, float]
    area: tuple[float, float, float]
    trees: int = 100


@dataclass(frozen=True)
class Published:
    """A row of the paper's tables.

    `best` and `smallest` are splits per training set: of the best hard tree, and of the smallest tree that is not worse after
    its splits were softened by AUC.
    """

    name: str
    rows: int  # of a training set
    cart: HardTreeFigures
    c50: HardTreeFigures
    best: tuple[int, ...]
    smallest: tuple[int, ...]


PUBLISHED = {
    "magic": Published(
        "MAGIC", 12_680,
        HardTreeFigures((3, 27.5, 75), (79.59, 87.62, 89.45)), HardTreeFigures((13, 71.5, 209), (82.59, 86.70, 88.88), 122),
        (45, 49, 61, 64, 43, 63, 38, 52, 75, 44), (11, 17, 10, 14, 13, 10, 10, 8, 18, 10),
    ),
    "waveform_a": Published(
        "Waveform A", 12_000,
        HardTreeFigures((3, 17.5, 42), (82.85, 89.91, 91.21)), HardTreeFigures((19, 103, 294), (85.85, 88.73, 89.88), 136),
        (35, 28, 42, 42, 27, 25, 32, 28, 42, 28), (7, 9, 7, 8, 5, 6, 7, 8, 7, 5),
    ),
    "waveform_b": Published(
        "Waveform B", 12_000,
        HardTreeFigures((3, 19, 45), (85.52, 92.20, 93.29)), HardTreeFigures((25, 107, 290), (86.81, 90.70, 92.18), 144),
        (32, 26, 32, 31, 45, 37, 38, 44, 31, 39), (6, 5, 7, 6, 7, 7, 6, 7, 8, 6),
    ),
    "miniboone": Published(
        "MiniBooNE", 12_000,
        HardTreeFigures((3, 17, 46), (84.22, 93.42, 94.25)), HardTreeFigures((19, 90.5, 217), (86.82, 90.09, 91.93), 134),
        (31, 33, 23, 27, 27, 34, 25, 29, 39, 46), (13, 5, 6, 5, 6, 6, 5, 5, 7, 7),
    ),
}  # fmt: skip

FINDINGS = (
    "C5.0’s trees are far larger than CART’s and of lower area while they are hard",
    "DR(0) rather hurts on MAGIC",
    "DR(2) and C4.5’s limits beat C5.0’s own softening",
    "softening gains more on C5.0’s trees than on CART’s",
    "of what needs no search DR(1) is most often best, DR(2) very often",
    "none of them is best everywhere",
    "Laplace’s leaf scores sometimes raise hard trees, mostly C5.0’s",
    "they do less with softening, and nothing on DR(1) and DR(2)",
    "they are never notably worse",
    "searched from DR(1), diff mostly ends worse, square in about half, exptr and AUC mostly better",
    "on single trees diff < square < exptr < AUC",
    "every tree of C5.0 softened by AUC beats the best hard one",
    "the smallest tree of CART that is not worse once it is softened is far smaller than the best hard one",
    "softening by AUC evens out C5.0 and CART",
)
