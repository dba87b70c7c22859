/* blame.c - how near a blamed name is to what was hurt
 * SPDX-License-Identifier: MIT
 */
#include "print.h"

#include <stdlib.h>
#include <string.h>

/* Where a rank lived when it was last begun before @at. */
static const char *host_of_rank(const struct trial *t, const char *number,
				double at)
{
	const char *host = NULL;
	char *end;
	long rank = strtol(number, &end, 10);
	size_t i;

	if (*end || end == number || rank < 0 || rank >= t->n)
		return NULL;
	for (i = 0; i < t->slot[rank].life.n; i++) {
		const struct life *l = &t->slot[rank].life.v[i];

		if (l->begins && l->t <= at && l->host)
			host = l->host;
	}
	return host;
}

/* The host in "host h1", "rank 3", "device h1/gpu0"; *ret_len its length. */
static const char *host_in(const struct trial *t, const char *name, double at,
			   size_t *ret_len)
{
	const char *host = NULL;

	*ret_len = 0;
	if (!strncmp(name, "host ", 5))
		host = name + 5;
	else if (!strncmp(name, "device ", 7))
		host = name + 7;
	else if (!strncmp(name, "rank ", 5))
		host = host_of_rank(t, name + 5, at);
	if (host)
		*ret_len = strcspn(host, "/: ");
	return host;
}

static bool same_host(const struct trial *t, const char *a, const char *b,
		      double at)
{
	size_t la, lb;
	const char *ha = host_in(t, a, at, &la), *hb = host_in(t, b, at, &lb);

	return ha && hb && la && la == lb && !strncmp(ha, hb, la);
}

const char *drill_blame_level(const struct trial *t, const struct incident *i,
			      const char *name)
{
	double at = i->at[AT_EFFECTIVE].t;
	json_t *v;
	bool near = false;
	size_t k;

	if (!name)
		return "none";
	if (drill_is_target(i, name))
		return "exact";
	if (drill_is_right(i, name))
		return "device";
	json_array_foreach(i->targets, k, v)
		near = near || same_host(t, json_string_value(v), name, at);
	if (!near)
		return "other";
	return !strncmp(name, "device ", 7) ? "device" : "host";
}
