"""Tables for model trees, made by rule, and Weka beside them where it is installed."""

import subprocess
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from shutil import which

import numpy as np

from modelsel.core.types import Feature, Floats, Integers, NumberTask
from modelsel.learner.m5p import M5p

JAR = Path("/usr/share/java/weka-3.6.14.jar")  # Debian's package `weka`
SETTINGS = [
    M5p(pruned=pruned, smoothing=rows, leaf=leaf)
    for pruned, rows, leaf in product((True, False), (15.0, 0.0), ("linear", "mean"))
] + [M5p(min_split=12), M5p(min_split=30, smoothing=0.0), M5p(min_split=12, leaf="mean", pruned=False)]
PROGRAM = """
import java.io.*; import weka.core.*; import weka.classifiers.trees.M5P;
public class Ask {
  static Instances read(String path) throws Exception {
    Instances rows = new Instances(new BufferedReader(new FileReader(path)));
    rows.setClassIndex(rows.numAttributes() - 1); return rows; }
  public static void main(String[] words) throws Exception {
    for (int job = 0; job < words.length; job += 3) {
      Instances train = read(words[job]), asked = read(words[job + 1]);
      M5P tree = new M5P(); tree.setOptions(Utils.splitOptions(words[job + 2])); tree.buildClassifier(train);
      StringBuilder said = new StringBuilder();
      for (int row = 0; row < asked.numInstances(); row++) said.append(tree.classifyInstance(asked.instance(row)) + " ");
      System.out.println(said); } } }
"""


@cache
def weka_is_there() -> bool:
    """Java can run a source file beside Weka's classes."""
    return JAR.is_file() and which("javac") is not None


def options(learner: M5p) -> str:
    """The same settings as Weka writes them."""
    flags = {"-N": not learner.pruned, "-U": learner.smoothing == 0.0, "-R": learner.leaf == "mean"}
    return " ".join([*(flag for flag, on in flags.items() if on), "-M", f"{learner.min_split:g}"])


def weka(folder: Path, jobs: Sequence[tuple[NumberTask, Integers, M5p]]) -> list[Floats]:
    """What Weka's M5P, fitted on some rows of a task, says of all its rows."""
    (folder / "Ask.java").write_text(PROGRAM)
    words: list[str] = []
    for place, (task, rows, learner) in enumerate(jobs):
        train, asked = folder / f"train{place}.arff", folder / f"asked{place}.arff"
        train.write_text(arff(task, rows))
        asked.write_text(arff(task, np.arange(len(task))))
        words += [str(train), str(asked), options(learner)]
    command = ["java", "-cp", str(JAR), str(folder / "Ask.java"), *words]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout
    return [np.array(line.split(), float) for line in said.splitlines()]


def arff(task: NumberTask, rows: Integers) -> str:
    """Some rows of a task as Weka reads them; ranks are numbers."""
    lines = ["@relation t"]
    for place, feature in enumerate(task.features):
        names = ",".join(_quoted(level) for level in feature.levels)
        lines.append(f"@attribute a{place} {'{' + names + '}' if feature.kind == 'nominal' else 'numeric'}")
    lines += ["@attribute y numeric", "@data"]
    for row in rows.tolist():
        cells = [_cell(feature, value) for feature, value in zip(task.features, task.values[row].tolist(), strict=True)]
        lines.append(",".join([*cells, repr(float(task.target[row]))]))
    return "\n".join(lines) + "\n"


def _cell(feature: Feature, value: float) -> str:
    if np.isnan(value):
        return "?"
    return _quoted(feature.levels[int(value)]) if feature.kind == "nominal" else repr(value)


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'"


def made(name: str, n: int = 90) -> NumberTask:
    """A table of every kind of column: gaps, ties, a constant column, two that are one, levels that no row has."""
    row, spread = np.arange(n), np.random.default_rng({"mixed": 3, "whole": 4, "collinear": 5}[name])
    a, b, c = spread.integers(0, 40, n) / 4.0, spread.integers(0, 9, n) * 1.0, np.round(spread.normal(size=n), 2)
    sky, two = spread.integers(0, 4, n) * 1.0, spread.integers(0, 2, n) * 1.0
    columns = [a, b, np.full(n, 7.0), sky, two, c]
    features = [Feature("a", "numeric"), Feature("b", "numeric"), Feature("one", "numeric"),
                Feature("sky", "nominal", ("sunny", "dull", "rainy", "white", "never")),
                Feature("two", "nominal", ("no", "yes")), Feature("c", "numeric")]  # fmt: skip
    y = np.where(a > 5, 3 * b + 2 * two, 20 - 2 * a) + np.array([0.0, 6.0, 1.0, 6.0])[sky.astype(int)] + c
    if name == "whole":
        y = np.round(y)
    if name == "collinear":
        columns += [2 * a - b, a + 1e-3 * np.round(spread.normal(size=n), 1)]
        features += [Feature("sum", "numeric"), Feature("again", "numeric")]
    X = np.column_stack(columns)
    if name != "collinear":
        X[(row[:, None] * 7 + np.arange(X.shape[1]) * 5) % 13 == 0] = np.nan
    return NumberTask(name=name, features=tuple(features), values=np.asfortranarray(X), rows=row, target=np.round(y, 3))
