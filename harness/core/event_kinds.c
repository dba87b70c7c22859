/* event_kinds.c - the one table of event kinds and what each carries
 * SPDX-License-Identifier: MIT
 *
 * A field is "name:type"; the types stand in event.h. Common fields
 * (drill_event_common) need not be repeated, only named when required.
 */
#include "event.h"

#define RANK "attempt:i rank:i "
#define STEP "attempt:i step:i "
#define BY                                                                     \
	"by:mpi|nccl|framework|watchdog|heartbeat|health|launcher|scheduler"   \
	"|telemetry|straggler|numerics|checksum|storage|user|none"             \
	"|health.nvml|health.xid|replica.hash "
#define ROLE "role:baseline|null|fault "
#define OUTCOME "outcome:pass|fail|usage|error|skip|dirty|inconclusive "
#define PHASE "phase:init|connect|data|compute|comm|checkpoint|restore "
#define STATE "of:parameters|optimizer|sampler "

static const struct drill_event_kind kinds[] = {
	{"trial.begin", "trial:i ranks:i " ROLE,
	 "spares:i steps:i follow:events|log faults:a model:o price:o",
	 "A trial begins."},
	{"trial.end", "trial:i " OUTCOME, "reason:s",
	 "A trial is over, all of it reverted or known not to be."},
	{"attempt.begin", "attempt:i reason:s", "",
	 "The launcher starts the job."},
	{"attempt.end", "attempt:i reason:s", "",
	 "The job is gone; done and gave_up are final."},
	{"rank.begin", RANK "pid:i", "device:i", "A rank's process lives."},
	{"rank.end", RANK, "code:i signal:i", "A rank's process is gone."},
	{"step.begin", STEP, "stage:s", "A rank begins a training step."},
	{"step.end", STEP, "tokens:n samples:o loss:f stage:s",
	 "A rank ends a training step; without rank: all of them."},
	{"phase.begin", RANK PHASE, "step:i",
	 "What a rank does inside or between steps."},
	{"phase.end", RANK PHASE, "step:i",
	 "The end of the phase of that name."},
	{"checkpoint.writing", STEP, "bytes:n tier:s reason:s",
	 "The state after this step is being written."},
	{"checkpoint.before_rename", STEP, "bytes:n tier:s reason:s",
	 "Written and synced, not yet committed."},
	{"checkpoint.committed", STEP, "bytes:n tier:s reason:s",
	 "From here on a restore can use it."},
	{"checkpoint.failed", STEP, "bytes:n tier:s reason:s",
	 "It will never be committed."},
	{"restore.reading", STEP, "tier:s bytes:n",
	 "The state after this step is being read."},
	{"restore.done", STEP, "tier:s bytes:n",
	 "The state that training goes on from; 0 is the fresh one."},
	{"state", STEP "hash:s " STATE, "", "The hash of a rank's state."},
	{"fault.requested", "fault:s", "target:l evidence:o injector:s class:s "
	 "fidelity:s natural:b",
	 "The trigger has fired."},
	{"fault.issued", "fault:s", "target:l evidence:o",
	 "The agent is about to act; the record is durable."},
	{"fault.effective", "fault:s", "target:l evidence:o",
	 "The fault is in force, read back and seen."},
	{"fault.reverted", "fault:s", "target:l evidence:o state:s reason:s",
	 "The fault is no longer in force."},
	{"symptom", "", BY "what:s blame:s fault:s",
	 "Something looks wrong; nobody has said so yet."},
	{"detected", BY, "what:s blame:s fault:s correct:b",
	 "A detector says that something is wrong."},
	{"blamed", BY "blame:s", "what:s fault:s",
	 "A detector says which part it is."},
	{"stopped", "attempt:i", BY "what:s blame:s",
	 "No rank of this attempt makes progress any more."},
	{"fenced", "attempt:i", BY "what:s blame:s",
	 "No process of an older attempt can still write or answer."},
	{"allocated", "attempt:i", BY "what:s blame:s",
	 "The places for the next attempt are known."},
	{"slot.released", "slot:i", "reason:s",
	 "The place is given back: the job waits in a queue for it."},
	{"slot.acquired", "slot:i", "reason:s", "The place is the job's again."},
	{"host.down", "host:s", "reason:s", "A host is gone."},
	{"host.up", "host:s", "reason:s spare:b", "A host can be used."},
	{"device.state", "host:s device:i state:s", "reason:s",
	 "A device is in another state."},
	{"link.state", "link:s state:s", "reason:s",
	 "A link is in another state."},
	{"clock.offset", "host:s offset_s:n", "rtt_s:n",
	 "How far this host's clock is ahead of the controller's."},
	{"evidence", "of:mpi|cuda|waits",
	 "at:s waits:a calls:a sent:a program:s next:s build:s linked:i "
	 "remapped:i passed:i bypassed:i launches:i driver_calls:i cuda:b "
	 "nvml:b audited:b",
	 "What the hooks in the job saw: of one process, or at one moment."},
	{"expectation", "metric:s op:s", "limit:x value:x held:t stat:s n:i",
	 "An expectation was judged."},
	{"sample", "metric:s value:f", "", "A number the workload tells."},
	{"log", "text:s", "", "A line that the story wrote."},
	{NULL, NULL, NULL, NULL},
};

const struct drill_event_kind *drill_event_kinds(void)
{
	return kinds;
}

const char *drill_event_common(void)
{
	return "kind:s t_s:n u_s:n h_s:n epoch:x workload:s trial:i attempt:i "
	       "host:s source:s rank:i slot:i pid:i incident:x";
}
