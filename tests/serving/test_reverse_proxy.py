"""The configuration of nginx in docs/how-to/serving.md, started and attacked."""

import os
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from tests.serving.small_models import write_echo
from tfmrc.serving import Client, Server

TIMEOUT = 600
SITE = "https://hills.example"
FRAME = """
daemon off; pid {folder}/pid; error_log stderr;
events {{}}
http {{
access_log off;
client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
{content}
}}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """The address of nginx before a server with a key, and nginx's certificate."""
    program = os.environ.get("TFMRC_NGINX") or shutil.which("nginx", path="/usr/sbin:/usr/bin")
    assert program, "install Debian's package nginx, or set TFMRC_NGINX"
    folder = tmp_path_factory.mktemp("nginx")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 "
        f"-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {certificate}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    (folder / "models" / "echo").mkdir(parents=True)
    write_echo(folder / "models" / "echo", 1)
    page = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    content = page.partition("conf.d/tfmrc.conf`:")[2].partition("\n## ")[0]
    port = free_port()
    with Server(folder / "models", port=0, api_key="KEY-OF-THE-SERVER") as server:
        for old, new in (
            ("listen 443", f"listen 127.0.0.1:{port}"),
            ("/etc/letsencrypt/live/models.example/fullchain.pem", str(certificate)),
            ("/etc/letsencrypt/live/models.example/privkey.pem", str(key)),
            ("http://127.0.0.1:8501", server.url),
            ("rate=10r/s", "rate=10r/m"),  # a busy machine is slow
        ):
            assert content.count(old) == 1
            content = content.replace(old, new)
        (folder / "nginx.conf").write_text(FRAME.format(folder=folder, content=content))
        words = [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]
        with subprocess.Popen(words) as process:
            for _ in range(1000):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.01)
            yield f"https://127.0.0.1:{port}", str(certificate)
            process.terminate()


@pytest.mark.slow
def test_the_proxy_has_keys_sites_and_rates(proxy):
    url, certificate = proxy
    options = {"certificate": certificate, "timeout": TIMEOUT}
    with Client("echo", url, **options) as stranger:
        with pytest.raises(ConnectionError, match="certificate"):
            Client("echo", url, timeout=TIMEOUT).status()
        with pytest.raises(Exception, match="answered 401"):
            stranger.run({"text": ["a"]})
    context = ssl.create_default_context(cafile=certificate)
    with httpx.Client(base_url=url, verify=context, timeout=TIMEOUT) as client:

        def post(**headers):
            path, body = "/v1/models/echo:predict", {"inputs": ["a"]}
            return client.post(path, json=body, headers={"x-api-key": "KEY-OF-ANNA", **headers})

        assert post().json()["outputs"]["text"] == ["a!"]
        allowed = "access-control-allow-origin"
        assert post(origin=SITE).headers[allowed] == SITE
        assert allowed not in post(origin="https://x.example").headers
        assert client.options("/v1/models", headers={"origin": SITE}).headers[allowed] == SITE
        assert {post().status_code for _ in range(40)} == {200, 429}


@pytest.mark.slow
def test_the_proxy_closes_slow_heads(proxy):
    url, certificate = proxy
    port = int(url.rpartition(":")[2])
    context = ssl.create_default_context(cafile=certificate)
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as plain:
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as slow:
            slow.sendall(b"POST / HT")
            assert slow.recv(1000) == b""
