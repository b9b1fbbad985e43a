"""The items of three reporting checklists, in our words, and which facts of a run's record speak to each.

REFORMS: Kapoor et al. (2024), Science Advances 10, eadk3452, 32 items. TRIPOD+AI: Collins et al. (2024), BMJ 385, e078378, 27
items of 52 parts. Model cards: Mitchell et al. (2019), FAT*, nine sections. The numbers are theirs; read their texts beside.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """An item: its number, what it asks for, the facts that speak to it, and what the author has to add.

    `needs` names a fact without which the item does not apply; `never` says why it does not apply to a study of this package.
    """

    number: str
    asks: str
    facts: tuple[str, ...] = ()
    author: str = ""
    needs: str = ""
    never: str = ""


@dataclass(frozen=True)
class Checklist:
    """A checklist by its name, with its source."""

    name: str
    title: str
    source: str
    items: tuple[Item, ...]


NO_UPDATE = "no model that was there before is updated"

REFORMS = Checklist(
    "reforms", "REFORMS", "Kapoor et al. 2024, doi:10.1126/sciadv.adk3452",
    (
        Item("1a", "the population or distribution that the claim is about", (), "state it"),
        Item("1b", "why this population", (), "say why"),
        Item("1c", "why machine learning is used", (), "say why"),
        Item("2a", "the data set, told from any other", ("data", "fingerprint"), "a link or DOI, if it is public"),
        Item("2b", "the code and its version", ("software", "specification"), "a link to code of your own"),
        Item("2c", "the machine and the software that it ran on", ("environment", "seconds")),
        Item("2d", "instructions for obtaining the results", ("files", "command"), "a README of the project"),
        Item("2e", "a script that gives all results", ("command", "replay"), "what is computed outside this run"),
        Item("3a", "where data and labels come from, and when", ("data",), "how and when they were collected and labelled"),
        Item("3b", "the frame from which rows were sampled", (), "describe it"),
        Item("3c", "why these data suit the task", (), "say why"),
        Item("3d", "the target, with its distribution", ("target", "distribution"), "what it stands for, and in which unit"),
        Item("3e", "numbers of rows and of each class", ("rows", "distribution")),
        Item("3f", "how much is missing, by feature and class", ("missing",)),
        Item("3g", "whether the data represent the population", (), "say why"),
        Item("4a", "rows and columns that were left out, and why", ("left_out",), "what was left out before it was read"),
        Item("4b", "impossible or damaged values", ("checks",), "what was mended before the table was read"),
        Item("4c", "every transformation of the data", ("preparation",)),
        Item("5a", "all models that were tried", ("candidates",)),
        Item("5b", "why these kinds of models", (), "say why"),
        Item("5c", "how models were evaluated", ("folds", "split")),
        Item("5d", "how one was selected", ("rule", "winner")),
        Item("5e", "which hyper-parameters were tried, and how they were set", ("space", "winner")),
        Item("5f", "baselines", ("floor",), "the best method in use so far"),
        Item("6a", "that training and test data are separate", ("split", "looks")),
        Item("6b", "dependences and duplicates between them", ("duplicates", "units")),
        Item("6c", "that each feature may be used", ("features", "leaks"), "why each is known when a prediction is made"),
        Item("7a", "the measures, and why these", ("measure", "measures"), "why this measure"),
        Item("7b", "the uncertainty of each number", ("interval", "estimate")),
        Item("7c", "statistical tests, and what they assume", ("tests",)),
        Item("8a", "evidence that the result holds elsewhere", (), "give it, or say that there is none"),
        Item("8b", "where it is not expected to hold", ("limits",), "contexts and populations that are not covered"),
    ),
)  # fmt: skip

TRIPOD = Checklist(
    "tripod-ai", "TRIPOD+AI", "Collins et al. 2024, doi:10.1136/bmj-2023-078378",
    (
        Item("1", "a title that names study, population and outcome", ("kind", "target"), "the population"),
        Item("2", "an abstract by the checklist for abstracts", (), "write it"),
        Item("3a", "context, rationale, models that exist", (), "describe them"),
        Item("3b", "for whom and for which decision the model is meant", (), "describe it"),
        Item("3c", "known inequalities between groups of people", (), "describe them"),
        Item("4", "aims: development, evaluation, or both", ("kind",)),
        Item("5a", "sources of data, and whether they are representative", ("data", "fingerprint"), "why these sources"),
        Item("5b", "dates of the data", ("time",), "start and end of accrual and of follow-up"),
        Item("6a", "setting, and number of centres", (), "describe them"),
        Item("6b", "who was eligible", ("excluded",), "criteria that were applied before the table was read"),
        Item("6c", "treatments, and how they were handled", (), "describe them"),
        Item("7", "preparation and checks of the data", ("preparation", "checks")),
        Item("8a", "the outcome, how and when it is assessed", ("target", "distribution"), "how and when it was assessed"),
        Item("8b", "who assessed an outcome that needs judgement", (), "say who"),
        Item("8c", "whether assessors were blind to predictors", (), "say so"),
        Item("9a", "which predictors, and whether some were chosen before", ("features",), "why these"),
        Item("9b", "definitions of all predictors", ("features",), "how and when each is measured"),
        Item("9c", "who assessed predictors that need judgement", (), "say who"),
        Item("10", "how the sample size came about, and whether it suffices", ("rows", "suffices"), "how it came about"),
        Item("11", "how missing values were handled", ("missing", "missing_policy")),
        Item("12a", "how data were divided into development and evaluation", ("split", "folds")),
        Item("12b", "how predictors enter the model", ("preparation",)),
        Item("12c", "kind of model, building steps, tuning, internal validation", ("candidates", "space", "rule", "folds"),
             "why these kinds"),
        Item("12d", "differences between clusters (centres, countries)", ("units",), needs="units"),
        Item("12e", "measures of performance, and comparison of models", ("measure", "measures", "tests")),
        Item("12f", "updating of a model", never=NO_UPDATE),
        Item("12g", "how predictions were computed for the evaluation", ("predictions",)),
        Item("13", "class imbalance: methods, and recalibration after them", ("imbalance",)),
        Item("14", "how fairness was addressed", ("slices",), "groups that matter, and why"),
        Item("15", "what the model returns, and how thresholds were set", ("output",)),
        Item("16", "differences between development and evaluation data", ("alike",)),
        Item("17", "ethics approval and consent", (), "name them"),
        Item("18a", "funding", (), "name it"),
        Item("18b", "conflicts of interest", (), "name them"),
        Item("18c", "a protocol, and where it is", ("declared",), "a protocol of the whole project"),
        Item("18d", "registration", (), "name it, or say that there is none"),
        Item("18e", "whether data are available", ("fingerprint",), "where and on which terms"),
        Item("18f", "whether code is available", ("software", "command"), "where code of your own is"),
        Item("19", "patients and the public in the study", (), "say how, or that they were not"),
        Item("20a", "the flow of rows through the study, with outcomes", ("rows", "left_out", "distribution"),
             "follow-up, and a diagram"),
        Item("20b", "characteristics of the rows", ("features", "missing", "distribution"), "by centre and group of people"),
        Item("20c", "distributions of predictors in evaluation and development", ("alike",), "a table, where they differ"),
        Item("21", "numbers of rows and events in each analysis", ("rows", "fold_sizes", "distribution")),
        Item("22", "the full model, for anybody to use", ("winner", "model")),
        Item("23a", "performance with intervals, also in groups", ("interval", "estimate", "slices")),
        Item("23b", "differences of performance between clusters", ("units",), "performance by cluster", needs="units"),
        Item("24", "results of updating", never=NO_UPDATE),
        Item("25", "interpretation, fairness included", (), "write it"),
        Item("26", "limitations", ("limits", "findings"), "what these do not say of your data"),
        Item("27a", "what is done with poor or missing input", ("missing_policy",), "input of poor quality"),
        Item("27b", "what users have to do and to know", (), "describe it"),
        Item("27c", "next steps", (), "name them"),
    ),
)  # fmt: skip

MODEL_CARD = Checklist(
    "model-card", "Model card", "Mitchell et al. 2019, doi:10.1145/3287560.3287596",
    (
        Item("1", "model: who made it, when, which kind and version, licence", ("winner", "software", "when"),
             "licence, and where to ask"),
        Item("2", "intended use, users, and uses that are out of scope", (), "describe them"),
        Item("3", "factors: groups, instruments, surroundings", ("slices",), "which matter"),
        Item("4", "measures, thresholds, how uncertainty is estimated", ("measure", "output", "interval")),
        Item("5", "evaluation data", ("split", "rows", "looks"), "why these"),
        Item("6", "training data", ("data", "fingerprint", "features", "distribution"), "how they came about"),
        Item("7", "results, overall and by factor", ("interval", "estimate", "floor", "slices")),
        Item("8", "ethical considerations", (), "describe them"),
        Item("9", "caveats and advice", ("limits", "findings"), "what these do not say of your data"),
    ),
)  # fmt: skip

CHECKLISTS: Mapping[str, Checklist] = {one.name: one for one in (REFORMS, TRIPOD, MODEL_CARD)}
