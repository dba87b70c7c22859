/* progress.c - what one progress event costs the job
 * SPDX-License-Identifier: MIT
 *
 * usage: FAULTDRILL_RING=FILE progress
 */
#include "bench.h"

#include "faultdrill/progress.h"

#define ROUNDS 101
#define EVENTS 8000 /* two a call pair; the ring has room for all */

int main(void)
{
	struct faultdrill_ring *r = faultdrill_open(0, 0, 1);
	double ns[ROUNDS];
	int64_t t;

	if (!r) {
		perror("progress");
		return 3;
	}
	for (int i = 0; i < ROUNDS; i++) {
		FAULTDRILL_STORE(&r->read, FAULTDRILL_LOAD(&r->written));
		t = bench_ns();
		for (int k = 0; k < EVENTS / 2; k++) {
			faultdrill_phase_begin(r, FAULTDRILL_COMM);
			faultdrill_phase_end(r, FAULTDRILL_COMM);
		}
		ns[i] = (double)(bench_ns() - t) / EVENTS;
	}
	if (FAULTDRILL_LOAD(&r->lost)) {
		printf("FAIL no event was lost: %llu were\n",
		       (unsigned long long)FAULTDRILL_LOAD(&r->lost));
		return 1;
	}
	return !bench_verdict("progress event", bench_median(ns, ROUNDS), 100,
			      "ns");
}
