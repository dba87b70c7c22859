/* seen.h - what the hooks in the job saw, as trials[].hooks tells it
 * SPDX-License-Identifier: MIT
 *
 * hooks {mpi: [process], cuda: [process], waits: [moment of one host]}; what is
 * written there was said by processes of the job, so nothing is relied on.
 */
#ifndef DRILL_SEEN_H
#define DRILL_SEEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* One rank at a moment. Strings are borrowed. */
struct drill_seen_wait {
	int rank;
	const char *host, *word, *where; /* of the call it is in; "" for none */
	double step, collective, call;	 /* NAN when unknown */
	double waits_s; /* in that call or collective; NAN: in none */
	double silent_s;
	bool odd; /* not as most of the others are */
};

/* A moment: what all hosts said of one detection. */
struct drill_seen_moment {
	const char *at; /* "detected by watchdog" */
	double t_s;
	struct drill_seen_wait *rank; /* by number */
	size_t n;
};

/* Yours: drill_seen_free. */
struct drill_seen_moment *drill_seen_moments(json_t *trial, size_t *ret_n);
void drill_seen_free(struct drill_seen_moment *m, size_t n);

/* "in allreduce 35 for 3.02 s, no sign of life for 3.02 s". Returns @buf. */
const char *drill_seen_wait_text(const struct drill_seen_wait *w, char *buf,
				 size_t size);

/* What the proxies of all processes counted. */
struct drill_seen_proxies {
	size_t processes;
	double linked, remapped, passed, bypassed, launches;
};

void drill_seen_proxies(json_t *trial, struct drill_seen_proxies *ret);

#endif
