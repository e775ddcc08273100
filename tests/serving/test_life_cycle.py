"""Versions come and go, and the server ends, without a failed request."""

import gc
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.serving.small_models import (
    Gate,
    wait_until,
    write_broken,
    write_certificate,
    write_echo,
    write_endless,
    write_words,
)
from tfmrc.predictors.model_config import find_models, read_model_config
from tfmrc.predictors.signature import SavedModel
from tfmrc.serving import (
    Client,
    Limits,
    ModelConfig,
    RequestError,
    Server,
    model_manager,
    server as server_module,
)

TIMEOUT = 3600  # a guard against hanging; a busy machine is slow


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Folders of three versions, to be copied."""
    folder = tmp_path_factory.mktemp("versions") / "echo"
    return {number: write_echo(folder, number) for number in (1, 2, 3)}


@pytest.fixture
def models(tmp_path, versions):
    shutil.copytree(versions[1], tmp_path / "models" / "echo" / "1")
    return tmp_path / "models"


def add(models, versions, number):
    shutil.copytree(versions[number], models / f".{number}")
    (models / f".{number}").rename(models / "echo" / str(number))


def serve(models, **options):
    return Server(models, port=0, **{"poll_seconds": 3600, **options})


def version_of(server, path=""):
    reply = httpx.post(
        f"{server.url}/v1/models/echo{path}:predict", json={"inputs": ["a"]}, timeout=TIMEOUT
    )
    return reply.json()["outputs"]["version"][0] if reply.status_code == 200 else reply.status_code


def states(server):
    reply = httpx.get(f"{server.url}/v1/models/echo", timeout=TIMEOUT).json()
    return {each["version"]: each["state"] for each in reply["model_version_status"]}


def test_a_new_version_replaces_the_old_one_after_its_last_request(models, versions):
    with serve(models) as server, ThreadPoolExecutor() as threads:
        gate = Gate(server, "echo")
        old = threads.submit(version_of, server)
        gate.begun.wait()
        add(models, versions, 2)
        server.manager.poll()
        assert states(server) == {"2": "AVAILABLE", "1": "UNLOADING"}
        assert version_of(server) == 2
        assert version_of(server, "/versions/1") == 404
        gate.open()
        assert old.result() == 1
        assert states(server) == {"2": "AVAILABLE", "1": "END"}
        shutil.rmtree(models / "echo" / "1")
        server.manager.poll()
        assert states(server) == {"2": "AVAILABLE"}


def test_no_request_fails_while_versions_change(models, versions):
    answered, ended = [], threading.Event()

    def ask(server):
        with httpx.Client(timeout=TIMEOUT) as client:
            while not ended.is_set():
                reply = client.post(f"{server.url}/v1/models/echo:predict", json={"inputs": ["a"]})
                answered.append(
                    reply.json()["outputs"]["version"][0] if reply.is_success else reply.text
                )

    with serve(models, poll_seconds=0.02) as server:
        threads = [threading.Thread(target=ask, args=(server,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in (2, 3):
            add(models, versions, number)
            wait_until(lambda n=number: answered and answered[-1] == n)
        shutil.rmtree(models / "echo" / "3")  # back to the version before
        wait_until(lambda: answered[-1] == 2)
        ended.set()
        for thread in threads:
            thread.join()
    assert set(answered) == {1, 2, 3}


def test_a_folder_that_goes_away_while_it_is_read_is_looked_at_again(
    models, versions, monkeypatch, caplog
):
    with serve(models) as server:
        add(models, versions, 2)
        with monkeypatch.context() as patch:

            def gone(path):
                raise FileNotFoundError(f"No such file: {path}")

            patch.setattr(model_manager, "fingerprint", gone)
            server.manager.poll()
        assert "echo is looked at again: No such file" in caplog.text
        assert states(server) == {"1": "AVAILABLE"}
        server.manager.poll()
        assert states(server) == {"2": "AVAILABLE", "1": "END"}


def test_the_signatures_of_a_version_whose_folder_is_gone_are_told(models):
    with serve(models) as server:
        shutil.rmtree(models)
        reply = httpx.get(f"{server.url}/v1/models/echo/metadata", timeout=TIMEOUT)
        assert reply.status_code == 200
        assert list(reply.json()["metadata"]["signature_def"]["signature_def"]) == [
            "serving_default"
        ]
        assert version_of(server) == 1


def test_a_broken_version_is_refused_and_the_old_one_stays(models, versions, caplog):
    with serve(models) as server:
        broken = write_broken(models / "echo", 2)
        for _ in range(3):  # seen, seen unchanged and tried, not tried again
            server.manager.poll()
        assert caplog.text.count("echo version 2 is refused") == 1, "it is tried again only changed"
        assert states(server) == {"2": "END", "1": "AVAILABLE"}
        assert version_of(server) == 1
        reply = httpx.get(f"{server.url}/v1/models/echo/versions/2").json()
        assert "damaged" in reply["model_version_status"][0]["status"]["error_message"]
        assert httpx.get(f"{server.url}/readyz").status_code == 200
        shutil.rmtree(broken)
        add(models, versions, 2)
        server.manager.poll()
        assert states(server) == {"2": "AVAILABLE", "1": "END"}


def test_a_start_with_a_broken_version_serves_the_one_before(models):
    write_broken(models / "echo", 2)
    with serve(models) as server:
        assert version_of(server) == 1
    shutil.rmtree(models / "echo" / "1")
    with pytest.raises(ValueError, match="cannot be loaded as a SavedModel"):
        serve(models)


def test_a_version_whose_warm_up_fails_is_refused(models):
    write_echo(models / "echo", 2, warm_up=["bad"])
    with serve(models) as server:
        assert states(server) == {"2": "END", "1": "AVAILABLE"}
        assert "The text is bad." in server.manager.versions("echo", 2)[0].error
    with serve(models, warm_up=False) as server:
        assert version_of(server) == 2


@pytest.fixture
def batchers(monkeypatch):
    """All batchers of the test's servers."""
    made = []

    class Recorded(model_manager.Batcher):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            made.append(self)

    monkeypatch.setattr(model_manager, "Batcher", Recorded)
    return made


def test_a_version_whose_warm_up_fails_leaves_no_thread_and_no_model(models, batchers, monkeypatch):
    loaded = []

    def load(path):
        model = SavedModel(path)
        loaded.append(weakref.ref(model.signature("serving_default")))
        return model

    monkeypatch.setattr(model_manager, "SavedModel", load)
    broken = write_echo(models / "echo", 2, warm_up=["bad"])
    with serve(models) as server:
        for text in ("changed", "changed again"):
            (broken / "assets.extra" / "notes.txt").write_text(text)
            server.manager.poll()
        refused = [True, False, True, True]  # the second is version 1, which is served
        assert [batcher._closed for batcher in batchers] == refused
        while batchers:
            batcher = batchers.pop()
            if batcher._closed:
                batcher.join()
        del batcher
        gc.collect()
        assert [signature() is None for signature in loaded] == refused
        assert "The text is bad." in str(server.manager.versions("echo", 2)[0].exception)


WORDS = "a hill and its valley".split()


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The folder of a version 2 with a vocabulary, to be copied."""
    return write_words(tmp_path_factory.mktemp("words") / "echo", 2, WORDS)


def copy_half(words, models):
    """Copies all but `assets.extra`, and a part of the vocabulary: `cp -r` that is not done."""
    copy = models / "echo" / "2"
    shutil.copytree(words, copy, ignore=shutil.ignore_patterns("assets.extra"))
    cut_vocabulary(copy, 2)
    return copy


def cut_vocabulary(folder, count):
    (folder / "assets" / "vocabulary.txt").write_text("\n".join(WORDS[:count]), encoding="utf-8")


def lines_of(server, path=""):
    reply = httpx.post(
        f"{server.url}/v1/models/echo{path}:predict", json={"inputs": WORDS}, timeout=TIMEOUT
    )
    return reply.json()["outputs"]["line"]


def test_a_copy_is_not_loaded_before_its_end(models, words):
    with serve(models) as server:
        copy = copy_half(words, models)
        for count in (3, 4):
            server.manager.poll()
            assert states(server) == {"2": "START", "1": "AVAILABLE"}
            assert (version_of(server), version_of(server, "/versions/2")) == (1, 503)
            cut_vocabulary(copy, count)
        shutil.copytree(words, copy, dirs_exist_ok=True)
        server.manager.poll()  # with a manifest it is verified, and waits for no second poll
        assert states(server) == {"2": "AVAILABLE", "1": "END"}
        assert lines_of(server) == [0, 1, 2, 3, 4]


def test_a_copy_that_rested_is_replaced_when_it_goes_on(models, words, caplog):
    with serve(models) as server, ThreadPoolExecutor() as threads:
        copy = copy_half(words, models)
        for _ in range(2):
            server.manager.poll()
        assert states(server) == {"2": "AVAILABLE", "1": "END"}
        assert lines_of(server) == [0, 1, -1, -1, -1]
        gate = Gate(server, "echo")
        running = threads.submit(lines_of, server)
        gate.begun.wait()

        shutil.copytree(words / "assets.extra", copy / "assets.extra")
        for _ in range(2):
            server.manager.poll()
        assert caplog.text.count("version 2 is refused: DamagedError") == 1
        (version,) = server.manager.versions("echo", 2)
        assert version.state == "AVAILABLE" and "vocabulary.txt has" in version.error

        shutil.copytree(words, copy, dirs_exist_ok=True)
        server.manager.poll()
        assert lines_of(server) == [0, 1, 2, 3, 4]
        (version,) = server.manager.versions("echo", 2)
        assert (version.state, version.error) == ("AVAILABLE", "")
        gate.open()
        assert running.result() == [0, 1, -1, -1, -1], "a running request ends with what it began"
        cut_vocabulary(copy, 3)
        for _ in range(2):
            server.manager.poll()
        assert lines_of(server) == [0, 1, 2, 3, 4], "what was verified is not loaded again"


def test_exports_of_other_libraries_are_served_and_replaced(models, words, monkeypatch):
    monkeypatch.setattr(server_module, "START_SECONDS", 0.0)
    copy = copy_half(words, models)
    write_broken(models / "other", 1)
    with serve(models) as server:
        assert states(server) == {"2": "AVAILABLE", "1": "END"}
        cut_vocabulary(copy, 5)
        server.manager.poll()
        assert lines_of(server) == [0, 1, -1, -1, -1], "the files may still change"
        server.manager.poll()
        assert lines_of(server) == [0, 1, 2, 3, 4]
        shutil.rmtree(copy)
        server.manager.poll()
        assert version_of(server) == 1
    shutil.rmtree(models / "echo")
    with pytest.raises(ValueError, match="cannot be loaded as a SavedModel"):
        serve(models)


def test_an_older_version_that_is_not_needed_is_not_waited_for(models, words, monkeypatch):
    monkeypatch.setattr(server_module, "START_SECONDS", 0.0)
    copy_half(words, models)
    shutil.rmtree(models / "echo" / "1" / "assets.extra")
    with serve(models) as server:
        assert states(server) == {"2": "AVAILABLE"}
        assert version_of(server, "/versions/1") == 404


def test_an_older_version_that_is_served_is_replaced_when_its_files_change(
    models, words, monkeypatch
):
    monkeypatch.setattr(server_module, "START_SECONDS", 0.0)
    copy = copy_half(words, models)  # without a manifest, which would be verified and stay
    write_broken(models / "echo", 3)
    with serve(models) as server:  # 1 at the first poll, at which 2 may still be copied
        assert states(server) == {"3": "END", "2": "AVAILABLE", "1": "END"}
        assert lines_of(server) == [0, 1, -1, -1, -1]
        cut_vocabulary(copy, 5)
        for _ in range(2):
            server.manager.poll()
        assert lines_of(server) == [0, 1, 2, 3, 4]
        assert states(server) == {"3": "END", "2": "AVAILABLE", "1": "END"}


def test_a_server_does_not_start_with_a_half_of_a_copy(models, words, monkeypatch):
    copy = copy_half(words, models)
    shutil.rmtree(models / "echo" / "1")
    monkeypatch.setattr(server_module, "START_SECONDS", 0.0)
    poll = model_manager.ModelManager.poll

    def poll_and_copy(manager):
        poll(manager)
        cut_vocabulary(copy, 4)

    monkeypatch.setattr(model_manager.ModelManager, "poll", poll_and_copy)
    with pytest.raises(ValueError, match=r"echo/2 is still being written: its files change\."):
        serve(models)


def test_models_are_added_and_removed_while_serving(models, versions):
    with serve(models) as server:
        shutil.copytree(versions[3], models / "other" / "3")
        server.manager.poll()
        assert server.manager.names == ["echo", "other"]
        shutil.rmtree(models / "other")
        server.manager.poll()
        assert server.manager.names == ["echo"]
        shutil.move(models, models.with_name("away"))
        server.manager.poll()
        assert version_of(server) == 1, "a folder that is away for a moment changes nothing"


def test_the_list_of_models_lacks_one_that_goes_away_meanwhile(models, versions):
    shutil.copytree(versions[3], models / "other" / "3")
    with serve(models) as server:
        use = server.manager.use

        def use_later(name):
            if name == "echo":
                server.manager._remove(["echo"])
            return use(name)

        server.manager.use = use_later
        reply = httpx.get(f"{server.url}/v1/models", timeout=TIMEOUT)
        assert reply.status_code == 200
        assert [each["name"] for each in reply.json()["models"]] == ["other"]


def test_versions_and_labels_of_a_models_config(models, versions, tmp_path):
    for number in (2, 3):
        add(models, versions, number)
    config = tmp_path / "models.config"
    config.write_text(
        'model_config_list { config { name: "echo" base_path: "models/echo" '
        "model_version_policy { specific { versions: 1 versions: 2 } } "
        'version_labels { key: "stable" value: 1 } version_labels { key: "canary" value: 2 } } }'
    )
    with serve(read_model_config(config)) as server:
        assert version_of(server) == 2
        assert version_of(server, "/versions/1") == 1
        assert version_of(server, "/labels/stable") == 1
        assert version_of(server, "/labels/canary") == 2
        assert version_of(server, "/labels/nightly") == 404
        assert version_of(server, "/versions/3") == 404
    latest = ModelConfig("echo", models / "echo", num_versions=2)
    assert list(latest.selected()) == [3, 2]
    config.write_text("model_config_list { confg {} }")
    with pytest.raises(ValueError, match="models.config is no model configuration: .*confg"):
        read_model_config(config)


def test_the_number_of_a_folder_is_its_version_also_0(models):
    (models / "echo" / "1").rename(models / "echo" / "0")
    assert list(ModelConfig("echo", models / "echo").found()) == [0]
    assert list(ModelConfig("echo", models / "echo" / "0").found()) == [0]


def test_models_are_found_from_every_level(models):
    for folder in (models, models / "echo", models / "echo" / "1"):
        (model,) = find_models(folder)
        assert (model.name, list(model.found())) == ("echo", [1])
    assert find_models(models.parent / "models" / "echo" / "1" / "variables") == []
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        find_models(models / "none")
    with pytest.raises(ValueError, match="neither a colon nor a slash"):
        ModelConfig("a:b", models)


def test_liveness_and_readiness(models):
    with serve(models) as server:
        assert httpx.get(f"{server.url}/healthz").text == "live\n"
        assert httpx.get(f"{server.url}/readyz").text == "ready\n"
        server.service.stopping = True
        assert httpx.get(f"{server.url}/readyz").status_code == 503
        assert httpx.get(f"{server.url}/healthz").status_code == 200


def test_stopping_finishes_running_requests(models):
    with ThreadPoolExecutor() as threads:
        with serve(models, grpc_port=0, limits=Limits(drain_seconds=TIMEOUT)) as server:
            gate = Gate(server, "echo")
            running = threads.submit(version_of, server)
            gate.begun.wait()
            server.stop()
            gate.open()
        assert running.result() == 1
        with pytest.raises(httpx.ConnectError):
            version_of(server)
        with pytest.raises(RequestError, match="Not served"):
            server.manager.versions("echo")


def test_stopping_twice_finishes_running_requests(models):
    """Leaving the block stops the server again, which is no second signal."""
    with ThreadPoolExecutor() as threads:
        with serve(models, limits=Limits(drain_seconds=TIMEOUT)) as server:
            gate = Gate(server, "echo")
            running = threads.submit(version_of, server)
            gate.begun.wait()
            server.stop()
            server.stop()
            wait_until(lambda: server.service.stopping)
            threading.Timer(0.5, gate.open).start()
        assert running.result() == 1


@pytest.mark.parametrize(("seconds", "signals"), [(0.1, 1), (TIMEOUT, 2)])
def test_a_stop_waits_for_a_version_that_is_loaded_as_for_requests(
    seconds, signals, models, versions, monkeypatch
):
    begun, go = threading.Event(), threading.Event()
    load = model_manager.ModelManager._load_files

    def held(self, name, path):
        begun.set()
        go.wait(TIMEOUT)
        return load(self, name, path)

    limits = Limits(drain_seconds=seconds)
    with serve(models, poll_seconds=0.01, limits=limits) as server:
        monkeypatch.setattr(model_manager.ModelManager, "_load_files", held)
        add(models, versions, 2)
        begun.wait()
        for _ in range(signals):
            server._loop.call_soon_threadsafe(server._signalled)
    assert not server.manager.has_ended(0)
    go.set()
    assert server.manager.has_ended(TIMEOUT)
    assert server.manager.names == [], "what was loaded meanwhile is unloaded"


def test_a_request_that_takes_too_long_to_finish_is_told_that_the_server_stops(models):
    with ThreadPoolExecutor() as threads:
        with serve(models, limits=Limits(drain_seconds=1)) as server:
            gate = Gate(server, "echo")
            running = threads.submit(version_of, server)
            gate.begun.wait()
            server.stop()
            assert running.result() == 503
            gate.open()


def assert_closed(server, batcher):
    """Asserts that nothing of a server is left: no model, no thread, no port."""
    assert server.manager.known == []
    assert batcher._closed
    batcher.join()
    for address in filter(None, (server.url, server.grpc_url)):
        port = int(address.rpartition(":")[2])
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def batcher_of(server):
    with server.manager.use("echo") as version:
        return version.loaded.batcher


@pytest.mark.parametrize("grpc_port", [None, 0])
def test_a_server_whose_certificate_is_gone_does_not_start(models, tmp_path, grpc_port):
    certificate, key = write_certificate(tmp_path)
    server = serve(models, grpc_port=grpc_port, certificate=certificate, private_key=key)
    batcher = batcher_of(server)
    certificate.unlink()
    with pytest.raises(FileNotFoundError), server:
        pass
    assert_closed(server, batcher)


@pytest.mark.parametrize("ports", [{"port": -1}, {"port": 65536}, {"grpc_port": 99999}])
def test_a_port_that_does_not_exist_is_refused(models, ports):
    (number,) = ports.values()
    with pytest.raises(ValueError, match=f"^A port is from 0 to 65535. Received: {number}$"):
        Server(models, **{"port": 0, **ports})


def test_grpc_ends_if_rest_does_not_start(models, monkeypatch):
    server = serve(models, grpc_port=0)
    batcher = batcher_of(server)

    async def fail(sockets):
        raise OSError("REST cannot start.")

    monkeypatch.setattr(server._uvicorn, "startup", fail)
    with pytest.raises(OSError, match="REST cannot start"), server:
        pass
    assert_closed(server, batcher)


def test_a_server_with_a_model_that_cannot_be_loaded_closes_the_others(models, batchers):
    write_echo(models / "echo", 2, warm_up=["bad"])
    folders = {"echo": models / "echo" / "1", "other": models / "echo" / "2"}
    with pytest.raises(RequestError, match=r"The text is bad\."):
        serve(folders)
    assert batchers[0]._closed


PROGRAM = """
import json, sys, threading
from tests.serving.small_models import Gate
from tfmrc import cli
from tfmrc.serving import Server

start = Server.serve_forever

def held(server, tell):
    gate = Gate(server, "echo")
    def open_after_the_signal():
        gate.begun.wait()
        print("begun", flush=True)
        sys.stdin.readline()
        gate.open()
    threading.Thread(target=open_after_the_signal, daemon=True).start()
    start(server, tell)

Server.serve_forever = held
sys.exit(cli.main(["serve", sys.argv[1], "--port", "0", "--grpc-port", "0"]))
"""


def test_sigterm_finishes_running_requests_and_ends_with_0(models):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    with (
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(models)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            env=environment,
        ) as process,
        ThreadPoolExecutor() as threads,
    ):
        assert process.stdout.readline() == "Models: echo\n"
        url = process.stdout.readline().split()[-1]
        assert process.stdout.readline().startswith("gRPC: grpc://127.0.0.1:")
        running = threads.submit(
            httpx.post,
            f"{url}/v1/models/echo:predict",
            json={"instances": ["a secret text"]},
            timeout=TIMEOUT,
        )
        assert process.stdout.readline() == "Stop with Ctrl+C.\n"
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        process.stdin.write("\n")
        process.stdin.flush()
        assert running.result().json() == {
            "predictions": [{"text": "a secret text!", "version": 1}]
        }
        _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert "secret" not in errors and "Traceback" not in errors
    (line,) = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
    assert (line["method"], line["model"], line["rows"], line["status"]) == (
        "predict",
        "echo",
        1,
        200,
    )


@pytest.mark.parametrize("protocol", ["REST", "gRPC"])
def test_a_second_signal_does_not_wait_for_what_is_computed(protocol, tmp_path):
    write_endless(tmp_path / "models" / "endless")
    limits = [f"{name}_seconds={TIMEOUT}" for name in ("drain", "receive")]
    words = ["serve", str(tmp_path / "models"), "--port=0", "--grpc-port=0", "--limit", *limits]
    with (
        subprocess.Popen(
            [sys.executable, "-m", "tfmrc", *words, f"seconds={TIMEOUT}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        ) as process,
        ThreadPoolExecutor() as threads,
    ):
        try:
            lines = [process.stdout.readline().split() for _ in range(4)]
            rest, grpc = lines[1][-1], lines[2][-1]
            url = rest if protocol == "REST" else grpc
            client = Client("endless", url, timeout=TIMEOUT, retries=0)
            client.run({"steps": [1]})
            running = threads.submit(client.run, {"steps": [2**31 - 1]})
            wait_until(lambda: "tfmrc_requests_running 1.0" in metrics(rest))
            process.send_signal(signal.SIGTERM)
            wait_until(lambda: metrics(rest) == "")
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=TIMEOUT)
        finally:
            process.kill()
        with pytest.raises(RequestError, match="answered 503"):
            running.result()
    assert process.returncode == 0
    assert "Traceback" not in errors


def metrics(url):
    """Returns the metrics of a server, "" if it does not listen any more."""
    try:
        return httpx.get(f"{url}/monitoring/prometheus/metrics", timeout=TIMEOUT).text
    except httpx.TransportError:
        return ""
