/* peers.c - the other ranks of a collective, as far as their pages can be seen
 * SPDX-License-Identifier: MIT
 */
#include "peers.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

struct looking {
	int rank, attempt;
	enum drill_word word;
	int64_t call;
	struct drill_peers *ret;
};

static bool in_call(const struct drill_hook_slot *s, const struct looking *k)
{
	int i;

	for (i = 0; i < DRILL_HOOK_LANES; i++)
		if (atomic_load(&s->lane[i].word) == (uint32_t)k->word &&
		    atomic_load(&s->lane[i].where) == DRILL_HOOK_INSIDE &&
		    (int64_t)atomic_load(&s->lane[i].call) == k->call)
			return true;
	return false;
}

/* Calls are counted as they are entered. */
static void look_at(const struct drill_hooks *h, const struct looking *k)
{
	struct drill_hello_seen hello[DRILL_HOOK_SLOTS];
	int n = drill_hooks_hellos(h, hello, DRILL_HOOK_SLOTS), i;
	const struct drill_hook_slot *s;

	for (i = 0; i < n; i++) {
		if (hello[i].attempt != k->attempt || hello[i].rank == k->rank)
			continue;
		s = &h->page->slot[hello[i].slot];
		k->ret->seen++;
		k->ret->entered += (int64_t)atomic_load(
					   &s->count[k->word].calls) >= k->call;
		k->ret->inside += in_call(s, k);
	}
}

void drill_peers_look(const char *dir, int rank, int attempt,
		      enum drill_word word, int64_t call,
		      struct drill_peers *ret)
{
	struct looking k = { rank, attempt, word, call, ret };
	char trial[256], path[600];
	struct drill_hooks h;
	struct dirent *e;
	DIR *d;

	memset(ret, 0, sizeof(*ret));
	snprintf(trial, sizeof(trial), "%s", dir);
	if (strrchr(trial, '/'))
		*strrchr(trial, '/') = 0;
	d = opendir(trial);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/hooks.page", trial,
			 e->d_name);
		if (drill_hooks_open(&h, path, NULL) < 0)
			continue;
		look_at(&h, &k);
		drill_hooks_close(&h);
	}
	if (d)
		closedir(d);
}
