"""Where a profit came from, how much of it luck could have made, and what is at stake.

`luck` comes first: a profit that luck alone makes as easily needs no other reason. It draws fair worlds by
`fair_draws`. `profit_split` says what the rest came from, with an edge as large as `edge` could prove;
`drawdown` and `event_exposure` say how bold it was.
"""
