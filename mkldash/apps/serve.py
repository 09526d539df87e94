"""Serves the apps: on this machine only, unless told otherwise."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from mkldash.apps import available_apps
from mkldash.errors import InputError

__all__ = ["serve"]

#: A page that nobody looks at any more is ended after this (ms).
UNUSED_LIFETIME = 20_000
CHECK_UNUSED = 2_000
KEEP_ALIVE = 15_000
TOKEN_EXPIRATION = 600

LOOPBACK = ("127.0.0.1", "localhost")


def serve(
    port: int = 5006,
    address: str = "127.0.0.1",
    num_procs: int = 1,
    show: bool = False,
    *,
    compare: Sequence[str] = (),
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; prints the URL once everything is warm.

    Parameters
    ----------
    port : int
        0: any free one.
    address : str
        Where to listen; the default is this machine only.
    num_procs : int
        Processes; about ten people each.  Not possible on Windows.
    show : bool
        Open a browser.
    compare : sequence of str
        Folders of recorded comparisons that the race app may open.
    ready : callable, optional
        Gets the URL; default: print it.

    Raises
    ------
    InputError
        When the port is taken, the address is not of this machine, or a folder holds
        no comparison.
    """
    import panel as pn
    from panel.io.server import get_server

    from mkldash.apps import landing
    from mkldash.apps.racing.folders import offer

    offer(compare)
    warm_up()
    logging.getLogger("tornado.access").setLevel(logging.ERROR)
    _quiet_closed_sockets()
    pn.config.reconnect = False  # the page loads itself anew, see board.js
    port = _free_port(address, port)
    apps: dict[str, Any] = {name: module.create for name, module in available_apps().items()}
    hosts = sorted({*LOOPBACK, address}) if address not in ("0.0.0.0", "") else ["*"]
    server = get_server(
        {"/": landing.create, **apps},
        port=port,
        address=address or None,
        websocket_origin=["*"] if hosts == ["*"] else [f"{host}:{port}" for host in hosts],
        start=False,
        show=False,
        title={"/": "mkldash", **{name: module.TITLE for name, module in _titles(apps)}},
        static_dirs={"pictures": str(Path(__file__).parent / "pictures")},
        num_procs=num_procs,
        unused_session_lifetime_milliseconds=UNUSED_LIFETIME,
        check_unused_sessions_milliseconds=CHECK_UNUSED,
        keep_alive_milliseconds=KEEP_ALIVE,
        session_token_expiration=TOKEN_EXPIRATION,
    )
    loop = server.io_loop
    for number in (signal.SIGINT, signal.SIGTERM):
        # Workers are daemon threads: ending the loop ends the process.
        signal.signal(number, lambda *_: loop.add_callback_from_signal(loop.stop))
    url = f"http://{'localhost' if address in ('', '0.0.0.0', '127.0.0.1') else address}:{port}/"
    loop.add_callback(ready or _print_ready, url)
    if show:
        loop.add_callback(server.show, "/")
    server.start()
    loop.start()
    server.stop(wait=False)


def _titles(apps: dict[str, Any]) -> list[tuple[str, ModuleType]]:
    return [(name, sys.modules[function.__module__]) for name, function in apps.items()]


def _print_ready(url: str) -> None:
    sys.stdout.write(f"ready: {url}\n")
    sys.stdout.flush()


def warm_up() -> None:
    """Compile (or load) the compiled loops, so that the first page does not wait."""
    from mkldash.apps.product_scoring import make_product_score
    from mkldash.experiments.choices import Choices
    from mkldash.experiments.problem_kinds import PROBLEMS, every_solver, solvers_for
    from mkldash.experiments.product_baselines import measure_baselines
    from mkldash.experiments.scores import score
    from mkldash.experiments.warming import warm_up_once
    from mkldash.experiments.workload import PRODUCTS, prepare
    from mkldash.kernels.banks import SINGLE
    from mkldash.solvers import available_solvers
    from mkldash.solvers.driver import solve
    from mkldash.solvers.stopping import StopRule

    kinds = available_solvers()
    for problem, kind in PROBLEMS.items():
        if kind.has_family:
            for name in dict.fromkeys((*solvers_for(problem), *solvers_for(problem, p=2.0))):
                warm_up_once(kinds[name](), PRODUCTS, kind)
            workload = prepare(Choices(data="known-products", problem=problem))
            result = solve(workload.solver, workload.problem, stop=StopRule(tol=1e-2, max_iter=3))
            make_product_score(workload)(result.last)
            for _ in measure_baselines(workload, ("ridge-1", "learnt-kernel")):
                pass
            continue
        for bank in ("paper", "linear", *(SINGLE,) * kind.takes_rho):
            choices = Choices(data="golden", problem=problem, bank=bank)
            workload = prepare(choices)
            result = solve(workload.solver, workload.problem, stop=StopRule(tol=1e-2, max_iter=3))
            score(workload, result.best)
            for name in every_solver(problem, bank):
                warm_up_once(kinds[name](), workload.storage, kind)


def _free_port(address: str, port: int) -> int:
    """`port` if it can be listened on; a free one for 0."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as problem:
            raise InputError(
                f"cannot listen on {address}:{port} ({problem.strerror}); "
                "take another --port, 0 for any free one"
            ) from None
        return int(probe.getsockname()[1])


#: What the libraries log when a tab closes in the middle of a message.
_CLOSED = ("WebSocketClosedError", "StreamClosedError", "connection was closed")


def _is_closed_tab(record: logging.LogRecord) -> bool:
    """Whether a record only says that a tab closed in the middle of a message."""
    text = record.getMessage()
    trace = record.exc_info[2] if record.exc_info else None
    kind = record.exc_info[0] if record.exc_info else None
    if kind is not None and kind.__name__ in _CLOSED:
        return True
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None and trace.tb_frame.f_globals.get("__name__") == "bokeh.server.connection":
        return kind is AssertionError
    return any(word in text for word in _CLOSED) or "assert self._session is not None" in text


def _is_worth_saying(record: logging.LogRecord) -> bool:
    return not _is_closed_tab(record)


def _quiet_closed_sockets() -> None:
    """A tab that closes in the middle of a message is no error worth a traceback."""
    for name in (
        "asyncio",
        "tornado.application",
        "tornado.general",
        "bokeh.server.protocol_handler",
        "bokeh.server.views.ws",
        "panel",
        # The filter of a logger sees nothing of what its children log.
        "panel.io.document",
        "panel.io.server",
        "panel.io.state",
        "panel.reactive",
    ):
        logging.getLogger(name).addFilter(_is_worth_saying)
