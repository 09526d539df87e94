"""People without a browser: they speak bokeh's protocol and acknowledge every frame.

``python -m benchmarks._feel_clients URL QUERY N`` opens N sessions, prints
``open``, waits for a line ``SECONDS`` on standard input, counts the frames of
each session for that long and prints them as JSON.  A client does what the page
does, painting left out: it pulls the document, tells that it is ready, and sets
the end of the acknowledging range whenever the frame's range has moved on.
"""

from __future__ import annotations

import asyncio
import json
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bokeh.client.websocket import WebSocketClientConnectionWrapper
from bokeh.protocol import Protocol
from bokeh.protocol.messages.patch_doc import patch_doc
from bokeh.protocol.receiver import Receiver
from bokeh.util.token import generate_jwt_token, generate_session_id
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

__all__ = ["Crowd"]

#: Seconds in which all clients must have their first frames.
PATIENCE = 180.0


class Crowd:
    """Clients in a process of their own; open once the constructor returns."""

    def __init__(self, url: str, query: str, n: int) -> None:
        begun = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks._feel_clients", url, query, str(n)],
            cwd=Path(__file__).resolve().parents[1], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        there = select.select([self._process.stdout], [], [], PATIENCE)[0]
        if not there or self._process.stdout.readline().strip() != "open":
            self.close()
            raise RuntimeError(f"{n} protocol clients did not open in {PATIENCE:.0f} s")
        self.seconds = time.monotonic() - begun

    def start(self, seconds: float) -> None:
        """Begin to count."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seconds}\n")
        self._process.stdin.flush()

    def result(self) -> list[dict[str, float]]:
        """Frames, messages and bytes of each client."""
        out, _ = self._process.communicate(timeout=300)
        return json.loads(out)

    def close(self) -> None:
        """End it, also when it was never asked."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


class Client:
    """One session."""

    def __init__(self) -> None:
        self.frames = self.messages = self.bytes = 0
        self._protocol = Protocol()
        self._receiver = Receiver(self._protocol)

    async def open(self, url: str, query: str) -> None:
        """Connect, pull the document, say that it is ready."""
        token = generate_jwt_token(generate_session_id())
        address = f"{url.replace('http', 'ws', 1)}/elastic_net/ws?{query}"
        self._socket = await websocket_connect(
            HTTPRequest(address, request_timeout=120),
            subprotocols=["bokeh", token], max_message_size=100 * 1024**2,
        )  # fmt: skip
        self._sender = WebSocketClientConnectionWrapper(self._socket)
        await self._until("ACK")
        await self._protocol.create("PULL-DOC-REQ").send(self._sender)
        reply = await self._until("PULL-DOC-REPLY")
        self._frame, self._ack = _ranges(reply.content["doc"])
        ready = {"type": "event", "name": "document_ready", "values": {"type": "map"}}
        await self._patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": ready})

    async def follow(self) -> None:
        """Acknowledge frames until the connection ends."""
        while True:
            message = await self._until("PATCH-DOC")
            for event in message.content["events"]:
                if (
                    event["kind"] == "ModelChanged"
                    and event["model"]["id"] == self._frame
                    and event["attr"] == "end"
                ):
                    self.frames += 1
                    await self._patch(
                        {
                            "kind": "ModelChanged",
                            "model": {"id": self._ack},
                            "attr": "end",
                            "new": event["new"],
                        }
                    )

    async def _patch(self, event: dict[str, Any]) -> None:
        message = patch_doc(patch_doc.create_header(), {}, {"events": [event]})
        await message.send(self._sender)

    async def _until(self, kind: str) -> Any:
        while True:
            fragment = await self._socket.read_message()
            if fragment is None:
                raise ConnectionError("the server closed the connection")
            self.bytes += len(fragment)
            message = await self._receiver.consume(fragment)
            if message is not None:
                self.messages += 1
                if message.msgtype == kind:
                    return message


def _objects(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        if part.get("type") == "object":
            yield part
        for value in part.values():
            yield from _objects(value)
    elif isinstance(part, list):
        for value in part:
            yield from _objects(value)


def _ranges(doc: dict[str, Any]) -> tuple[str, str]:
    """Ids of the frame's and the acknowledging range: in the tags of one figure."""
    for model in _objects(doc):
        tags = model.get("attributes", {}).get("tags") if model.get("name") == "Figure" else None
        if tags and len(tags) == 2 and all(isinstance(t, dict) for t in tags):
            return tags[0]["id"], tags[1]["id"]
    raise LookupError("no figure carries the two ranges of the pump")


async def _main(url: str, query: str, n: int) -> None:
    clients = [Client() for _ in range(n)]
    tasks = []
    for client in clients:
        await client.open(url, query)
        tasks.append(asyncio.create_task(client.follow()))
    while not all(client.frames >= 3 for client in clients):
        for task in tasks:
            if task.done():
                task.result()
        await asyncio.sleep(0.1)
    print("open", flush=True)
    seconds = float(await asyncio.to_thread(sys.stdin.readline))
    before = [(c.frames, c.messages, c.bytes) for c in clients]
    begun = time.monotonic()
    await asyncio.sleep(seconds)
    spent = time.monotonic() - begun
    print(
        json.dumps(
            [
                {
                    "fps": (c.frames - b[0]) / spent,
                    "messages": c.messages - b[1],
                    "bytes": c.bytes - b[2],
                    "alive": not t.done(),
                }
                for c, b, t in zip(clients, before, tasks, strict=True)
            ]
        )
    )


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
