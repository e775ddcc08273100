"""pytest plugin: runs test files in forks of a process that has imported everything.

A process that runs tests keeps compiled functions, caches and the peaks of its allocator. As soon
as it is larger than `LIMIT_MIB` after a file, it ends, and the next file runs in a new one, which
begins with the memory of the imports and does not import again:

    python -m pytest -p tests.forked --forks 2

runs two such processes beside each other, each of which takes the next file when it has finished
one. They are forked from the process of pytest itself: modules are imported and tests collected
once, however many processes there are. A test whose process ends with a signal runs again, once, in
a new process, and a warning says so: a training by TensorFlow was aborted in one run of the suite
and in none of 120 repetitions. The second time it fails, and the others go on. Debuggers need the
tests in the process itself: leave the plugin out.

pytest-xdist would import and collect in each worker, and its workers end with the run: one process
that runs tests/predictors alone takes more than 2 GB.
"""

import os
import sys
import warnings
from collections import deque
from contextlib import suppress
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

from tests import fresh_python
from tests.memory import resident_mib

LIMIT_MIB = 1600
NAME = "forked files"
_REPORTERS = ("TerminalReporter", "LogXML")


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

    def __init__(self, session: pytest.Session, others: list["Child"]) -> None:
        self.pipe, other = Pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            with suppress(BaseException):  # the parent sees that the pipe has ended
                for pipe in (self.pipe, *(each.pipe for each in others)):
                    pipe.close()
                fresh_python.keep_one_ready(other)
                _serve(session, other)
                status = 0
            os._exit(status)
        other.close()

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


class Line:
    """Tests that wait for one process after the other: a file, and at its end the next one."""

    def __init__(self) -> None:
        self.child: Child | None = None
        self.tests: deque[tuple[int, pytest.Item]] = deque()


class ForkedFiles:
    """Gives each test to a forked process of the session, and reports what it says."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        _check_nothing_was_computed()
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        options = session.config.option
        if options.collectonly or (
            session.testsfailed and not options.continue_on_collection_errors
        ):
            return None  # as without the plugin
        terminal: Any = session.config.pluginmanager.getplugin("terminalreporter")
        if terminal is not None and options.forks > 1:
            terminal.showfspath = False  # the files are mixed
        tests = enumerate(session.items)
        self.files = deque(list(file) for _, file in groupby(tests, lambda test: test[1].path))
        self.lines = [Line() for _ in range(options.forks)]
        self.ended_once: set[int] = set()
        try:
            for line in self.lines:
                self._continue(session, line)
            while running := {line.child.pipe: line for line in self.lines if line.child}:
                for pipe in wait(list(running)):
                    line = running[pipe]
                    self._report(session.config, line)
                    if session.shouldfail:
                        raise session.Failed(session.shouldfail)
                    if session.shouldstop:
                        raise session.Interrupted(session.shouldstop)
                    self._continue(session, line)
        finally:
            for line in self.lines:
                if line.child:
                    line.child.wait()  # its pipe ends, so that it does too
        return True

    def _continue(self, session: pytest.Session, line: Line) -> None:
        """Gives a process its next test, and says which one follows: fixtures stay for it."""
        if len(line.tests) < 2 and self.files:
            line.tests.extend(self.files.popleft())
        if not line.tests:
            return
        if line.child is None:
            line.child = Child(session, [each.child for each in self.lines if each.child])
        (index, item), *following = list(line.tests)[:2]
        session.config.hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        with suppress(OSError):  # it was killed: `_report` will see it
            line.child.pipe.send((index, following[0][0] if following else None))

    def _report(self, config: pytest.Config, line: Line) -> None:
        """Reports the test that has ended, or that its process has."""
        hook, child = config.hook, line.child
        assert child is not None
        index, item = line.tests.popleft()
        try:
            reports, warned, ends = child.pipe.recv()
        except (EOFError, OSError):
            status = child.wait()
            line.child = None
            said = f"The process of this test ended with status {status}."
            if index in self.ended_once:
                hook.pytest_runtest_logreport(report=_crashed(item, said))
            else:
                self.ended_once.add(index)
                line.tests.appendleft((index, item))
                _warn(config, f"{said} It runs again.", str(item.path), 1, item.nodeid)
                return
        else:
            for text, category, filename, number, nodeid in warned:
                _warn(config, f"{category}: {text}", filename, number, nodeid)
            for data in reports:
                report = hook.pytest_report_from_serializable(config=config, data=data)
                hook.pytest_runtest_logreport(report=report)
            if ends:
                child.wait()
                line.child = None
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _check_nothing_was_computed() -> None:
    """Raises an error if TensorFlow has threads already, which a forked process would wait for."""
    if "tensorflow" in sys.modules:
        from tensorflow.python.eager import context

        if context.context()._context_handle is not None:
            raise pytest.UsageError(
                "TensorFlow computed something while the tests were imported, so that they cannot "
                "run in forked processes: make tensors within tests and fixtures."
            )


def _warn(config: pytest.Config, text: str, filename: str, line: int, nodeid: str) -> None:
    config.hook.pytest_warning_recorded.call_historic(
        kwargs={
            "warning_message": warnings.WarningMessage(text, UserWarning, filename, line),
            "when": "runtest",
            "nodeid": nodeid,
            "location": None,
        }
    )


def _crashed(item: pytest.Item, said: str) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="failed",
        longrepr=said,
        when="call",
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--forks", type=int, default=1, help="processes that run tests (default: 1)")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.forks > 1:  # they share the cores
        os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    config.pluginmanager.register(ForkedFiles(), NAME)
