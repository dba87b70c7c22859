/* nearest.c - the name that was probably meant
 * SPDX-License-Identifier: MIT
 */
#include "unit.h"

#include <string.h>

/* No name of ours is longer; what is, is no typing mistake. */
#define LONGEST 63

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/* Edits that turn @a into @b: insert, drop, change, or swap two neighbours.
 * Three rows of the classic table are enough. */
static unsigned int edits(const char *a, const char *b)
{
	unsigned int rows[3][LONGEST + 1];
	unsigned int *before = rows[0], *last = rows[1], *row = rows[2], *free_row;
	unsigned int i, j, n = (unsigned int)strlen(b);

	for (j = 0; j <= n; j++)
		last[j] = before[j] = j;
	for (i = 1; a[i - 1]; i++) {
		row[0] = i;
		for (j = 1; j <= n; j++) {
			row[j] = min3(last[j] + 1, row[j - 1] + 1,
				      last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				row[j] = min3(row[j], before[j - 2] + 1,
					      row[j]);
		}
		free_row = before;
		before = last;
		last = row;
		row = free_row;
	}
	return last[n];
}

const char *drill_nearest(const char *name, const char *const *names)
{
	size_t len = strlen(name);
	unsigned int d, least;
	const char *ret = NULL;

	if (!len || len > LONGEST)
		return NULL;
	least = (unsigned int)len / 3 + 2; /* from here on it is another word */
	if (least > len)
		least = (unsigned int)len;
	for (; *names; names++) {
		if (strlen(*names) > LONGEST)
			continue;
		d = edits(name, *names);
		if (d < least) {
			least = d;
			ret = *names;
		}
	}
	return ret;
}
