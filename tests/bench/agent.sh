#!/bin/sh
# agent.sh - what an agent and its keeper cost a host that trains
# SPDX-License-Identifier: MIT
exec "${BUILD:-build}/bench/agent"
