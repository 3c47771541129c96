"""How well does recall work on this memory? Questions whose answers are known, asked of each leg of the search.

`questions` reads or makes the questions, `measuring` asks them.
"""

from dolmen.services.evaluation.measuring import LEGS, Leg, Measured, legs_of, measure
from dolmen.services.evaluation.questions import Question, Questions, from_feedback, from_file, held_back

__all__ = [
    "LEGS",
    "Leg",
    "Measured",
    "Question",
    "Questions",
    "from_feedback",
    "from_file",
    "held_back",
    "legs_of",
    "measure",
]
