"""pytest plugin: CPU seconds of each test and memory of the process, for any busy machine.

`python -m pytest tests/ops -p tests.resource_usage` lists the tests that took the most CPU time
(their fixtures and subprocesses included), the modules after which the process was largest, and the
peak. CPU seconds hardly depend on what else the machine does; wall-clock time does.
`RESOURCE_USAGE=FILE` also appends one JSON line per test to a file.
"""

import json
import os
import resource
from collections.abc import Iterator
from typing import Any

import pytest

from tests import fresh_python
from tests.memory import resident_mib

LINES = 30
_tests: list[dict[str, Any]] = []


def cpu_seconds() -> float:
    """Returns user and system time of this process and of its finished children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return own + fresh_python.cpu_seconds_of_forks


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if item.config.pluginmanager.has_plugin("forked files"):  # the forked process records
        return (yield)
    start = cpu_seconds()
    result = yield
    record = {
        "test": item.nodeid,
        "cpu": round(cpu_seconds() - start, 3),
        "mib": round(resident_mib()),
        "peak": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "process": os.getpid(),
    }
    _tests.append(record)
    target = os.environ.get("RESOURCE_USAGE")
    if target:
        with open(target, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    return result


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not _tests:  # forked processes have the records: RESOURCE_USAGE collects them
        return
    write = terminalreporter.write_line
    write(f"CPU seconds: {sum(test['cpu'] for test in _tests):.1f} in {len(_tests)} tests")
    for test in sorted(_tests, key=lambda test: -test["cpu"])[:LINES]:
        write(f"{test['cpu']:8.1f} s  {test['test']}")
    write(f"Peak memory: {max(test['peak'] for test in _tests)} MiB. After each module:")
    modules = {test["test"].split("::")[0]: test["mib"] for test in _tests}
    for module, mib in sorted(modules.items(), key=lambda pair: -pair[1])[:LINES]:
        write(f"{mib:8} MiB  {module}")
