"""Each form knows its own files and no others'."""

import json

import pytest

from arena.forms.model import SourceFile
from arena.forms.public import forecast_arena, forecastbench, inspect_log, metaculus, prophet
from tests.arena.forms import sources

FORMS = {
    "forecast_arena": forecast_arena,
    "inspect_log": inspect_log,
    "metaculus": metaculus,
    "prophet": prophet,
}
EVERY = FORMS | {"forecastbench": forecastbench}
REPORT = sources.tools_report(sources.tools_question(1), 0.5)
BENCHMARK = {"forecast_bot_config": {}, "forecast_reports": [REPORT]}
SAMPLES = {
    "forecast_arena": [sources.arena_board()],
    "inspect_log": [
        [sources.json_file("a.json", sources.inspect_log("owl"))],
        [sources.packed_log("a.eval", sources.inspect_log("owl"))],
    ],
    "metaculus": [
        *([table] for table in sources.metaculus_tables()),
        [sources.json_file("posts.json", {"results": sources.metaculus_posts()})],
        [sources.json_file("posts.json", sources.metaculus_posts())],
        [sources.json_file("post.json", sources.metaculus_posts()[5])],
        [sources.json_file("questions.json", [sources.tools_question(1)])],
        [sources.json_file("reports.json", [REPORT])],
        [sources.lines_file("benchmarks.jsonl", BENCHMARK)],
    ],
    "prophet": [
        [sources.prophet_tasks()],
        [sources.prophet_events()],
        [sources.prophet_summary(sources.prophet_run("A", None))],
        [sources.json_file("forecasts.json", [sources.prophet_answer("m", 0, {})])],
        sources.prophet_market(),
    ],
}
OTHERS = [
    SourceFile("plain.csv", b"question,forecaster,probability,outcome\nrain,ann,0.5,1\n"),
    sources.lines_file("plain.jsonl", {"question": "rain", "forecaster": "ann", "probability": 0.5}),
    sources.json_file("set.json", {"forecast_due_date": "2026-01-01", "question_set": "a", "questions": []}),
    SourceFile("readme.md", b"# entrant, slug, market_prob"),
    SourceFile("empty.json", b""),
    SourceFile("deep.json", b"[" * 10_000),
    SourceFile("text.eval", b"not a log"),
]


@pytest.mark.parametrize(
    ("name", "files"), [(name, files) for name, samples in SAMPLES.items() for files in samples]
)
def test_a_sample_is_recognised_by_its_form_alone(name: str, files: list[SourceFile]) -> None:
    found = {form for form, module in EVERY.items() if module.recognise(files) is not None}

    assert found == {name}


@pytest.mark.parametrize("file", OTHERS, ids=lambda file: file.name)
def test_other_files_are_recognised_by_none(file: SourceFile) -> None:
    assert [form for form, module in FORMS.items() if module.recognise([file]) is not None] == []


@pytest.mark.parametrize("name", ["-", "posts.json", "posts.txt"])
def test_objects_are_read_from_a_page_a_list_or_lines(name: str) -> None:
    posts = sources.metaculus_posts()
    texts = [
        json.dumps({"results": posts}),
        json.dumps({"count": 8, "results": posts}, indent=2),
        json.dumps(posts),
        "\n".join(map(json.dumps, posts)),
    ]

    read = [metaculus.read([SourceFile(name, text.encode())]) for text in texts]

    assert len(read[0].questions) == 7
    assert {data.questions for data in read} == {read[0].questions}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_leaves_other_files_of_a_folder_alone(name: str) -> None:
    (own, *_) = SAMPLES[name]
    alone = FORMS[name].read(own)
    others = [file for other, samples in SAMPLES.items() if other != name for file in samples[0]]

    beside = FORMS[name].read([*own, *others, *OTHERS])

    assert (beside.questions, beside.forecasts, beside.faults) == (
        alone.questions,
        alone.forecasts,
        alone.faults,
    )
