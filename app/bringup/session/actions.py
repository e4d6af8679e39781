"""What the operator's keys do to the server: look at what it would touch, stop it, launch it again."""

from __future__ import annotations

from typing import Literal

from bringup.core.errors import BringupError
from bringup.core.events import ActionStep
from bringup.core.redact import mask, mask_argv
from bringup.core.state import State
from bringup.hosts import control, relaunch
from bringup.hosts.base import Host
from bringup.session.clock import HostClock
from bringup.session.console import StopPlan
from bringup.session.picture import Picture
