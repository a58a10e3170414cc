"""Describes an export to catalogues of data sets: a Hugging Face card, Croissant, and a data package.

All three say the same, from the column dictionary: `README.md` is what a person reads and what the `datasets`
library loads by, `croissant.json` is what search engines read, `datapackage.json` what `frictionless` does.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.exports.table import ExportColumn, ExportTable, Kind

CARD = "README.md"
CROISSANT = "croissant.json"
DATA_PACKAGE = "datapackage.json"
TITLE = "A season of Paper Arena"
UNKNOWN_LICENSE = "other"
DEFAULT_TABLE = "forecasts"
"""The table that `datasets` loads by default."""

SUMMARY = (
    "Language models forecast the outcomes of questions and bet play money on them: every question, price, "
    "forecast, bet, fill and settlement of a season."
)
UNITS = (
    "Dollars, shares, prices, rates and probabilities are whole millionths: 1,500,000 is $1.50, and 400,000 "
    "is 0.40. Times are in UTC."
)
RIGHTS = (
    "Questions, prices and outcomes come from the venues that the column `market_id` names; their terms "
    "apply to these. Forecasts were written by the models that the table `entrants` names."
)
USES = (
    "Forecasts may be scored again, by any rule, and every balance follows from the table `entries`. A model "
    "that was trained on outcomes of this season can't be judged by it."
)

HUGGING_FACE_TYPES: Mapping[Kind, str] = {
    "text": "string",
    "whole": "int64",
    "number": "float64",
    "time": "timestamp[us, tz=UTC]",
}
CROISSANT_TYPES: Mapping[Kind, str] = {
    "text": "sc:Text",
    "whole": "sc:Integer",
    "number": "sc:Float",
    "time": "sc:DateTime",
}
PACKAGE_TYPES: Mapping[Kind, str] = {
    "text": "string",
    "whole": "integer",
    "number": "number",
    "time": "datetime",
}
MISSING = ("nan", "NaT")
"""How nulls in numbers and times look to `frictionless`, which reads Parquet through pandas."""
CROISSANT_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context of Croissant 1.0, which every description of a data set repeats."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table in its Parquet file: the name, rows, bytes and SHA-256 of the file."""

    table: ExportTable
    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class DataSet:
    """What the cards describe: the tables, when and by which version they were written, and the license."""

    files: Sequence[TableFile]
    made_at: str
    code_version: str
    state_hash: str
    license: str = UNKNOWN_LICENSE


def cards(data_set: DataSet) -> dict[str, str]:
    """Return the text of each card by the name of its file."""
    return {
        CARD: hugging_face_card(data_set),
        CROISSANT: _json_text(croissant(data_set)),
        DATA_PACKAGE: _json_text(data_package(data_set)),
    }


def _json_text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def hugging_face_card(data_set: DataSet) -> str:
    """Return the card of the data set, with a configuration for each table that has rows."""
    files_with_rows = [file for file in data_set.files if file.rows]
    lines = [
        "---",
        f"pretty_name: {TITLE}",
        f"license: {data_set.license}",
        "language: [en]",
        "tags: [forecasting, prediction-markets, llm-agents, calibration]",
        "configs:",
    ]
    for file in files_with_rows:
        lines += _config_lines(file)
    lines.append("dataset_info:")
    for file in files_with_rows:
        lines += _feature_lines(file)

    lines += ["---", "", f"# {TITLE}", "", SUMMARY, "", "## Tables", "", "| table | rows | a row is |"]
    lines.append("| --- | ---: | --- |")
    for file in data_set.files:
        meaning = file.table.meaning.replace("|", "/")
        lines.append(f"| `{file.table.name}` | {file.rows:,} | {meaning} |")

    example = files_with_rows[0].table.name if files_with_rows else DEFAULT_TABLE
    if any(file.table.name == DEFAULT_TABLE for file in files_with_rows):
        example = DEFAULT_TABLE
    lines += [
        "",
        f"[data.md](data.md) explains every column. {UNITS}",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'{example} = load_dataset(".", "{example}", split="train")',
        "```",
        "",
        "## Source and rights",
        "",
        RIGHTS,
        "",
        "## Uses and limits",
        "",
        USES,
        "",
        f"Written by Paper Arena {data_set.code_version} at {data_set.made_at}.",
    ]
    if data_set.state_hash:
        lines.append(f"State hash of the record: `{data_set.state_hash}`.")
    return "\n".join(lines) + "\n"


def _config_lines(file: TableFile) -> list[str]:
    """Return the lines of the card that say which file a table is loaded from."""
    lines = [f"- config_name: {file.table.name}"]
    if file.table.name == DEFAULT_TABLE:
        lines.append("  default: true")
    return [*lines, "  data_files:", "  - split: train", f"    path: {file.name}"]


def _feature_lines(file: TableFile) -> list[str]:
    """Return the lines of the card that say which columns a table has."""
    lines = [f"- config_name: {file.table.name}", "  features:"]
    for column in file.table.columns:
        lines += [f"  - name: {column.name}", f"    dtype: {HUGGING_FACE_TYPES[column.kind]}"]
    return [
        *lines,
        "  splits:",
        "  - name: train",
        f"    num_examples: {file.rows}",
        f"    num_bytes: {file.bytes}",
    ]


def croissant(data_set: DataSet) -> dict[str, Any]:
    """Return the description of the data set in Croissant 1.0."""
    files = []
    record_sets = []
    for file in data_set.files:
        files.append(
            {
                "@type": "cr:FileObject",
                "@id": file.name,
                "name": file.name,
                "contentUrl": file.name,
                "contentSize": f"{file.bytes} B",
                "encodingFormat": "application/x-parquet",
                "sha256": file.sha256,
            }
        )
        record_sets.append(_record_set(file))

    return {
        "@context": CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": TITLE,
        "description": f"{SUMMARY} {UNITS} {RIGHTS}",
        "license": data_set.license,
        "datePublished": data_set.made_at[:10],
        "version": "1.0.0",
        "citeAs": f"{TITLE}, state hash {data_set.state_hash or 'of a part'}, {data_set.made_at[:10]}",
        "creator": {"@type": "sc:Organization", "name": "The operator of this season"},
        "distribution": files,
        "recordSet": record_sets,
    }


def _record_set(file: TableFile) -> dict[str, Any]:
    """Return the description of a table's rows in Croissant."""
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{file.table.name}/{column.name}",
            "name": column.name,
            "description": column_text(column),
            "dataType": CROISSANT_TYPES[column.kind],
            "source": {"fileObject": {"@id": file.name}, "extract": {"column": column.name}},
        }
        for column in file.table.columns
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": file.table.name,
        "name": file.table.name,
        "description": file.table.meaning,
        "key": [{"@id": f"{file.table.name}/{name}"} for name in file.table.key],
        "field": fields,
    }


def data_package(data_set: DataSet) -> dict[str, Any]:
    """Return the description of the data set as a data package.

    Sizes and hashes are left out: `frictionless` computes them for text files only, and would reject Parquet.
    """
    resources = []
    for file in data_set.files:
        fields = []
        for column in file.table.columns:
            field: dict[str, Any] = {
                "name": column.name,
                "type": PACKAGE_TYPES[column.kind],
                "description": column_text(column),
            }
            if not column.empty:
                field["constraints"] = {"required": True}
            elif column.kind != "text":
                field["missingValues"] = list(MISSING)
            fields.append(field)

        resources.append(
            {
                "name": file.table.name.replace("_", "-"),
                "title": file.table.name,
                "description": file.table.meaning,
                "path": file.name,
                "format": "parquet",
                "mediatype": "application/vnd.apache.parquet",
                "schema": {"fields": fields, "primaryKey": list(file.table.key), "missingValues": []},
            }
        )

    package: dict[str, Any] = {
        "name": "paper-arena-season",
        "title": TITLE,
        "description": f"{SUMMARY} {UNITS} {RIGHTS}",
        "created": data_set.made_at,
        "resources": resources,
    }
    if data_set.license != UNKNOWN_LICENSE:
        package["licenses"] = [{"name": data_set.license}]
    return package


def column_text(column: ExportColumn) -> str:
    """Return a column's meaning, its unit, and what an empty value means, as one sentence.

    >>> column_text(ExportColumn("price", "whole", "of a YES share", "millionths of a dollar", "no trade"))
    'of a YES share (millionths of a dollar); empty: no trade'
    """
    text = column.meaning
    if column.unit:
        text += f" ({column.unit})"
    if column.empty:
        text += f"; empty: {column.empty}"
    return text
