#!/bin/sh
# tests/cluster/agent.sh - what launchers take for ssh: agent.sh [options] HOST COMMAND, in a node of bed.sh.
exec "$(dirname "$(readlink -f "$0")")/bed.sh" agent "$@"
