"""ForecastBench's files one by one: sets of questions, of resolutions, and what forecasters filed."""
