"""The pages of the dashboard, one file each: the address `/markets` opens `dashboard/views/markets.py`.

A file defines `TITLE`; `ORDER`, its place in the navigation bar, or None if only links lead to it;
`NEEDS_A_COHORT`; and a function `show(record)`, which draws the page. `HEADED = True` says that the page
writes its own heading. These constants are read without importing the file, so each is a literal on a line.

    TITLE = "Hello"
    def show(record: RecordSource) -> None:
        put(Markup("<p>Hello</p>"), "hello")
"""
