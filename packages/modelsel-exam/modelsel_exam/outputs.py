"""What `modelsel exam` and `modelsel gate` print as JSON, by short name; `modelsel.manual.schemas` makes schemas of it."""

from collections.abc import Mapping

from modelsel.guard.face import AuditReport, facts
from modelsel_exam.board import AuditedExam, BoardLine, ExamClose, ExamStatus
from modelsel_exam.proposals import GateClose, GateProposal, GateStatus
from modelsel_exam.sit import Shown


@facts
class ExamAudit(AuditReport):
    """The output of `modelsel exam audit --json`."""

    exam: AuditedExam


OUTPUTS: Mapping[str, tuple[str, object]] = {
    "gate_propose": ("modelsel gate propose --json", GateProposal),
    "gate_status": ("modelsel gate status --json", GateStatus),
    "gate_close": ("modelsel gate close --json", GateClose),
    "exam_answer": ("modelsel exam answer --json", Shown),
    "exam_status": ("modelsel exam status --json", ExamStatus),
    "exam_board": ("modelsel exam board --json", list[BoardLine]),
    "exam_close": ("modelsel exam close --json", ExamClose),
    "exam_audit": ("modelsel exam audit --json", ExamAudit),
}
