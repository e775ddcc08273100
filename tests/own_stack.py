"""pytest plugin: runs tests and fixtures on a Python stack of their own.

TensorFlow records the Python stack of every eager operation, from the innermost frame to the
outermost. Below a test are some sixty frames of pytest, whose line numbers were looked up again for
each operation. A greenlet begins a new stack in the same thread, so that signals and thread-local
state are as before:

    python -m pytest -p tests.own_stack
"""

import contextvars
from collections.abc import Callable
from typing import Any

import greenlet
import pytest
from _pytest import fixtures


def on_own_stack(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """Returns what a function returns, or raises what it raises."""
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["result"] = function(*arguments, **named)
        except BaseException as error:
            outcome["error"] = error

    stack = greenlet.greenlet(run)
    stack.gr_context = contextvars.copy_context()
    stack.switch()
    if "error" in outcome:
        raise outcome.pop("error")
    return outcome["result"]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool:
    """Calls a test function with its fixtures."""
    names = pyfuncitem._fixtureinfo.argnames
    on_own_stack(pyfuncitem.obj, **{name: pyfuncitem.funcargs[name] for name in names})
    return True


_call_fixture = fixtures.call_fixture_func  # private; test_own_stack.py fails if it moves


def pytest_configure(config: pytest.Config) -> None:
    def call_fixture_func(*arguments: Any, **named: Any) -> Any:
        return on_own_stack(_call_fixture, *arguments, **named)

    fixtures.call_fixture_func = call_fixture_func
