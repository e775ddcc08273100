"""Versions come and go, and the server ends, without a failed request."""

import json
import shutil
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.serving.small_models import (
    Gate,
    served,
    wait_until,
    write_broken,
    write_echo,
    write_endless,
    write_words,
)
from tfmrc.serving import Client, Limits, Server

TIMEOUT = 3600  # a guard against hanging; a busy machine is slow


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Folders of versions, to be copied; the last one's warm-up fails."""
    folder = tmp_path_factory.mktemp("versions") / "echo"
    written = {number: write_echo(folder, number) for number in (1, 2, 3)}
    return {**written, 4: write_echo(folder, 4, warm_up=["bad"])}


@pytest.fixture
def models(tmp_path, versions):
    shutil.copytree(versions[1], tmp_path / "models" / "echo" / "1")
    return tmp_path / "models"


@pytest.fixture
def batchers():
    """Function that counts the threads of batchers that have begun in the test."""
    before = set(threading.enumerate())
    return lambda: sum(t.name == "tfmrc-batches" for t in set(threading.enumerate()) - before)


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
        shutil.move(models / "echo" / "2", models / ".2")
        server.manager.poll()  # back to the version that still computes
        assert states(server) == {"1": "AVAILABLE"}
        shutil.move(models / ".2", models / "echo" / "2")
        server.manager.poll()
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


def test_a_folder_that_goes_away_is_read_again(models, versions):
    with serve(models) as server:
        add(models, versions, 2)
        shutil.move(models, models.with_name("away"))
        server.manager.poll()
        assert version_of(server) == 1
        shutil.move(models.with_name("away"), models)
        server.manager.poll()
        assert states(server) == {"2": "AVAILABLE", "1": "END"}


def test_a_broken_version_is_refused_and_the_old_one_stays(models, versions, batchers, caplog):
    with serve(models) as server:
        broken = write_broken(models / "echo", 2)
        for _ in range(3):  # seen, seen unchanged and tried, not tried again
            server.manager.poll()
        assert caplog.text.count("echo version 2 is refused") == 1, "it is tried again only changed"
        assert states(server) == {"2": "END", "1": "AVAILABLE"}
        assert version_of(server) == 1
        reply = httpx.get(f"{server.url}/v1/models/echo/versions/2").json()
        assert "damaged" in reply["model_version_status"][0]["status"]["error_message"]
        shutil.rmtree(broken)
        add(models, versions, 4)
        server.manager.poll()
        assert states(server) == {"4": "END", "1": "AVAILABLE"}
        assert "The text is bad." in server.manager.versions("echo", 4)[0].error
        shutil.rmtree(models / "echo" / "4")
        add(models, versions, 2)
        server.manager.poll()
        assert states(server) == {"2": "AVAILABLE", "1": "END"}
        wait_until(lambda: batchers() == 2)
    write_broken(models / "echo", 3)
    with pytest.raises(ValueError, match="echo is not served: ValueError: .* cannot be loaded"):
        serve(models, poll_seconds=0.01)


WORDS = "a hill and its valley".split()


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The folder of a version 2 with a vocabulary, to be copied."""
    return write_words(tmp_path_factory.mktemp("words") / "echo", 2, WORDS)


def cut_vocabulary(folder, count):
    (folder / "assets" / "vocabulary.txt").write_text("\n".join(WORDS[:count]), encoding="utf-8")


def lines_of(server):
    reply = httpx.post(
        f"{server.url}/v1/models/echo:predict", json={"inputs": WORDS}, timeout=TIMEOUT
    )
    return reply.json()["outputs"]["line"]


@pytest.mark.parametrize("has_manifest", [True, False])
def test_a_copy_is_not_loaded_before_its_end(models, words, has_manifest):
    """Without a manifest it may be an export of another library."""
    copy = models / "echo" / "2"
    with serve(models) as server:
        for count in (2, 3, 4):
            shutil.copytree(
                words, copy, ignore=shutil.ignore_patterns("assets.extra"), dirs_exist_ok=True
            )
            cut_vocabulary(copy, count)
            server.manager.poll()
            assert states(server) == {"2": "START", "1": "AVAILABLE"}
            assert (version_of(server), version_of(server, "/versions/2")) == (1, 503)
        cut_vocabulary(copy, 5)
        if has_manifest:  # it is verified, and waits for no second poll
            shutil.copytree(words, copy, dirs_exist_ok=True)
        else:
            server.manager.poll()
        server.manager.poll()
        assert states(server) == {"2": "AVAILABLE", "1": "END"}
        assert lines_of(server) == [0, 1, 2, 3, 4]
    with serve(models, poll_seconds=0.01) as server:
        assert lines_of(server) == [0, 1, 2, 3, 4]


def test_models_are_added_and_removed_while_serving(models, versions):
    shutil.copytree(versions[4], models / "broken" / "4")  # which takes no other down
    with serve(models) as server:
        shutil.copytree(versions[3], models / "other" / "3")
        server.manager.poll()
        assert server.manager.names == ["echo", "other"]
        listed = httpx.get(f"{server.url}/v1/models", timeout=TIMEOUT).json()["models"]
        assert [model["name"] for model in listed] == ["echo", "other"]
        shutil.rmtree(models / "other")
        server.manager.poll()
        assert server.manager.names == ["echo"]
        shutil.rmtree(models / "echo" / "1")
        server.manager.poll()
        assert (server.manager.names, version_of(server)) == ([], 404)
        assert httpx.get(f"{server.url}/readyz", timeout=TIMEOUT).status_code == 503


def test_stopping_finishes_running_requests(models, batchers):
    """Leaving the block stops the server again, which is no second signal."""
    with ThreadPoolExecutor() as threads:
        with serve(models, grpc_port=0, limits=Limits(drain_seconds=TIMEOUT)) as server:
            assert httpx.get(f"{server.url}/readyz").text == "ready\n"
            gate = Gate(server, "echo")
            running = threads.submit(version_of, server)
            gate.begun.wait()
            server.stop()
            wait_until(lambda: server.service.stopping)
            threading.Timer(0.2, gate.open).start()
        assert running.result() == 1
    assert_closed(server, batchers)


def test_a_request_that_takes_too_long_to_finish_is_told_that_the_server_stops(models):
    with ThreadPoolExecutor() as threads:
        with serve(models, limits=Limits(drain_seconds=1)) as server:
            gate = Gate(server, "echo")
            running = threads.submit(version_of, server)
            gate.begun.wait()
            server.stop()
            assert running.result() == 503
            gate.open()


def assert_closed(server, batchers):
    """Asserts that nothing of a server is left: no model, no thread, no port."""
    assert server.manager.names == []
    wait_until(lambda: batchers() == 0)
    for address in filter(None, (server.url, server.grpc_url)):
        port = int(address.rpartition(":")[2])
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


@pytest.mark.parametrize(("steps", "signals"), [(300, 1), (2**31 - 1, 2)])
def test_a_signal_finishes_running_requests_and_a_second_one_does_not(tmp_path, steps, signals):
    write_endless(tmp_path / "endless")
    limits = [f"{name}={TIMEOUT}" for name in ("drain_seconds", "seconds")]
    limits.append(f"grace_seconds={1 if signals == 1 else 0}")
    with ThreadPoolExecutor() as threads, served(tmp_path, "--limit", *limits) as started:
        process, url, _ = started
        with Client("endless", url, timeout=TIMEOUT, retries=0) as client:
            client.run({"steps": [1]})
            running = threads.submit(client.run, {"steps": [steps]})
            wait_until(lambda: "tfmrc_requests_running 1.0" in metrics(url))
            process.send_signal(signal.SIGTERM)
            if signals == 1:  # it says that it is not ready, and still answers
                wait_until(lambda: httpx.get(f"{url}/readyz", timeout=TIMEOUT).is_error)
                assert len(client.run({"steps": [2]})["total"]) == 1
            if signals == 2:
                wait_until(lambda: metrics(url) == "")
                process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=TIMEOUT)
            if signals == 2:
                assert running.exception().status == 503
            else:
                assert len(running.result()["total"]) == 1
    assert process.returncode == 0
    assert "Traceback" not in errors
    lines = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
    predicted = [line["status"] for line in lines if line["method"] == "predict"]
    assert predicted == [200] * (5 - 2 * signals)


def metrics(url):
    """Returns the metrics of a server, "" if it does not listen any more."""
    try:
        return httpx.get(f"{url}/monitoring/prometheus/metrics", timeout=TIMEOUT).text
    except httpx.TransportError:
        return ""
