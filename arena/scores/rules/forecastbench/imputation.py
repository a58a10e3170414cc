"""Imputation: what a forecaster that said nothing is taken to have said.

- Formula: today a missing forecast counts as 0.5 on every question. In the first paper it counts as 0.5
  on dataset questions and on markets as the crowd's probability on the day that forecasts were due. A
  submission of which more than 5% is imputed, of all or of either type, isn't scored. So silence on
  markets scored like the market in the paper; today it costs.
- Direction: none.
- Range: 0 to 1.
- Edge cases: 5% exactly is still scored. A market without a crowd probability is an error in the paper's
  way.
- Source: seed 004 section 3.3 (missing forecasts) for the paper, the benchmark's resolver for today.
"""

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import as_floats

NO_INFORMATION = 0.5
MOST_IMPUTED = 0.05


def is_too_much_missing(forecast: ArrayLike, market: ArrayLike) -> bool:
    """Tell whether too much is missing for the submission to be scored."""
    missing = np.isnan(as_floats(forecast))
    is_market = np.asarray(market, dtype=np.bool_)

    for part in (missing, missing[is_market], missing[~is_market]):
        if part.size > 0 and int(part.sum()) > MOST_IMPUTED * part.size:
            return True
    return False
