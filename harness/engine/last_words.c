/* last_words.c - keeps the logs of a job that did not finish, and its last line
 * SPDX-License-Identifier: MIT
 *
 * A trial's folder goes with its lab. What the ranks and the launcher wrote is
 * copied to collect/trial-N/ of the results first: the last 64 KiB of each.
 */
#include "drill_impl.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TAIL (64 * 1024)

struct words {
	const char *from, *to; /* folders */
	char *buf;	       /* TAIL + 1 */
	struct timespec first; /* of the rank that fell silent first */
	char *ret;
	size_t size;
};

static int is_log(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 4 && strcmp(e->d_name + n - 4, ".log") == 0;
}

/* The last line that says something, as one line of plain text. */
static void last_line(const char *who, const char *text, char *ret, size_t size)
{
	size_t end = strlen(text), from;
	char *p;

	while (end && strchr(" \t\r\n", text[end - 1]))
		end--;
	for (from = end; from && text[from - 1] != '\n'; from--)
		;
	snprintf(ret, size, "%.*s: %.*s", (int)strcspn(who, "."), who,
		 (int)(end - from < 160 ? end - from : 160), text + from);
	for (p = ret; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

static size_t read_tail(const char *path, char *buf, struct stat *st)
{
	FILE *f = fopen(path, "re");
	size_t n = 0;

	if (f && fstat(fileno(f), st) == 0 && S_ISREG(st->st_mode) &&
	    (st->st_size <= TAIL || fseek(f, -TAIL, SEEK_END) == 0))
		n = fread(buf, 1, TAIL, f);
	if (f)
		fclose(f);
	buf[n] = '\0';
	return strlen(buf) < n ? strlen(buf) : n;
}

static bool earlier(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec ||
	       (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static void keep(struct words *w, const char *name)
{
	char path[900];
	struct stat st;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", w->from, name);
	n = read_tail(path, w->buf, &st);
	if (n == 0 || strspn(w->buf, " \t\r\n") == n)
		return;
	snprintf(path, sizeof(path), "%s/%s", w->to, name);
	f = fopen(path, "we");
	if (f) {
		fwrite(w->buf, 1, n, f);
		fclose(f);
	}
	if (strncmp(name, "rank", 4) == 0) {
		if (w->first.tv_sec && !earlier(&st.st_mtim, &w->first))
			return;
		w->first = st.st_mtim;
	} else if (w->ret[0]) {
		return;
	}
	last_line(name, w->buf, w->ret, w->size);
}

void drill_last_words(struct drill_trial *t, char *ret, size_t size)
{
	char to[600];
	struct words w = { t->dir, to, malloc(TAIL + 1), { 0 }, ret, size };
	struct dirent **e = NULL;
	int i, n = w.buf ? scandir(t->dir, &e, is_log, alphasort) : -1;

	ret[0] = '\0';
	snprintf(to, sizeof(to), "%s/collect", t->d->ret->dir);
	if (n > 0)
		mkdir(to, 0755);
	snprintf(to, sizeof(to), "%.560s/collect/trial-%d", t->d->ret->dir,
		 t->index + 1);
	if (n > 0)
		mkdir(to, 0755);
	for (i = 0; i < n; i++) {
		keep(&w, e[i]->d_name);
		free(e[i]);
	}
	free(e);
	free(w.buf);
}
