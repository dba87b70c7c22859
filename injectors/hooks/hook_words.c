/* hook_words.c - one word for a call, whatever library calls it
 * SPDX-License-Identifier: MIT
 */
#include "hooks.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define WHO "hooks"

/* First the word, then the names of other libraries for it. Variants (MPI_I*,
 * *v, *w, MPI_*_init) are spelled out, so that a typing error is one. */
static const struct {
	const char *word;
	const char *const also[12];
} words[DRILL_WORDS] = {
	[DRILL_WORD_NONE] = { "none", { NULL } },
	[DRILL_WORD_BARRIER] = { "barrier",
		{ "MPI_Barrier", "MPI_Ibarrier", "c10d barrier" } },
	[DRILL_WORD_BCAST] = { "bcast",
		{ "MPI_Bcast", "MPI_Ibcast", "ncclBroadcast", "ncclBcast",
		  "broadcast", "c10d broadcast" } },
	[DRILL_WORD_REDUCE] = { "reduce",
		{ "MPI_Reduce", "MPI_Ireduce", "ncclReduce", "c10d reduce" } },
	[DRILL_WORD_ALLREDUCE] = { "allreduce",
		{ "MPI_Allreduce", "MPI_Iallreduce", "ncclAllReduce",
		  "all_reduce", "c10d allreduce" } },
	[DRILL_WORD_REDUCE_SCATTER] = { "reduce_scatter",
		{ "MPI_Reduce_scatter", "MPI_Ireduce_scatter",
		  "MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block",
		  "ncclReduceScatter", "c10d reduce_scatter" } },
	[DRILL_WORD_ALLGATHER] = { "allgather",
		{ "MPI_Allgather", "MPI_Iallgather", "MPI_Allgatherv",
		  "MPI_Iallgatherv", "ncclAllGather", "all_gather",
		  "c10d allgather" } },
	[DRILL_WORD_GATHER] = { "gather",
		{ "MPI_Gather", "MPI_Igather", "MPI_Gatherv", "MPI_Igatherv",
		  "c10d gather" } },
	[DRILL_WORD_SCATTER] = { "scatter",
		{ "MPI_Scatter", "MPI_Iscatter", "MPI_Scatterv",
		  "MPI_Iscatterv", "c10d scatter" } },
	[DRILL_WORD_ALLTOALL] = { "alltoall",
		{ "MPI_Alltoall", "MPI_Ialltoall", "MPI_Alltoallv",
		  "MPI_Ialltoallv", "MPI_Alltoallw", "MPI_Ialltoallw",
		  "c10d alltoall" } },
	[DRILL_WORD_SCAN] = { "scan",
		{ "MPI_Scan", "MPI_Iscan", "MPI_Exscan", "MPI_Iexscan" } },
	[DRILL_WORD_NEIGHBOR] = { "neighbor",
		{ "MPI_Neighbor_allgather", "MPI_Ineighbor_allgather",
		  "MPI_Neighbor_allgatherv", "MPI_Ineighbor_allgatherv",
		  "MPI_Neighbor_alltoall", "MPI_Ineighbor_alltoall",
		  "MPI_Neighbor_alltoallv", "MPI_Ineighbor_alltoallv",
		  "MPI_Neighbor_alltoallw", "MPI_Ineighbor_alltoallw" } },
	[DRILL_WORD_SEND] = { "send",
		{ "MPI_Send", "MPI_Isend", "MPI_Ssend", "MPI_Issend",
		  "MPI_Bsend", "MPI_Ibsend", "MPI_Rsend", "MPI_Irsend",
		  "ncclSend", "c10d send" } },
	[DRILL_WORD_RECV] = { "recv",
		{ "MPI_Recv", "MPI_Irecv", "MPI_Mrecv", "MPI_Imrecv",
		  "ncclRecv", "c10d recv" } },
	[DRILL_WORD_SENDRECV] = { "sendrecv",
		{ "MPI_Sendrecv", "MPI_Sendrecv_replace" } },
	[DRILL_WORD_WAIT] = { "wait",
		{ "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome" } },
	[DRILL_WORD_TEST] = { "test",
		{ "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome" } },
	[DRILL_WORD_PROBE] = { "probe",
		{ "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe" } },
};

/* Without "none": what a user may name. */
const char *const drill_word_names[] = {
	"barrier", "bcast", "reduce", "allreduce", "reduce_scatter",
	"allgather", "gather", "scatter", "alltoall", "scan", "neighbor",
	"send", "recv", "sendrecv", "wait", "test", "probe", NULL,
};

static bool is_word(unsigned int w, const char *name)
{
	if (!strcmp(words[w].word, name))
		return true;
	for (int i = 0; words[w].also[i]; i++)
		if (!strcasecmp(words[w].also[i], name))
			return true;
	return false;
}

int drill_word_parse(const char *name, enum drill_word *ret,
		     struct drill_err *err)
{
	const char *near;

	for (unsigned int w = 1; w < DRILL_WORDS; w++) {
		if (!is_word(w, name))
			continue;
		*ret = (enum drill_word)w;
		return 0;
	}
	near = drill_nearest(name, drill_word_names);
	return drill_err_set(err, -EINVAL, WHO,
			     "unknown call '%s'%s%s%s", name,
			     near ? ", did you mean '" : "", near ? near : "",
			     near ? "'?" : "");
}

const char *drill_word_name(unsigned int word)
{
	return word < DRILL_WORDS ? words[word].word : "?";
}

const char *drill_hook_where_name(unsigned int where)
{
	static const char *const names[] = { "?", "before", "inside", "after" };

	return where <= DRILL_HOOK_AFTER ? names[where] : "?";
}
