"""What the keys do where a start has several hosts: whose log and GPUs are shown."""

from __future__ import annotations

from bringup.core.verdict import RankView
from bringup.session.console import Console, Several
from bringup.ui.each_node import EachNode
from bringup.ui.orders import Orders
from bringup.ui.screens.log_keys import LogKeys


class NodeKeys(LogKeys):
    """The part of the main screen that goes from one node to the next."""

    console: Console | None
    each: EachNode

    @property
    def orders(self) -> Orders:
        """Those of the host that is shown."""
        return self.each.here

    def flush(self) -> None:
        """Take what is new."""
        raise NotImplementedError

    @property
    def has_several(self) -> bool:
        """There is a node to go to."""
        return isinstance(self.console, Several)

    def action_node(self) -> None:
        """Show the log and the GPUs of the next node."""
        console = self.console
        if not isinstance(console, Several):
            self.tell("This start has one host.")
            return
        nodes = console.nodes
        self.show_node(nodes[(nodes.index(console.node) + 1) % len(nodes)])

    def action_cause(self) -> None:
        """Go to the line that caused the failure, on the node that it is of."""
        cause = self.picture.verdict.cause if self.picture is not None else None
        if cause is not None:
            self.show_node(cause.node)
        super().action_cause()

    def show_node_of(self, view: RankView) -> None:
        """Show the node of a rank."""
        self.show_node(view.node)

    def show_node(self, node: str) -> None:
        """Show a node, unless it is shown, or none of this start."""
        console = self.console
        if not isinstance(console, Several) or node == console.node or node not in console.nodes:
            return
        console.show(node)
        self.log_view.clear()
        self.flush()
        self.paint()
        self.tell(f"The log and the GPUs are of {node} now.")
        # What can be done about what was left in the middle there has waited for that.
        self.orders.uncovered()
