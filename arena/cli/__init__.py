"""The commands, one file each or one file a family, listed in `PANELS` of `arena/cli/surface.py`.

A command is a function with the decorator `command` of `arena/cli/options.py`. Its first parameter is the
`Options` that all commands share; the others are its own arguments and options. Its docstring is its help,
which ends with an example and the next command. A file is imported when one of its commands is called.

    @command(record=False)
    def hello(options: Options, name: str = argument("NAME", "Whom to greet.")) -> None:
        print(f"Hello, {name}!")
"""
