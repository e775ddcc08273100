"""pytest plugin: runs test files in forks of a process that has imported everything.

A process that runs tests keeps compiled functions, caches and the peaks of its allocator. As soon
as it is larger than `LIMIT_MIB` after a file, it ends, and the next file runs in a new one, which
begins with the memory of the imports and does not import again:

    python -m pytest -n 2 -p tests.forked

With xdist each worker forks processes of its own, one at a time. A process that is killed fails the
test that it was running, and the others go on. Debuggers and coverage need the tests in the process
itself: leave the plugin out.
"""

import os
import sys
import warnings
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import pytest

LIMIT_MIB = 1200
NAME = "forked files"
_REPORTERS = ("WorkerInteractor", "TerminalReporter", "LogXML")


def resident_mib() -> float:
    """Returns the resident memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class Messages:
    """Collects what the plugins of a forked process would report."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.reports: list[Any] = []
        self.warnings: list[Any] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.reports.append(data)

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        said = warning_message
        text = Warning(str(said.message))  # a category need not be one that can be pickled
        self.warnings.append((text, said.category.__name__, said.filename, said.lineno, nodeid))


class Child:
    """A forked process that runs tests one after the other, until it has grown too large."""

    def __init__(self, session: pytest.Session) -> None:
        self.pipe, other = Pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            with suppress(BaseException):  # the parent sees that the pipe has ended
                self.pipe.close()
                _serve(session, other)
                status = 0
            os._exit(status)
        other.close()

    def run(self, index: int, next_index: int | None) -> Any:
        """Returns the reports and warnings of a test, and whether the process ends after it."""
        self.pipe.send((index, next_index))
        return self.pipe.recv()

    def wait(self) -> int:
        """Returns the exit status of the process that has ended; negative: a signal."""
        self.pipe.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _serve(session: pytest.Session, pipe: Connection) -> None:
    config = session.config
    manager = config.pluginmanager
    for each in list(manager.get_plugins()):
        if manager.get_name(each) == NAME or type(each).__name__ in _REPORTERS:
            manager.unregister(each)
    messages = Messages(config)
    manager.register(messages)
    messages.warnings = []  # those of before the fork, which are reported already
    ends = False
    while not ends:
        index, next_index = pipe.recv()
        item = session.items[index]
        follower = None if next_index is None else session.items[next_index]
        new_file = follower is None or follower.path != item.path
        ends = follower is None or (new_file and resident_mib() > LIMIT_MIB)
        config.hook.pytest_runtest_protocol(item=item, nextitem=None if ends else follower)
        pipe.send((messages.reports, messages.warnings, ends))
        messages.reports, messages.warnings = [], []


class ForkedFiles:
    """Gives each test to the forked process of the session, and reports what it says."""

    def __init__(self) -> None:
        self.child: Child | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        _check_nothing_was_computed()
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        session, hook = item.session, item.config.hook
        index = {each: number for number, each in enumerate(session.items)}
        if self.child is None:
            self.child = Child(session)
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        try:
            reports, warned, ends = self.child.run(
                index[item], None if nextitem is None else index[nextitem]
            )
        except EOFError:
            status = self.child.wait()
            self.child = None
            hook.pytest_runtest_logreport(report=_crashed(item, status))
        else:
            for text, category, filename, line, nodeid in warned:
                said = warnings.WarningMessage(f"{category}: {text}", UserWarning, filename, line)
                hook.pytest_warning_recorded.call_historic(
                    kwargs={
                        "warning_message": said,
                        "when": "runtest",
                        "nodeid": nodeid,
                        "location": None,
                    }
                )
            for data in reports:
                report = hook.pytest_report_from_serializable(config=item.config, data=data)
                hook.pytest_runtest_logreport(report=report)
            if ends:
                self.child.wait()
                self.child = None
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def _check_nothing_was_computed() -> None:
    """Raises an error if TensorFlow has threads already, which a forked process would wait for."""
    if "tensorflow" in sys.modules:
        from tensorflow.python.eager import context

        if context.context()._context_handle is not None:
            raise pytest.UsageError(
                "TensorFlow computed something while the tests were imported, so that they cannot "
                "run in forked processes: make tensors within tests and fixtures."
            )


def _crashed(item: pytest.Item, status: int) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="failed",
        longrepr=f"The process of this test ended with status {status}.",
        when="call",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ForkedFiles(), NAME)
