"""Whether probabilities mean what they say: curves, decompositions, and what chance alone would show.

`corp` is the curve and what a score is made of, `diagram` adds what chance alone would draw, and
`calibration_slices` does so for parts of a season. `murphy` is the older form. `reading` says in two
figures how what was sure came true.
"""
