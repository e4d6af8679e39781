"""Stopping and restarting a server: what that touches, and the steps to a host that is free again.

survey          what a stop would touch      stop        asks, waits, kills, waits for GPUs and port
claim           one action at a time         release     the action is over
all_unfinished  what is not over             orphans     workers without a launcher, and `clear`

The modules, by what is done:
a stop      surveying and family (whose a process is), stopping, its pace, members (what is left), own_command,
            gpu_memory, respawn (does it come back?), stopped (what came of it)
a restart   restarting; relaunch (as it was launched), own_launch (by its launcher), configured (by the configuration);
            obstacles to it, editing, ports (is that of the command free?), launching (what came of it)
any of them journal (written down on the host), unfinished (read again), processes (seen and signalled), steps (told)
"""

from bringup.hosts.control.beginning import Beginning as Beginning
from bringup.hosts.control.beginning import begins_in as begins_in
from bringup.hosts.control.beginning import find_beginning as find_beginning
from bringup.hosts.control.configured import LaunchCommand as LaunchCommand
from bringup.hosts.control.configured import launch as launch
from bringup.hosts.control.configured import launched_words as launched_words
from bringup.hosts.control.configured import launcher_words as launcher_words
from bringup.hosts.control.configured import with_stop_command as with_stop_command
from bringup.hosts.control.journal import Busy as Busy
from bringup.hosts.control.journal import Claim as Claim
from bringup.hosts.control.journal import claim as claim
from bringup.hosts.control.journal import claim_a_stop as claim_a_stop
from bringup.hosts.control.journal import held as held
from bringup.hosts.control.journal import new_token as new_token
from bringup.hosts.control.journal import release as release
from bringup.hosts.control.kept import kept_command as kept_command
from bringup.hosts.control.last_end import LastEnd as LastEnd
from bringup.hosts.control.last_end import last_end as last_end
from bringup.hosts.control.launching import Begin as Begin
from bringup.hosts.control.launching import LaunchFailed as LaunchFailed
from bringup.hosts.control.launching import Started as Started
from bringup.hosts.control.left_open import all_unfinished as all_unfinished
from bringup.hosts.control.left_open import discard as discard
from bringup.hosts.control.orphans import Orphan as Orphan
from bringup.hosts.control.orphans import clear as clear
from bringup.hosts.control.orphans import orphans as orphans
from bringup.hosts.control.pace import Hurry as Hurry
from bringup.hosts.control.pace import Pace as Pace
from bringup.hosts.control.ports import why_taken as why_taken
from bringup.hosts.control.relaunch import examine as examine
from bringup.hosts.control.restarting import LeftToAnother as LeftToAnother
from bringup.hosts.control.restarting import check_edit as check_edit
from bringup.hosts.control.restarting import restart as restart
from bringup.hosts.control.restarting import resume as resume
from bringup.hosts.control.steps import Step as Step
from bringup.hosts.control.stopped import Stopped as Stopped
from bringup.hosts.control.stopping import stop as stop
from bringup.hosts.control.surveying import Survey as Survey
from bringup.hosts.control.surveying import survey as survey
from bringup.hosts.control.unfinished import Unfinished as Unfinished
