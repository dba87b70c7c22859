/* ringdump.c - prints what is in a progress ring, one record a line
 * SPDX-License-Identifier: MIT
 *
 * ringdump FILE [pid|step]: all records without taking them, or one number of
 * the header.
 */
#include <inttypes.h>
#include <stdio.h>

#include "faultdrill/progress.h"

static const char *const kinds[] = {
	"?", "rank.begin", "step.begin", "step.end", "phase.begin", "phase.end",
	"checkpoint.writing", "checkpoint.before_rename",
	"checkpoint.committed", "checkpoint.failed", "restore.reading",
	"restore.done", "state", "symptom", "detected", "sample", "rank.end",
};

static void print(const struct faultdrill_record *e)
{
	printf("%s step=%" PRId64 " detail=%u n=%d a=%" PRId64 " b=%" PRId64
	       " f=%g text=%.16s\n",
	       kinds[e->kind <= FAULTDRILL_RANK_END ? e->kind : 0], e->step,
	       e->detail, e->n, e->a, e->b, e->f, e->text);
}

int main(int argc, char **argv)
{
	struct faultdrill_ring *r = argc > 1 ? faultdrill_ring_map(argv[1]) :
					       NULL;
	uint64_t i;

	if (!r)
		return 1;
	if (argc > 2) {
		printf("%" PRId64 "\n", strcmp(argv[2], "pid") ? r->step :
							(int64_t)r->pid);
		return 0;
	}
	for (i = r->read; i < r->written; i++)
		print(&r->record[i % FAULTDRILL_RING_RECORDS]);
	return r->lost != 0;
}
