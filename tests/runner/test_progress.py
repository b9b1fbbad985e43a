"""What a person is told while a study runs."""

from modelsel.runner.run import NullProgress
from tests.doubles import Double, candidates, spread
from tests.runner.studies import study


class Heard(NullProgress):
    """Adds up what it is told."""

    def __init__(self):
        self.cells, self.failures = 0, 0

    def advance(self, cells=1, best=None, failures=0):
        self.cells += cells
        self.failures += failures


def test_a_candidate_that_is_skipped_by_refusal_is_no_failure(tmp_path):
    heard = Heard()
    study(tmp_path, (*spread(3), *candidates(Double(cut=9.5, deed="refuse"))), progress=heard)
    assert (heard.cells, heard.failures) == (3, 0)


def test_a_candidate_that_fails_on_every_fold_is_one_failure(tmp_path):
    heard = Heard()
    some = candidates(*(Double(cut=9.0 + i, deed=deed) for i, deed in enumerate(("raise", "quit", "none", "refuse"))))
    study(tmp_path, some, progress=heard)
    assert (heard.cells, heard.failures) == (3, 2)
