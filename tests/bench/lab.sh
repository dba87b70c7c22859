#!/bin/sh
# lab.sh - what a lab of 16 namespace hosts with their agents costs
# SPDX-License-Identifier: MIT
exec "${BUILD:-build}/bench/lab"
