"""Kinds of question, one file each: a question of kind `numeric` is what `markets/questions/numeric.py` says.

A file defines what `markets.distributions.QuestionKind` names: `TITLE`, `KEY`, `SCHEMA` and the functions
that check a question, ask it, read an answer and an outcome, and put an answer into words. A question of yes
or no is answered by one probability and traded at a price; the others are answered by a distribution.
"""
