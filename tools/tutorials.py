"""Runs the tutorials, and writes into each page what its blocks print.

    python tools/tutorials.py [docs/tutorials/first_answer.md ...] [--to FOLDER]

A page is one program that runs in an empty folder: its blocks of Python share their names, its
blocks of shell are commands, and a block `text` directly after one of them is what it printed.
Pictures that a page shows and its program writes are stored in docs/images/tutorials.
"""

import argparse
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
PICTURES = ROOT / "docs" / "images" / "tutorials"
BLOCK = re.compile(
    r"^```(?P<language>python|shell)\n(?P<code>.*?)^```\n(?:\n```text\n.*?^```\n)?",
    re.MULTILINE | re.DOTALL,
)
SHOWN = re.compile(r"\]\(\.\./images/tutorials/([^)]+)\)")
PORTS = {"--port": "8501", "--grpc-port": "8500"}


class Session:
    """The reader's Python, terminal and servers."""

    def __init__(self, stack: contextlib.ExitStack):
        self.stack = stack
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.addresses: dict[str, str] = {}
        """The address on the page -> that of the running server."""

    def run(self, language: str, code: str) -> str:
        """Returns what a block prints."""
        for shown, address in self.addresses.items():
            code = code.replace(shown, address)
        output = self.python(code) if language == "python" else self.shell(code)
        for shown, address in self.addresses.items():
            output = output.replace(address, shown)
        return output.replace(f"{Path.cwd()}/", "").replace("\ufeff", "")

    def python(self, code: str) -> str:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, "<page>", "exec"), self.names)
        return output.getvalue()

    def shell(self, code: str) -> str:
        if code.startswith("tfmrc serve"):
            self.serve(code)
            return ""
        done = subprocess.run(["bash", "-ec", code], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    def serve(self, command: str) -> None:
        """Starts a server on free ports."""
        free = [word for port in PORTS for word in (port, "0")]
        server = subprocess.Popen(
            [*command.partition("#")[0].split(), *free], stdout=subprocess.PIPE, text=True
        )
        self.stack.callback(server.wait)
        self.stack.callback(server.terminate)
        for line in server.stdout or ():
            if found := re.search(r"(REST|gRPC).*?([\d.]+:\d+)$", line):
                port = PORTS["--port" if found[1] == "REST" else "--grpc-port"]
                self.addresses[f"127.0.0.1:{port}"] = found[2]
            if line.startswith("Stop with"):
                return
        raise RuntimeError(f"{command} ended with {server.wait()}")


def with_outputs(page: str) -> str:
    """Runs a page in the working folder; returns it with what its blocks print."""
    with contextlib.ExitStack() as stack:
        session = Session(stack)

        def block(match: re.Match[str]) -> str:
            print(match["code"], file=sys.stderr, flush=True)
            output = session.run(match["language"], match["code"]).strip("\n")
            shown = "\n".join(line.rstrip() for line in output.splitlines())
            code = f"```{match['language']}\n{match['code']}```\n"
            return f"{code}\n```text\n{shown}\n```\n" if shown else code

        return BLOCK.sub(block, page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, default=sorted(TUTORIALS.glob("*.md")))
    parser.add_argument("--to", type=Path, help="write pages and pictures here instead")
    options = parser.parse_args()
    programs = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([programs, os.environ["PATH"]])
    os.environ["PYTHONPATH"] = str(ROOT)
    os.environ["no_proxy"] = "127.0.0.1,localhost"
    for page in [path.resolve() for path in options.pages]:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            text = with_outputs(page.read_text(encoding="utf-8"))
            ((options.to or page.parent) / page.name).write_text(text, encoding="utf-8")
            for name in SHOWN.findall(text):
                shutil.copyfile(name, (options.to or PICTURES) / name)


if __name__ == "__main__":
    main()
