# Arguments: PID... Prints those that wait at a terminal for a command.
for pid; do at_prompt "$pid" && echo "$pid"; done
