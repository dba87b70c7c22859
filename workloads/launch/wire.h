/* wire.h - what a rank starter and the launcher say to each other
 * SPDX-License-Identifier: MIT
 *
 * Lines of text over TCP on the management network, at most LAUNCH_LINE bytes.
 * The launcher's address and the attempt's token come by the environment
 * (LAUNCH_ENV: "ADDRESS PORT TOKEN"). The starter speaks first; whoever does
 * not begin with the right token is cut off. When the connection ends, the
 * starter kills its rank.
 *
 *   starter -> launcher
 *   start TOKEN RANK ATTEMPT HOST PID
 *   beat  NOW STEP COLLECTIVE SINCE HEARTBEAT WATCHDOG RUN
 *         the ring's header: stamps are the host's CLOCK_MONOTONIC_RAW, NOW
 *         its reading at sending; RUN is the processor time of the rank's main
 *         thread, ns; all 0 for a job without a ring
 *   exit  CODE SIGNAL TOLD
 *         TOLD 1: the starter had passed a signal on to the rank before
 *
 *   launcher -> starter
 *   ask         answer with a beat at once
 *   stop MS     CONT and TERM to the rank, KILL after MS
 */
#ifndef LAUNCH_WIRE_H
#define LAUNCH_WIRE_H

#define LAUNCH_LINE 256
#define LAUNCH_TOKEN 32 /* hex digits */

#define LAUNCH_ENV "FAULTDRILL_LAUNCH"
#define LAUNCH_ENV_JOB "FAULTDRILL_JOB"
#define LAUNCH_ENV_ATTEMPT "FAULTDRILL_ATTEMPT"

#endif
