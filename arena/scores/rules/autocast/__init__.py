"""Autocast's three metrics, one for each type of question, and their sum: lower is better in all.

`choice` scores true-false and multiple-choice questions, `numeric` numbers, `combined` all together. Rows
here are questions with lists of options or numbers, not bets, so none of this is in the registry.
"""
