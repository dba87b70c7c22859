/* list.h - every injector, in name order; included by registry.c only
 * SPDX-License-Identifier: MIT
 */
DRILL_INJECTOR(collective_delay)
DRILL_INJECTOR(collective_hang)
DRILL_INJECTOR(device_absent)
DRILL_INJECTOR(device_alarm)
DRILL_INJECTOR(device_call)
DRILL_INJECTOR(device_corrupt)
DRILL_INJECTOR(device_hang)
DRILL_INJECTOR(device_oom)
DRILL_INJECTOR(device_peer)
DRILL_INJECTOR(device_slow)
DRILL_INJECTOR(device_xid)
DRILL_INJECTOR(host_freeze)
DRILL_INJECTOR(host_kill)
DRILL_INJECTOR(host_stop)
DRILL_INJECTOR(null_noop)
