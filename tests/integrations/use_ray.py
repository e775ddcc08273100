"""A program for the environment of `test_packages.py`: Ray answers what `tfmrc predict` answers."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pandas as pd
import ray

import tfmrc
from tfmrc import encoders, experiments, models, preprocessing
from tfmrc.evaluation import read_predictions
from tfmrc.integrations.ray import predict

PLACE, PART = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "all"
READER, ROWS, FILES = PLACE / "reader", 320, 2
HOW = {"actors": 2, "cpus_per_actor": 0.5, "batch_size": 8, "rows_per_file": 32}


def prepare() -> None:
    """Writes a reader, and files with a broken row in each."""
    draw = random.Random(0)
    words = "who what flew slept an a owl cat mill over the river at dusk ? .".split()
    encoder = encoders.from_vocabulary(words)
    predictor = tfmrc.Predictor(
        models.ExtractiveReader(encoder=encoder),
        preprocessing.ExtractiveReaderPreprocessor(encoder=encoder),
    )
    predictor.save(READER)
    for number in range(FILES):
        rows = [
            {
                "id": f"{number}-{row}",
                "question": f"who {draw.choice(words)} ?" if row != 77 else " ",
                "passage": " ".join(draw.choices(words, k=draw.randrange(3, 60))),
            }
            for row in range(ROWS)
        ]
        frame = pd.DataFrame(rows)
        for suffix in ("jsonl", "csv", "parquet"):
            (PLACE / suffix).mkdir(exist_ok=True)
        frame.to_csv(PLACE / "csv" / f"{number}.csv", index=False)
        frame.to_parquet(PLACE / "parquet" / f"{number}.parquet")
        lines = [json.dumps(row) for row in rows]
        lines[77] = lines[77][:20]
        (PLACE / "jsonl" / f"{number}.jsonl").write_text("\n".join(lines))
    with zipfile.ZipFile(PLACE / "all.zip", "w") as file:
        for path in sorted((PLACE / "jsonl").iterdir()):
            file.write(path, path.name)


def answers(output: Path) -> dict[str, dict]:
    """Returns the rows of a folder by id, of which none occurs twice."""
    rows = pd.concat(map(pd.read_parquet, sorted(output.glob("*.parquet"))))
    assert rows.id.is_unique
    rows = rows.astype(object).where(rows.notna(), None)
    return {row["id"]: row for row in rows.to_dict("records")}


def check(output: Path, kind: str = "jsonl") -> None:
    """All rows are there once, as `tfmrc predict` answers them."""
    found = answers(output)
    assert len(found) == FILES * ROWS
    for path in sorted((PLACE / kind).iterdir())[: FILES if kind == "jsonl" else 1]:
        lines = PLACE / f"{path.name}.predictions"
        if not lines.exists():
            experiments.predict(READER, path, lines)
        for name, one in read_predictions(lines).items():
            row = found[name]
            if one.error:
                assert row["answer"] is None and path.name in row["error"], row
                continue
            assert (row["answer"], row["digest"]) == (one.answer, one.digest)
            for key in ("passage", "start", "end", "is_confident"):
                assert row[key] == one.scores[key]
            assert abs(row["probability"] - one.scores["probability"]) < 1e-5


def refused(words: str, *arguments: object, **how: object) -> None:
    try:
        predict(*map(str, arguments), **how)
    except ValueError as error:
        assert re.search(words, str(error)), error
    else:
        raise AssertionError(words)


def actors_of_this_process() -> list[int]:
    parents, actors = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(
                folder.joinpath("stat").read_text().split(") ")[1].split()[1]
            )
            if b"ray::MapWorker(MapBatches(_Actor)" in folder.joinpath("cmdline").read_bytes():
                actors.append(int(folder.name))
        except OSError:
            continue
    ours = []
    for actor in actors:
        process = actor
        while process in parents and process != os.getpid():
            process = parents[process]
        ours += [actor] if process == os.getpid() else []
    return ours


def forms() -> None:
    """Files of each form, local and of fsspec; the same command again computes nothing."""
    for kind, name in (("jsonl", "jsonl/*"), ("csv", "csv/*"), ("parquet", "parquet/*.parquet")):
        output = PLACE / f"answers-{kind}"
        errors = predict(str(READER), str(PLACE / name), str(output), **HOW)
        assert errors == FILES
        check(output, kind)
    output = PLACE / "answers-jsonl"
    files = sorted(output.iterdir())
    assert len(files) == FILES * ROWS / 32  # small files were not joined to one block
    assert predict(str(READER), str(PLACE / "jsonl/*"), str(output), **HOW) == FILES
    assert sorted(output.iterdir()) == files
    output = PLACE / "answers-zip"
    zipped = f"zip://*.jsonl::{PLACE}/all.zip"
    assert predict(str(READER), zipped, str(output), lines=True, **HOW) == FILES
    lines = PLACE / "lines.jsonl"
    lines.write_text("".join(path.read_text() for path in sorted(output.glob("*.jsonl"))))
    whole = read_predictions(lines)
    for path in sorted((PLACE / "jsonl").iterdir()):
        for key, one in read_predictions(PLACE / f"{path.name}.predictions").items():
            assert (whole[key].answer, whole[key].digest) == (one.answer, one.digest) or one.error


def limits() -> None:
    """What would wait for ever, or mix answers, is refused."""
    more = {**HOW, "actors": 9}
    words = r"room for 8 actors of 0.5 CPUs .* 6 CPUs, of which 2 read.*Received: actors=9"
    refused(words, READER, PLACE / "jsonl/*", PLACE / "none", **more)
    other = {**HOW, "options": {"max_length": 3}}
    refused(
        "of this model with these options", READER, PLACE / "csv/*", PLACE / "answers-csv", **other
    )


def killed_actor() -> None:
    output = PLACE / "killed-actor"
    killed: list[int] = []

    def kill() -> None:
        while not list(output.glob("*.parquet")):
            time.sleep(0.01)
        killed.extend(actors_of_this_process()[:1])
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    predict(str(READER), str(PLACE / "jsonl/*"), str(output), **HOW)
    thread.join()
    assert killed
    check(output)


def killed_driver() -> None:
    output = PLACE / "killed-driver"
    command = [sys.executable, __file__, str(PLACE), "one", str(output)]
    first = subprocess.Popen(command, env={**os.environ, "RAY_ADDRESS": ""})
    while len(list(output.glob("*.parquet"))) < 2:
        assert first.poll() is None
        time.sleep(0.01)
    first.kill()
    first.wait()
    time.sleep(5)  # until its processes have seen it
    committed = [
        path for path in Path(f"{output}.done").glob("*/*") if ".pending." not in path.name
    ]
    kept = sum(len(pd.read_parquet(path)) for path in committed)
    assert 0 < kept < FILES * ROWS
    before = {path.name for path in output.iterdir()}
    subprocess.run(command, check=True)
    check(output)
    computed = sum(len(pd.read_parquet(p)) for p in output.iterdir() if p.name not in before)
    assert kept + computed == FILES * ROWS, (kept, computed)


def full_disk() -> None:
    """In a name space of its own, with an output of 60 kB."""
    output = PLACE / "full"
    output.mkdir(exist_ok=True)
    program = (
        f"mount -t tmpfs -o size=60k none {output} && exec {sys.executable} {__file__} {PLACE}"
    )
    subprocess.run(["unshare", "-rm", "sh", "-c", f"{program} disk {output}"], check=True)


def main() -> None:
    if PART == "one":
        predict(str(READER), str(PLACE / "jsonl/*"), sys.argv[3], **HOW)
        return
    if PART == "disk":
        output = sys.argv[3]
        try:
            predict(str(READER), str(PLACE / "jsonl/*"), output, **HOW)
        except Exception as error:
            assert "No space left on device" in str(error), error
        else:
            raise AssertionError("it has written more than there is space for")
        subprocess.run(["mount", "-o", "remount,size=9m", output], check=True)
        predict(str(READER), str(PLACE / "jsonl/*"), output, **HOW)
        return check(Path(output))
    prepare()
    ray.init(num_cpus=6)
    for part in (forms, limits, killed_actor):
        part()
    ray.shutdown()
    killed_driver()
    full_disk()
    print("done", ray.__version__)


if __name__ == "__main__":
    main()
