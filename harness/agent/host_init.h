/* host_init.h - the first process of a namespace host, and the way in
 * SPDX-License-Identifier: MIT
 *
 * Sub-commands of faultdrill-agent; each returns the exit status.
 */
#ifndef DRILL_HOST_INIT_H
#define DRILL_HOST_INIT_H

/* host-init LABDIR NAME MARK host|head
 *
 * Born in the namespaces of the host. Descriptor 3 gets "ready" or one line
 * that says what failed; when descriptor 4 is open and comes to its end, the
 * host ends: it must not outlive the run that made it. */
int drill_host_init_main(int argc, char **argv);

/* enter LABDIR HOST [COMMAND...]
 *
 * Runs COMMAND as a shell would get it from ssh (words joined, /bin/sh -c), or
 * a shell, inside the host: its network, mounts, name, processes and cgroup.
 * Signals are passed on; the exit status is the command's (128 + n when signal
 * n killed it, 255 when the host cannot be entered). */
int drill_enter_main(int argc, char **argv);

/* Where the mark of a host lies, in its own mount namespace: in a tmpfs over
 * LABDIR/DRILL_INSIDE, as "MARK HOST\n". */
#define DRILL_INSIDE "inside"

#endif
