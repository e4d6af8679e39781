"""What a configuration names, held against what there is: hosts, ways, phases' patience, kinds of causes, themes."""

from __future__ import annotations

from collections.abc import Iterator

from bringup.config.check import Mistake, suggestion
from bringup.config.overlay import thresholds
from bringup.config.positions import Path
from bringup.config.shapes import Config
from bringup.core.errors import UsageError
from bringup.core.events import Fault, Warned
from bringup.core.schema import WORDS

WAYS = ("docker", "kube", "slurm", "unit")


def names_known(config: Config) -> Iterator[Mistake]:
    """Yield what nothing is known of: the configuration itself only knows the shape of what it holds."""
    yield from _themes(config)
    for name in config.targets:
        yield from _hosts(config, name)
        yield from _ways(config, name)
    yield from _patience(config)
    yield from _advice(config)
    from bringup.cli.keymap import key_mistakes

    yield from key_mistakes(config)


def _themes(config: Config) -> Iterator[Mistake]:
    from bringup.ui.terminal import OWN_THEME
    from bringup.ui.theme import NAMES

    themes = [name.removeprefix(OWN_THEME) for name in NAMES]
    if config.theme is not None and config.theme not in (*themes, *NAMES):
        yield Mistake(("theme",), f"There is no theme {config.theme!r}.", suggestion(config.theme, sorted(themes)))


def _hosts(config: Config, name: str) -> Iterator[Mistake]:
    """Hold hosts against what ssh can be given, as a command that is pointed at them would."""
    from bringup.hosts.naming import plain_target

    target = config.targets[name]
    named: list[tuple[Path, str]] = [(("hosts", place), host) for place, host in enumerate(target.hosts or ())]
    if target.host is not None:
        named.append((("host",), target.host))
    for path, host in named:
        try:
            plain_target(host)
        except UsageError as error:
            expected = 'Expected a host as ssh takes it: "gpu-a", "root@gpu-a", "ssh://root@gpu-a:2222".'
            yield Mistake(("targets", name, *path), error.what, expected)


def _ways(config: Config, name: str) -> Iterator[Mistake]:
    from bringup.hosts.ways import make_way

    for kind in WAYS:
        given = getattr(config.targets[name], kind)
        if given is not None:
            try:
                make_way(kind, given)
            except UsageError as error:
                what = f"{given!r} cannot be what {kind} names."
                yield Mistake(("targets", name, kind), what, error.hint.replace("Write", "Expected", 1))


def _patience(config: Config) -> Iterator[Mistake]:
    """Find phases that would be called stalled before they are called slow, with what ships for what is not said."""
    from bringup.engines.patience import load_policy

    policy = load_policy(thresholds(config))
    for phase, said in config.thresholds.patience.items():
        known = policy.patience.get(phase)
        if known is None or (said.slow is None and said.stalled is None):
            continue
        if known.slow > known.stalled:
            path = ("thresholds", "patience", phase, "slow" if said.slow is not None else "stalled")
            what = f"{phase} would be called stalled ({known.stalled:g} s) before it is called slow ({known.slow:g} s)."
            yield Mistake(path, what, "Expected slow to be at most stalled.")


def _advice(config: Config) -> Iterator[Mistake]:
    """Find advice that would never be given. Its names are KIND or KIND:WHERE, and warning:KIND for a warning."""
    causes, warnings = sorted(WORDS[Fault, "kind"]), sorted(WORDS[Warned, "kind"])
    for name in config.thresholds.advice:
        path = ("thresholds", "advice", name)
        kind, _, rest = name.partition(":")
        if kind == "warning":
            if rest not in warnings:
                yield Mistake(path, f"There is no kind of warning {rest!r}.", suggestion(rest, warnings))
        elif kind not in (*causes, "secondary"):
            yield Mistake(path, f"There is no kind of cause {kind!r}.", suggestion(kind, causes))
