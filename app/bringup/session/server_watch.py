"""All channels of one server: its logs, the probe of its process tree and the GPUs, and the questions to its port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from bringup.core.assess import assess
from bringup.core.errors import ChannelRefused
from bringup.core.events import ChannelClosed, ChannelOpened, Event, LogTarget, ProcessesSeen, Server, ServerGone
from bringup.core.verdict import Verdict
from bringup.hosts import probe, readiness
from bringup.hosts.base import Host, Stream
from bringup.session.clock import HostClock
from bringup.session.kernel_watch import KernelWatch
from bringup.session.knowledge import Knowledge
from bringup.session.logs import Logs
from bringup.session.looks import Looks
from bringup.session.picture import Picture

AGAIN = 5.0
"""Seconds before a channel that was refused is tried again."""
SILENT = 15.0
"""Seconds without a sample of the processes after which the probe is started again, whatever else it still sends."""
IDLE = 1.0
"""Seconds between two looks at whether there is something to ask the server."""
CALM = 3.0
"""The same while it is ready: the next question is some time off then."""


class Channels:
    """What every watch of a server shares: where events go, and what is known beforehand."""

    def __init__(self, picture: Picture, clock: HostClock, logs: Logs, knowledge: Knowledge) -> None:
        self.picture = picture
        self.clock = clock
        self.logs = logs
        self.knowledge = knowledge
        self.routes = readiness.load_routes()
        self._judged: tuple[tuple[int, int], Verdict] | None = None

    def verdict(self) -> Verdict:
        """Judge the state, once a second for all who ask while nothing changes."""
        now = self.clock.now()
        moment = (self.picture.rev, int(now))
        if self._judged is None or self._judged[0] != moment:
            self._judged = (moment, assess(self.picture.state, now, self.knowledge.policy))
        return self._judged[1]

    def open(self, channel: str) -> None:
        """Say that a channel works, whatever was said of it before."""
        self.picture.apply([ChannelOpened(at=self.clock.now(), channel=channel)])

    def close(self, channel: str, why: str) -> None:
        """Say that a channel cannot be had now."""
        self.picture.apply([ChannelClosed(at=self.clock.now(), channel=channel, why=why)])


class ServerWatch:
    """Watches one server until cancelled; `ended` is called when its launcher has ended."""

    def __init__(
        self, host: Host, server: Server, targets: Sequence[LogTarget], channels: Channels, ended: Callable[[], None]
    ) -> None:
        self._host = host
        self._server = server
        self._targets = targets
        self._channels = channels
        self._ended = ended
        self._refused = False
        """The probe could not be started: nobody asks nvidia-smi either."""

    async def run(self) -> None:
        """Run all channels; raises ConnectionLost when the connection ends."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._channels.logs.follow(self._host, self._targets, self._server), name="logs")
            group.create_task(self._probe(), name="probe")
            group.create_task(self._ask(), name="readiness")
            group.create_task(Looks(self._host, self._server, self._channels).run(), name="looks")
            group.create_task(KernelWatch(self._host, self._server, self._channels).run(), name="kernel")

    async def _probe(self) -> None:
        script = probe.script(self._server.pid, port=self._server.port)
        await self._channels.logs.begun()
        while True:
            decoder = probe.ProbeDecoder(self._server.pid)
            try:
                async with self._host.stream(script) as stream:
                    await self._read(stream, decoder)
                    end = await stream.status()
                why = f"The probe ended with status {end.status}: {end.stderr.decode('utf-8', 'replace').strip()[:200]}"
            except ChannelRefused as refused:
                why = str(refused)
                self._refused = True
                self._channels.close("gpus", f"nvidia-smi is not asked: {why}")
            except TimeoutError:
                why = f"The probe sent no sample for {SILENT:.0f} s; it is started again."
            self._channels.close("processes", why)
            await asyncio.sleep(AGAIN)

    async def _read(self, stream: Stream, decoder: probe.ProbeDecoder) -> None:
        """Take in what the probe sends until it ends; raises TimeoutError when no sample is among it for too long."""
        clock = asyncio.get_running_loop().time
        seen = False
        async with asyncio.timeout(SILENT) as limit:
            while data := await stream.read():
                if self._refused:
                    self._refused = False
                    self._channels.open("gpus")
                events = decoder.feed(data)
                if any(isinstance(event, ProcessesSeen) for event in events):
                    limit.reschedule(clock() + SILENT)
                    if not seen:
                        self._channels.open("processes")
                    seen = True
                self._take(events, decoder.now)

    def _take(self, events: list[Event], host_time: float | None) -> None:
        if host_time is not None:
            self._channels.clock.tell(host_time)
        self._channels.picture.apply(events)
        if any(isinstance(event, ServerGone) for event in events):
            self._ended()

    async def _ask(self) -> None:
        channels = self._channels
        while True:
            now = channels.clock.now()
            state = channels.picture.state
            verdict = channels.verdict().state
            question = readiness.next_question(state, verdict, now, channels.routes)
            idle = CALM if verdict == "ready" else IDLE
            if question is None or question.at > now + idle:
                await asyncio.sleep(idle)
                continue
            await asyncio.sleep(max(0.0, question.at - now))
            await self._put(question)

    async def _put(self, question: readiness.Question) -> None:
        channels = self._channels
        try:
            answer = await readiness.probe(
                self._host, question.port, question.path, timeout=question.timeout, address=question.address
            )
        except ChannelRefused as refused:
            channels.close("http", str(refused))
            await asyncio.sleep(AGAIN)
        else:
            channels.open("http")
            channels.picture.apply([answer.event(channels.clock.now())])
