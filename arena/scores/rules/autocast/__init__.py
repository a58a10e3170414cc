"""Autocast's three metrics, one for each type of question, and their sum: lower is better in all.

`choice` scores true-false and multiple-choice questions, `numeric` numbers, `combined` all together.
"""
