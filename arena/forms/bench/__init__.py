"""ForecastBench's files one by one: question sets, resolution sets, and filed forecasts."""
