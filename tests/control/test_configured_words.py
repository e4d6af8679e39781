"""What is told of a launcher whose stop command comes from the configuration: nothing that is about its own one."""

from __future__ import annotations

import pytest

from bringup.core.events import Launcher, Server
from bringup.hosts.control import LaunchCommand, Survey, launcher_words, with_stop_command
from bringup.hosts.control.relaunch import Launchable
from bringup.hosts.discover.described import describe
from bringup.hosts.discover.launched import PLAIN
from bringup.hosts.discover.launchers import Above, Around, load_kinds
from bringup.session.acting import make_plan
from bringup.session.target import Drains

KINDS = load_kinds()
COMES = "Its stop command comes from the configuration."


def configured(launcher: Launcher) -> Launcher:
    return with_stop_command(Server(9, 1, "sglang", (), launcher=launcher), "sudo -n systemctl stop llm").launcher


def told(cgroup: str = "", *above: Above, environ: str = "", **answer: str) -> Launcher:
    found = KINDS.recognise(Around(9, cgroup, above, frozenset({environ})))
    assert found is not None
    launcher = describe(KINDS, found, answer)
    assert launcher is not None
    return launcher


def test_nothing_is_signalled_that_has_a_command() -> None:
    plain = configured(Launcher("process", words="a plain process", sentence=PLAIN))
    assert plain.sentence == "A restart repeats command, folder, environment and log."
    pane = told(
        "", Above(5, "tmux new-session -d -s llm", "tmux"), environ="TMUX", name="llm:0.0", place="llm", socket="/tmp/s"
    )
    assert pane.sentence.startswith("The processes are signalled")
    assert configured(pane).sentence == "A restart runs in a new window of the same tmux session."
    assert configured(Launcher()).sentence == ""


def test_a_pane_is_no_place_of_a_restart_for_what_does_not_write_to_it() -> None:
    above = Above(5, "tmux new-session -d -s llm", "tmux")
    pane = told("", above, environ="TMUX", name="llm:0.0", place="llm", socket="/tmp/s")

    def said(launcher: Launcher, found: Launchable, launch: LaunchCommand | None = None) -> str:
        looked = Survey(Server(9, 1, "sglang", (), launcher=launcher), ())
        return make_plan("box", looked, found, launch, Drains()).server.launcher.sentence

    assert said(pane, Launchable(inside=pane.start)) == pane.sentence
    signalled = "The processes are signalled"
    piped = Launchable(log="Its output went through a pipe to pane.log: the new server writes there itself.")
    assert said(pane, piped) == f"{signalled}; a restart runs outside of it, in a session of its own."
    assert said(configured(pane), piped) == "A restart runs outside of it, in a session of its own."
    assert said(pane, Launchable(restartable="Its environment cannot be read.")) == f"{signalled}."
    assert said(pane, Launchable(inside=pane.start), LaunchCommand("sh run.sh", "/srv", "x.log")) == f"{signalled}."
    plain = Launcher("process", words="a plain process", sentence=PLAIN)
    assert said(plain, Launchable()) == PLAIN


def test_who_is_not_root_is_not_told_to_configure_what_is_configured() -> None:
    unit = told("0::/system.slice/llm.service", MainPID="9", Restart="always", login="ann")
    assert "ann is not root" in unit.detail
    own = configured(unit)
    assert own.detail == f"Its restart policy is always: after a plain kill it is started again. {COMES}"
    assert (own.sentence, own.stop) == ("", "sudo -n systemctl stop llm")
    assert "root" not in launcher_words(own)


@pytest.mark.parametrize(
    ("cgroup", "environ"),
    [(f"0::/system.slice/docker-{'b' * 64}.scope", ""), ("0::/x/job_7/step_batch/user/task_0", "SLURM_JOB_ID")],
)
def test_why_its_own_command_is_not_used_does_not_matter_then(cgroup: str, environ: str) -> None:
    launcher = told(cgroup, environ=environ)
    assert launcher.detail == launcher.own != ""
    assert (configured(launcher).detail, configured(launcher).sentence) == (COMES, "")


def test_what_else_starts_it_again_is_still_told() -> None:
    pod = told("0::/kubepods.slice/kubepods-pod1b4e28ba_2fa1_11d2_883f_0016d3cca427.slice/cri-containerd-77aa.scope")
    assert "The kubelet starts a container again" in configured(pod).sentence
