"""Growing one tree beside rpart (C), YDF's CART (C++) and Weka's J48 (Java), and its time and memory from 10⁴ to 10⁶ rows.

rpart is timed inside R by `system.time`, YDF by its `train` on a dictionary of columns (which it turns into its own data set:
there is no way round), without pruning and without limits. What is not installed is passed over by name.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from shutil import which
from statistics import median

import numpy as np

from benchmarks.common.places import DATA
from benchmarks.common.timing import Row, processor, seconds, side_by_side
from benchmarks.learners.grow import noise, waveform
from modelsel import classifier
from modelsel.config.compose import compose
from modelsel.core.spec import make
from modelsel.core.types import Task, positions
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import GrowthParams
from modelsel.tree.node import LEAF, DecisionTree

WORK = "grow one tree, waveform 12,000 × 21, {criterion}, fresh task"
TURNS = 5
RPART = """
suppressMessages(library(rpart)); d <- read.csv("{file}"); d$y <- factor(d$y)
one <- function() rpart(y ~ ., d, method = "class", control = rpart.control(cp = -1, minsplit = 2, minbucket = 1, xval = 0,
                        maxcompete = 0, maxsurrogate = 0, maxdepth = 30, usesurrogate = 0))
tree <- one(); took <- replicate({turns}, system.time(one())[["elapsed"]])
root <- tree$splits[1, ]; leaves <- sum(tree$frame$var == "<leaf>")
cat(sprintf("[%s, %.17g, %d]", paste0("[", paste(took, collapse = ","), "]"), root[["index"]], leaves))
"""
WEKA = "MODELSEL_WEKA"  # names a folder with Weka's jars
J48 = """
import java.io.File; import java.lang.management.*; import weka.classifiers.trees.J48; import weka.core.*;
public class Timed {{ public static void main(String[] names) throws Exception {{
  weka.core.converters.CSVLoader loader = new weka.core.converters.CSVLoader(); loader.setSource(new File("{file}"));
  Instances rows = loader.getDataSet(); rows.setClassIndex(rows.numAttributes() - 1);
  ThreadMXBean clock = ManagementFactory.getThreadMXBean();
  for (int i = 0; i < {turns}; i++) {{
    long start = clock.getCurrentThreadCpuTime(); J48 tree = new J48(); tree.buildClassifier(rows);
    System.out.println((clock.getCurrentThreadCpuTime() - start) / 1e9 + " " + tree.measureNumLeaves());
  }} }} }}
"""


def rows() -> Iterable[Row]:
    task = waveform(12_000)
    if which("Rscript"):
        yield rpart(task)
    else:
        print("rpart: passed over, there is no Rscript")
    try:
        import ydf  # noqa: F401
    except ImportError:
        print("YDF: passed over, it is not installed")
    else:
        yield ydf_cart(task)
    if WEKA in os.environ and which("java") and (DATA / "magic04.csv").is_file():
        yield j48()
    else:
        print(f"J48: passed over, {WEKA} names no folder of jars, or there is no java or no magic04.csv")
    yield growth_of_time()
    yield memory()


def ours(task: Task, criterion: str = "gini") -> DecisionTree:
    return grow(replace(task), positions(task), make("criterion", criterion), GrowthParams())


def rpart(task: Task) -> Row:
    """Both take turns as blocks, since R times in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "waveform.csv"
        names = ",".join([*(feature.name for feature in task.features), "y"])
        np.savetxt(file, np.column_stack([task.values, task.target]), "%.17g", ",", header=names, comments="")
        answer = subprocess.run(
            ["Rscript", "-e", RPART.format(file=file, turns=TURNS)], capture_output=True, text=True, check=True, timeout=600
        )
    theirs, threshold, leaves = json.loads(answer.stdout)
    tree = ours(task)
    assert abs(threshold - tree.threshold[0]) < 1e-6
    assert abs(leaves - np.count_nonzero(tree.test == LEAF)) <= 0.03 * leaves
    mine = [seconds(lambda: ours(task)) for _ in range(TURNS)]
    return Row(
        WORK.format(criterion="gini"), "rpart 4.1", tuple(them / us for us, them in zip(mine, theirs)), median(mine),
        median(theirs), "threshold of the root (1e-6), leaves to 3 %", goal=4,
        note="cp = −1, minsplit = 2, minbucket = 1, no cross-validation, no competing or surrogate tests; maxdepth = 30, its "
        "largest. Its time includes the model frame of the formula, which its users pay too.",
    )  # fmt: skip


def ydf_cart(task: Task) -> Row:
    import ydf

    ydf.verbose(0)
    table = {feature.name: task.values[:, i].astype(np.float32) for i, feature in enumerate(task.features)}
    table["y"] = np.array([f"c{c}" for c in task.target])
    learner = ydf.CartLearner(label="y", min_examples=1, max_depth=-1, validation_ratio=0.0, num_threads=1)
    theirs = learner.train(table).get_tree(0)
    tree = ours(task, "entropy")
    assert theirs.root.condition.attribute - 1 == tree.feature[0]
    assert (task.values[:, tree.feature[0]] < theirs.root.condition.threshold).sum() == tree.weight[tree.child[0]]
    return side_by_side(
        WORK.format(criterion="entropy"), "YDF CART", lambda: ours(task, "entropy"), lambda: learner.train(table),
        turns=TURNS, goal=4,
        equal="feature and cut of the root",
        note="validation_ratio = 0 (no pruning), min_examples = 1, max_depth = −1, one thread. CartLearner of ydf 0.16 "
        "takes no argument for the criterion of a classification tree: it goes by information gain, so that ours is the "
        "entropy tree (feature and cut of the root agree).",
    )  # fmt: skip


def j48() -> Row:
    """C4.5 with raising as both do it by default, processor seconds; the JVM is warm after the first builds."""
    task = compose(["dataset=magic", f"dataset.dir={DATA}", "learner=c45"]).dataset.load().task
    X, model = np.ascontiguousarray(task.values), classifier("c45")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "Timed.java"
        source.write_text(J48.format(file=DATA / "magic04.csv", turns=3 * TURNS))
        said = subprocess.run(
            ["java", "-cp", f"{os.environ[WEKA]}/*", str(source)], capture_output=True, text=True, check=True, timeout=600
        ).stdout
    builds = [tuple(map(float, line.split())) for line in said.splitlines()]
    theirs = [seconds for seconds, _ in builds[-TURNS:]]
    model.fit(X, task.target)
    assert model.n_leaves_ == builds[-1][1]
    mine = [processor(lambda: model.fit(X, task.target)) for _ in range(TURNS)]
    note = f"{builds[-1][1]:.0f} leaves on either side; J48's first build in a fresh JVM took {builds[0][0]:.2g} s."
    work, ratios = 'classifier("c45").fit, magic 19,020 × 10', tuple(them / us for us, them in zip(mine, theirs))
    return Row(work, "Weka's J48 in its warm JVM", ratios, median(mine), median(theirs), "leaves", goal=15, note=note)


def growth_of_time() -> Row:
    """How time grows from 10⁴ to 10⁶ rows × 20 features, as the exponent of n."""
    small, large = noise(10_000), noise(1_000_000)
    ours(small)
    few, many = min(seconds(lambda: ours(small)) for _ in range(7)), min(seconds(lambda: ours(large)) for _ in range(2))
    exponent = float(np.log(many / few) / np.log(100))
    looked_at = [_looked_at(ours(task)) for task in (small, large)]
    least = float(np.log(looked_at[1] / looked_at[0]) / np.log(100))
    work, against = "grow one tree, 10⁴ → 10⁶ rows × 20", "itself: exponent of n"
    return Row(work, against, (exponent,), few, many, "the same code", most=1.15,
               note=f"the trees are deeper: a row is looked at in {looked_at[0] / 1e4:.1f} nodes on average, then in "
               f"{looked_at[1] / 1e6:.1f}, so that an equal cost per value is n^{least:.3f} already; the rest is sorting and "
               "memory beyond the cache.")  # fmt: skip


def _looked_at(tree: DecisionTree) -> float:
    """Rows at nodes with a test, added up."""
    return float(tree.weight[tree.test != LEAF].sum())


def memory() -> Row:
    """Peak resident memory of a process that draws and grows 10⁶ × 20, less that of 100 rows, over the matrix's size."""
    matrix, start = 1_000_000 * 20 * 8, _peak(100)
    return Row(
        "grow one tree, 10⁶ rows × 20: peak memory, the matrix included", "its float64 matrix",
        ((_peak(1_000_000) - start) / matrix,), 0.0, 0.0, "the same code", most=6,
    )  # fmt: skip


def _peak(n: int) -> int:
    """Bytes that a process of its own had resident at most (`ru_maxrss` would begin with the parent's)."""
    code = f"""
from benchmarks.learners.grow_elsewhere import noise, ours
ours(noise({n}))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    return int(done.stdout.split()[-1]) * 1024
