from modelsel.core.errors import ModelselError as ModelselError
from modelsel.dataset._table import read_table as read_table
from modelsel.door.exam import certify as certify
from modelsel.door.exam import create_exam as create_exam
from modelsel.door.exam import exam as exam
from modelsel.door.exam import verify as verify
from modelsel.door.outcome import Outcome as Outcome
from modelsel.door.run import open_run as open_run
from modelsel.door.run import plan as plan
from modelsel.door.run import run as run
from modelsel.door.selection import SelectionCV as SelectionCV
from modelsel.door.twins import audit as audit
from modelsel.door.twins import check as check
from modelsel.door.twins import compare as compare
from modelsel.door.twins import completion as completion
from modelsel.door.twins import doctor as doctor
from modelsel.door.twins import export as export
from modelsel.door.twins import init as init
from modelsel.door.twins import predict as predict
from modelsel.door.twins import report as report
from modelsel.door.twins import sync as sync
from modelsel.door.twins import test as test
from modelsel.door.twins import ui as ui
from modelsel.estimator import classifier as classifier

__version__: str
