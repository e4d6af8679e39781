"""Tries that the operator asks for: at once instead of later, and after a refusal only then."""

from __future__ import annotations

import asyncio

import pytest

from bringup.core.errors import LoginRefused
from bringup.session.retries import Retries

REFUSED = LoginRefused("gpu-a let root not in.")
PATIENCE = 60.0


async def test_a_pause_ends_when_the_operator_asks() -> None:
    retries = Retries()
    pause = asyncio.create_task(retries.pause(3600.0))
    await asyncio.sleep(0)
    retries.again()
    await asyncio.wait_for(pause, PATIENCE)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(retries.pause(3600.0), 0.01)


async def test_where_nobody_can_ask_a_refusal_is_raised() -> None:
    with pytest.raises(LoginRefused):
        await Retries().settle(REFUSED)


async def test_where_somebody_can_it_waits_and_the_next_try_is_at_once() -> None:
    retries = Retries()
    retries.stays = True
    settled = asyncio.create_task(retries.settle(REFUSED))
    await asyncio.sleep(0.01)
    assert not settled.done()
    retries.again()
    await asyncio.wait_for(settled, PATIENCE)
    await asyncio.wait_for(retries.pause(3600.0), PATIENCE)
