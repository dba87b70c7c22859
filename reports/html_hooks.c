/* html_hooks.c - what the hooks saw: who waited, what was called, by which way
 * SPDX-License-Identifier: MIT
 *
 * For each detection: where every rank was at that moment, those first that
 * were not as the others. Then what MPI and the driver were called for in the
 * trial, and whether all of it went through the hooks.
 */
#include "html_part.h"
#include "seen.h"

#include <stdlib.h>
#include <string.h>

#define ROWS 16 /* of a table; the others are folded */
#define WORDS 32

/* ---- who waited ---- */

static void wait_row(struct html *h, const struct drill_seen_wait *w)
{
	char text[160];

	put(h, "<tr%s><th scope=\"row\">rank %d</th><td>%s</td><td class=\"n\">%s"
	    "</td><td class=\"n\">%s</td><td class=\"wrap\">%s</td></tr>\n",
	    w->odd ? " class=\"bad\"" : "", w->rank, esc(h, w->host),
	    num(h, w->step, 0), num(h, w->collective, 0),
	    esc(h, drill_seen_wait_text(w, text, sizeof(text))));
}

static void wait_head(struct html *h)
{
	put(h, "<div class=\"scroll\"><table><thead><tr><th>rank</th><th>host"
	    "</th><th class=\"n\">step</th><th class=\"n\">collectives</th>"
	    "<th>where it was</th></tr></thead><tbody>\n");
}

static void wait_rows(struct html *h, const struct drill_seen_moment *m,
		      bool odd, size_t from, size_t to)
{
	size_t i, n = 0;

	for (i = 0; i < m->n; i++) {
		if (m->rank[i].odd != odd)
			continue;
		if (n >= from && n < to)
			wait_row(h, &m->rank[i]);
		n++;
	}
}

static void moment(struct html *h, const struct drill_seen_moment *m)
{
	size_t i, odd = 0, rest;

	for (i = 0; i < m->n; i++)
		odd += m->rank[i].odd;
	rest = odd < ROWS ? ROWS - odd : 0;
	put(h, "<h3>When it was %s%s</h3>\n", esc(h, m->at),
	    isnan(h->begin) ? "" : drill_html_text(h, ", at %s&thinsp;s",
						   num(h, m->t_s - h->begin,
						       3)));
	wait_head(h);
	wait_rows(h, m, true, 0, ROWS);
	wait_rows(h, m, false, 0, rest);
	put(h, "</tbody></table></div>\n");
	if (m->n <= ROWS)
		return;
	put(h, "<details><summary>The other %zu ranks</summary>",
	    m->n - ROWS);
	wait_head(h);
	wait_rows(h, m, true, ROWS, m->n);
	wait_rows(h, m, false, rest, m->n);
	put(h, "</tbody></table></div></details>\n");
}

/* ---- MPI ---- */

struct word {
	const char *name;
	double calls_least, calls_most, bytes, least_s, most_s;
	size_t ranks;
};

static void add_word(struct word *w, size_t *n, json_t *c)
{
	const char *name = drill_look_text(c, "word", "?");
	double calls = drill_look_num(c, "calls"), s = drill_look_num(c, "s");
	double bytes = drill_look_num(c, "bytes");
	size_t i;

	for (i = 0; i < *n && strcmp(w[i].name, name) != 0; i++)
		;
	if (i == WORDS)
		return;
	if (i == *n)
		w[(*n)++] = (struct word){ .name = name, .calls_least = calls,
					   .calls_most = calls, .least_s = s,
					   .most_s = s };
	w[i].calls_least = fmin(w[i].calls_least, calls);
	w[i].calls_most = fmax(w[i].calls_most, calls);
	w[i].least_s = fmin(w[i].least_s, s);
	w[i].most_s = fmax(w[i].most_s, s);
	w[i].bytes += bytes > 0 ? bytes : 0;
	w[i].ranks++;
}

static const char *range(struct html *h, double least, double most, int digits)
{
	if (least == most)
		return num(h, most, digits);
	return drill_html_text(h, "%s to %s", num(h, least, digits),
			       num(h, most, digits));
}

static void calls(struct html *h, json_t *processes)
{
	struct word w[WORDS];
	json_t *p, *c;
	size_t i, k, n = 0;

	json_array_foreach (processes, i, p)
		json_array_foreach (drill_look(p, "calls"), k, c)
			add_word(w, &n, c);
	if (!n)
		return;
	put(h, "<div class=\"scroll\"><table><thead><tr><th>call</th><th "
	    "class=\"n\">processes</th><th class=\"n\">calls of each</th><th "
	    "class=\"n\">MiB in all</th><th class=\"n\">seconds in it</th></tr>"
	    "</thead><tbody>\n");
	for (i = 0; i < n; i++)
		put(h, "<tr><th scope=\"row\">%s</th><td class=\"n\">%zu</td><td "
		    "class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s"
		    "</td></tr>\n", esc(h, w[i].name), w[i].ranks,
		    range(h, w[i].calls_least, w[i].calls_most, 0),
		    num(h, w[i].bytes / 1048576, -1),
		    range(h, w[i].least_s, w[i].most_s, 3));
	put(h, "</tbody></table></div>\n");
}

struct sent {
	int from, to;
	double messages, bytes;
};

static int by_bytes(const void *a, const void *b)
{
	const struct sent *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static struct sent *all_sent(json_t *processes, size_t *ret_n)
{
	struct sent *v;
	json_t *p, *s;
	size_t i, k, most = 0;

	json_array_foreach (processes, i, p)
		most += drill_look_size(p, "sent");
	v = calloc(most + 1, sizeof(*v));
	*ret_n = 0;
	json_array_foreach (processes, i, p)
		json_array_foreach (drill_look(p, "sent"), k, s)
			if (v && *ret_n < most)
				v[(*ret_n)++] = (struct sent){
					(int)drill_look_num(p, "rank"),
					(int)drill_look_num(s, "peer"),
					drill_look_num(s, "messages"),
					drill_look_num(s, "bytes"),
				};
	if (v)
		qsort(v, *ret_n, sizeof(*v), by_bytes);
	return v;
}

/* Bytes by peer: the pairs that spoke most. */
static void peers(struct html *h, json_t *processes)
{
	size_t i, n;
	struct sent *v = all_sent(processes, &n);

	if (!v || !n) {
		put(h, "<p class=\"small mute\">No rank sent anything point to "
		    "point.</p>\n");
		free(v);
		return;
	}
	put(h, "<p class=\"small\">Sent point to point:</p>\n<div "
	    "class=\"scroll\"><table><thead><tr><th>from</th><th>to</th>"
	    "<th class=\"n\">messages</th><th class=\"n\">MiB</th></tr></thead>"
	    "<tbody>\n");
	for (i = 0; i < n && i < ROWS; i++)
		put(h, "<tr><th scope=\"row\">rank %d</th><td>rank %d</td><td "
		    "class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
		    v[i].from, v[i].to, num(h, v[i].messages, 0),
		    num(h, v[i].bytes / 1048576, -1));
	put(h, "</tbody></table></div>\n");
	if (n > ROWS)
		put(h, "<p class=\"small mute\">%zu more pairs sent less.</p>\n",
		    n - ROWS);
	free(v);
}

static void mpi(struct html *h)
{
	json_t *processes = drill_look(h->trial, "hooks.mpi");

	if (!json_array_size(processes))
		return;
	put(h, "<div><h3>MPI, through the hook in %zu process%s</h3>\n",
	    json_array_size(processes),
	    json_array_size(processes) == 1 ? "" : "es");
	calls(h, processes);
	peers(h, processes);
	put(h, "</div>\n");
}

/* ---- the driver ---- */

static void proxy_row(struct html *h, json_t *p)
{
	bool bypassed = drill_look_num(p, "bypassed") > 0;
	static const char *const counts[] = { "linked", "remapped", "passed",
					      "bypassed", "launches" };

	put(h, "<tr%s><th scope=\"row\">rank %s.%s</th><td>%s</td>",
	    bypassed ? " class=\"bad\"" : "",
	    num(h, drill_look_num(p, "rank"), 0),
	    num(h, drill_look_num(p, "attempt"), 0),
	    esc(h, drill_look_text(p, "host", "")));
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		put(h, "<td class=\"n\">%s</td>",
		    num(h, drill_look_num(p, counts[i]), 0));
	put(h, "</tr>\n");
}

static void proxy_table(struct html *h, json_t *processes, size_t from,
			size_t to)
{
	put(h, "<div class=\"scroll\"><table><thead><tr><th>rank.attempt</th>"
	    "<th>host</th><th class=\"n\">linked</th><th class=\"n\">remapped"
	    "</th><th class=\"n\">passed through</th><th class=\"n\">bypassed"
	    "</th><th class=\"n\">launches</th></tr></thead><tbody>\n");
	for (size_t i = from; i < to; i++)
		proxy_row(h, json_array_get(processes, i));
	put(h, "</tbody></table></div>\n");
}

static void cuda(struct html *h)
{
	json_t *processes = drill_look(h->trial, "hooks.cuda");
	size_t n = json_array_size(processes);
	struct drill_seen_proxies sum;

	if (!n)
		return;
	drill_seen_proxies(h->trial, &sum);
	put(h, "<div><h3>CUDA, through the proxy in %zu process%s</h3>\n<p "
	    "class=\"small\">%s Entry points reached: %s linked or looked up, "
	    "%s remapped, %s passed through unknown, %s by a second driver "
	    "library.</p>\n", n, n == 1 ? "" : "es",
	    drill_html_outcome(h, sum.bypassed > 0 ? DRILL_INCONCLUSIVE
						   : DRILL_PASS,
			       sum.bypassed > 0 ? "bypassed" : "all of it seen",
			       false),
	    num(h, sum.linked, 0), num(h, sum.remapped, 0),
	    num(h, sum.passed, 0), num(h, sum.bypassed, 0));
	proxy_table(h, processes, 0, n < ROWS ? n : ROWS);
	if (n > ROWS) {
		put(h, "<details><summary>The other %zu processes</summary>",
		    n - ROWS);
		proxy_table(h, processes, ROWS, n);
		put(h, "</details>\n");
	}
	put(h, "</div>\n");
}

void drill_html_hooks(struct html *h)
{
	struct drill_seen_moment *m;
	size_t i, n;

	if (!drill_look_size(h->trial, "hooks"))
		return;
	put(h, "<section id=\"hooks\"><h2>What the hooks saw</h2>\n<p class="
	    "\"lede\">Where each rank was when somebody noticed, what was "
	    "called in the trial, and whether all of it could be reached by a "
	    "fault.</p>\n");
	m = drill_seen_moments(h->trial, &n);
	for (i = 0; m && i < n; i++)
		moment(h, &m[i]);
	drill_seen_free(m, n);
	put(h, "<div class=\"two\">");
	mpi(h);
	cuda(h);
	put(h, "</div></section>\n");
}
