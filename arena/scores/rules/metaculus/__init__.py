"""Metaculus's rules: a question's forecasts, scored for every instant that they stood.

A question has a life from its opening to its scheduled close; forecasts stand from a start until they are
replaced or withdrawn, and may be of yes/no, of several options or of a number. A score is the mean over
the whole life of the score at each instant, 0 where nothing of the forecaster's stood, and 0 from an
early close on.

Every rule is played in one of two modes, and every result says in which:

- `exact`, the rule as its text has it, as an integral over time;
- `metaculus`, the numbers that the site itself comes to, with the places where it departs from its text.

Where the two differ, and where published figures agree with neither, docs/scoring-differences.md says.

Scores of one question are `baseline`, `peer`, `relative` and their `spot` versions, added up by `totals`;
`community` is the forecast that many make together. `tournament` and `tournament_2022` give out prizes,
`table` scores a whole table of questions, and `single_instant` those without times. `question`,
`forecasts`, `question_types` and `limits` say what all of them take. None of this is in the registry of
rules: these rules take questions with times, not columns of bets.
"""
