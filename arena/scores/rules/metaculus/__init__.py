"""Metaculus's rules: a question's forecasts, scored for every instant that they stood.

A score is the mean over a question's life, from its opening to its scheduled close, of the score at each
instant: 0 where nothing of the forecaster's stood, and 0 from an early close on. In mode `exact` a rule
is as its text has it, in mode `metaculus` it gives the site's own numbers; docs/scoring-differences.md
says where they differ.

Scores of one question are `baseline`, `peer`, `relative` and their `spot` versions; `community` is the
forecast that many make together. `tournament` and `tournament_2022` give out prizes. `question_types` and
`limits` say what all of them take.
"""
