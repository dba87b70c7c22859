/* peers.h - the other ranks of a collective, as far as their pages can be seen
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_PEERS_H
#define DRILL_PEERS_H

#include "injectors/hooks/hooks.h"

struct drill_peers {
	int seen;    /* other processes of that attempt that said hello */
	int entered; /* of them, those that have entered the call */
	int inside;  /* and those that are still in it */
};

/* Those of the call that @rank of @attempt makes as its @call-th of @word. The
 * pages of the trial's other hosts lie beside @dir when the lab is on one
 * machine; where they do not, only our own is seen. */
void drill_peers_look(const char *dir, int rank, int attempt,
		      enum drill_word word, int64_t call,
		      struct drill_peers *ret);

#endif
