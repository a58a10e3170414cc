"""Sources of articles, one file each: `from: gdelt` in the config means `agents/research/gdelt.py`.

A file defines a class `Settings`, the keys of its block under `evidence`, and a function
`research(settings, report)`, which returns an object with the methods of `agents.evidence.Research`. With
those of `agents.toolbox.SearchSource` models can search in it too. A source may return any article that it
has: the guard leaves out what agents may not see.

    class Settings(ResearchSettings): ...
    def research(settings: Settings, report: Report = ignore_report) -> Research:
        return MySource(settings)
"""
