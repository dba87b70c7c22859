/* proto.h - what the controller and an agent say to each other
 * SPDX-License-Identifier: MIT
 *
 * Frames (frame.h), each an object with a string "kind". The agent speaks first
 * (hello). Anything unknown, out of order or ill-typed ends the connection with
 * a reason; then the agent reverts. Times named h_ns are CLOCK_MONOTONIC_RAW of
 * the host; the controller turns them into t_s (clock.h).
 *
 *   agent -> controller
 *   hello     build, host, pid, boot_id, provider   first, once
 *   pong      n, h_ns                               answers ping at once
 *   probed    fault, ok, reason                     one for each fault of plan
 *   planned   trial                                 the plan is held and armed
 *   event     event {kind, h_ns, u_ns, ...}         event_kinds.c
 *   fired     fault, target, point, attempt, count  so others know it is spent
 *   failed    fault, target, reason                 it could not be put in force
 *   reverted  fault, state ("clean"|"dirty"|"irreversible"), reason,
 *             target
 *   snapshot  when, entries {class: [line, ...]}
 *   ended     trial, dirty [..], hooks [{rank, transport}, ..]
 *                                                   answers trial.end
 *   dirty     records [..], reason  found left over, any time
 *   error     reason                                ours; the trial is lost
 *
 *   controller -> agent
 *   welcome   build, run, lab, host, state, lease_ns, renew_ns, cgroup, netns_pid
 *   ping      n
 *   probe     faults [fault, ...]                   changes nothing
 *   plan      trial, role, dir, ranks, faults [fault, ...]
 *   renew     (nothing)                             renews the lease
 *   placed    attempt, ranks [{rank, host}, ...]    where ranks are now
 *   event     event                                 for triggers on other hosts
 *   fire      fault                                 manual and remote triggers
 *   spent     as fired                              fired elsewhere
 *   revert    fault                                 end of duration, or story
 *   snapshot  when ("before"|"after")
 *   trial.end trial
 *   bye
 *
 * A fault: {name, injector, args {}, target {kind, is [name or number, ...],
 * hosts [..]}, at {...}, duration_ns | null, refire, follow, form}; see
 * plan.h of the agent for "at".
 */
#ifndef DRILL_PROTO_H
#define DRILL_PROTO_H

/* Changes whenever the meaning of a message does; the hello compares this and
 * the build id. */
#define DRILL_PROTO "faultdrill.agent/1"

/* "git describe" and a hash of the sources; defined by the build. Borrowed. */
const char *drill_build_id(void);

/* "git describe" alone, for people. Borrowed. */
const char *drill_version(void);

#endif
