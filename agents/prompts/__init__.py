"""Prompts, one Markdown file each: `prompt: bet` means `agents/prompts/bet.md`. The code here fills them in.

A file is a Jinja template. It begins with a comment that describes it, and defines the block `user` and, if
it wants a system message, the block `system`. With `{% set answer = "forecasts" %}` it asks for forecasts
and no bets. Files whose names begin with an underscore are parts that prompts include.

    {# The probabilities at once. #}
    {% set answer = "forecasts" %}
    {% block user %}{% for m in markets %}{{ m.id }}: {{ m.text }}{% endfor %}{% endblock %}
"""
