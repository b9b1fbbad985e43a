from modelsel.api.commands.ledger import audit as audit
from modelsel.api.commands.ledger import check as check
from modelsel.api.commands.ledger import test as test
from modelsel.api.commands.model import export as export
from modelsel.api.commands.model import predict as predict
from modelsel.api.commands.record import compare as compare
from modelsel.api.commands.record import report as report
from modelsel.api.commands.record import sync as sync
from modelsel.api.commands.setup import doctor as doctor
from modelsel.api.commands.setup import explain as explain
from modelsel.api.commands.setup import init as init
from modelsel.api.commands.ui import ui as ui
from modelsel.api.commands.words import completion as completion
from modelsel.api.exams import certify as certify
from modelsel.api.exams import create_exam as create_exam
from modelsel.api.exams import exam as exam
from modelsel.api.exams import verify as verify
from modelsel.api.outcome import Outcome as Outcome
from modelsel.api.run import open_run as open_run
from modelsel.api.run import plan as plan
from modelsel.api.run import run as run
from modelsel.api.search.selection_cv import SelectionCV as SelectionCV
from modelsel.core.errors import ModelselError as ModelselError
from modelsel.dataset.tables.read_table import read_table as read_table
from modelsel.estimator import classifier as classifier
from modelsel.estimator import regressor as regressor

__version__: str
