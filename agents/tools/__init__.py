"""Tools that a model may use before it answers, one file each: `tools: [notes]` is `agents/tools/notes.py`.

A file defines a class `Arguments`, a pydantic model of what the model passes, and an async function
`use(arguments, reach)`, which returns a `ToolResult` or raises `ToolRefusal`. Its docstring describes the
tool to the model. `OWN = True` says that its results differ from agent to agent. An extension also sets
`FETCHES = False` if it asks nobody outside, and `TELLS_PRICES = False` if it shows no prices.

    class Arguments(ConfigBlock): ...
    async def use(arguments: Arguments, reach: ToolReach) -> ToolResult:
        return ToolResult(f"{len(reach.view.snapshot.shown)} markets are shown")
"""
