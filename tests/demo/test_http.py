"""What the simulated server answers to whoever asks for its health, by how far it is."""

import asyncio
import http.client
from collections.abc import Iterator
from typing import Literal

import pytest

from bringup.demo.http import Front
from bringup.demo.options import Options

OPTIONS = Options("/m/model", "model", None, None, "127.0.0.1", 0, 8, 0.85)


class Ranks:
    """Ranks that answer or do not."""

    def __init__(self) -> None:
        self.live = True
        self.asked = 0

    def check(self) -> bool:
        return self.live

    def ask(self) -> None:
        self.asked += 1


@pytest.fixture
def ranks() -> Ranks:
    return Ranks()


@pytest.fixture
def front(ranks: Ranks, capfd: pytest.CaptureFixture[str]) -> Iterator[Front]:
    front = Front(OPTIONS, ranks.check, ranks.ask)
    front.start()
    yield front
    front._server.shutdown()
    front._server.server_close()


async def ask(front: Front, method: str, path: str) -> int:
    def answer() -> int:
        connection = http.client.HTTPConnection("127.0.0.1", front._server.server_address[1], timeout=60)
        connection.request(method, path)
        try:
            return connection.getresponse().status
        finally:
            connection.close()

    return await asyncio.to_thread(answer)


@pytest.mark.parametrize(
    ("status", "live", "health"),
    [("starting", True, 503), ("up", True, 200), ("up", False, 503), ("stopping", True, 503)],
)
async def test_it_is_healthy_only_while_it_is_up_and_its_ranks_answer(
    front: Front, ranks: Ranks, status: Literal["starting", "up", "stopping"], live: bool, health: int
) -> None:
    front.status, ranks.live = status, live
    assert await ask(front, "GET", "/health") == health
    assert await ask(front, "GET", "/health_generate") == health
    assert await ask(front, "GET", "/v1/models") == 200
    assert await ask(front, "GET", "/nothing") == 404


async def test_a_request_is_taken_only_while_it_is_up(front: Front, ranks: Ranks) -> None:
    assert await ask(front, "POST", "/generate") == 503
    front.status = "up"
    assert await ask(front, "POST", "/generate") == 200
    assert ranks.asked == 1
