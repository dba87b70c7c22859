/* html_lab.c - where it ran: the hosts, their clocks, the environment, the files
 * SPDX-License-Identifier: MIT
 *
 * Up to eight hosts are drawn with their ranks; of more only those that a
 * fault hit or that took over, and one box for all others.
 */
#include "html_part.h"

#include <stdlib.h>
#include <string.h>

#define DRAWN 8
#define HOSTS 4096

struct host {
	const char *name;
	bool spare, hit;
	int first, last, ranks; /* slots that began here; ranks 0: none */
	int took, took_last;	/* slots that came here from elsewhere; -1 */
};

struct map {
	struct html *h;
	struct host *host;
	size_t n;
};

static struct host *host_named(struct map *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->host[i].name, name))
			return &m->host[i];
	if (!*name || m->n == HOSTS)
		return NULL;
	m->host[m->n] = (struct host){ .name = name, .took = -1 };
	return &m->host[m->n++];
}

static void read_lab(struct map *m)
{
	json_t *host, *ev;
	size_t i;

	json_array_foreach (drill_look(m->h->run, "lab.hosts"), i, host) {
		struct host *at = host_named(m, json_is_string(host)
			? json_string_value(host)
			: drill_look_text(host, "name", ""));

		if (at)
			at->spare = drill_look_true(host, "spare");
	}
	json_array_foreach (m->h->begins, i, ev)
		host_named(m, drill_look_text(ev, "host", ""));
}

static void took(struct host *at, int slot)
{
	if (at->took < 0)
		at->took = at->took_last = slot;
	if (slot < at->took)
		at->took = slot;
	if (slot > at->took_last)
		at->took_last = slot;
}

static void place(struct map *m)
{
	bool *seen = calloc((size_t)m->h->ranks + 1, sizeof(*seen));
	json_t *ev;
	size_t i;

	json_array_foreach (m->h->begins, i, ev) {
		struct host *at = host_named(m, drill_look_text(ev, "host", ""));
		double slot = drill_look_num(ev, "slot");

		if (isnan(slot))
			slot = drill_look_num(ev, "rank");
		if (!at || !seen || !(slot >= 0 && slot < m->h->ranks))
			continue;
		if (seen[(size_t)slot]) {
			if (!at->ranks || slot < at->first || slot > at->last)
				took(at, (int)slot);
			continue;
		}
		seen[(size_t)slot] = true;
		if (!at->ranks++)
			at->first = (int)slot;
		at->last = (int)slot;
	}
	free(seen);
	for (i = 0; i < m->n; i++)
		m->host[i].hit = drill_html_host_hit(m->h, m->host[i].name);
}

static const char *ranks_text(struct html *h, const struct host *host)
{
	if (!host->ranks)
		return "no rank";
	if (host->ranks == 1)
		return drill_html_text(h, "rank %d", host->first);
	return drill_html_text(h, "ranks %d\u2013%d", host->first, host->last);
}

/* A square a rank, while they fit; else their numbers in words. */
static void ranks(struct html *h, const struct host *host, int width)
{
	int n = host->ranks, room = width - 12;
	int apart = n ? room / n : 0, side = apart > 21 ? 18 : apart - 3;

	if (!n || side < 8 || host->last - host->first + 1 != n) {
		put(h, "<text class=\"c sm m\" x=\"%d\" y=\"38\">%s</text>",
		    width / 2, ranks_text(h, host));
		return;
	}
	for (int k = 0; k < n; k++) {
		bool hit = false;
		int x = 6 + k * apart + (apart - side) / 2;
		json_t *inc;
		size_t i;

		json_array_foreach (h->incidents, i, inc)
			hit = hit || drill_html_slot_hit(inc) == host->first + k;
		put(h, "<rect class=\"dev%s\" x=\"%d\" y=\"24\" width=\"%d\" "
		    "height=\"%d\"/>", hit ? " bad" : "", x, side, side);
		if (hit)
			put(h, "<path class=\"xm\" d=\"M%d 27l%d %dm0-%dl-%d %d"
			    "\"/>", x + 3, side - 6, side - 6, side - 6,
			    side - 6, side - 6);
		put(h, "<text class=\"c sm%s\" x=\"%d\" y=\"%d\">%d</text>", hit
		    ? " b f" : " m", x + side / 2, 24 + side + 13,
		    host->first + k);
	}
}

static const char *what_hit(struct html *h, const struct host *host)
{
	json_t *inc;
	size_t i;
	const char *text = "";

	json_array_foreach (h->incidents, i, inc) {
		int slot = drill_html_slot_hit(inc);

		if (slot >= 0 ? slot < host->first || slot > host->last
		    : !strstr(drill_html_target(h, inc), host->name))
			continue;
		text = drill_html_text(h, "%s%s%s", text, *text ? ", " : "",
				       drill_look_text(inc, "fault", ""));
	}
	return text;
}

static const char *cut(struct html *h, const char *text, size_t most)
{
	return strlen(text) <= most ? text :
		drill_html_text(h, "%.*s\u2026", (int)most - 1, text);
}

static void box(struct html *h, const struct host *host, double x, int width)
{
	put(h, "<svg x=\"%s\" y=\"58\" width=\"%d\" height=\"66\"><g transform="
	    "\"translate(-%d 0)\"><rect class=\"host%s%s\" width=\"%d\" "
	    "height=\"66\" rx=\"3\"/><text class=\"c sm%s\" x=\"%d\" y=\"15\">%s%s"
	    "</text>", pct(h, x), width, width / 2, host->spare ? " spare" : "",
	    host->hit ? " bad" : "", width, host->hit ? " b" : "", width / 2,
	    esc(h, cut(h, host->name, 12)), host->spare ? ", spare" : "");
	ranks(h, host, width);
	put(h, "</g></svg>");
	if (host->hit)
		put(h, "<text class=\"f b sm c\" x=\"%s\" y=\"138\">%s</text>",
		    pct(h, x), esc(h, cut(h, what_hit(h, host), 16)));
	else if (host->took >= 0)
		put(h, "<text class=\"m sm c\" x=\"%s\" y=\"138\">took "
		    "%s</text>", pct(h, x), host->took == host->took_last ?
		    drill_html_text(h, "rank %d", host->took) :
		    drill_html_text(h, "ranks %d\u2013%d", host->took,
				    host->took_last));
}

static void draw(struct map *m, const struct host *const *drawn, size_t n)
{
	struct html *h = m->h;
	bool rest = n < m->n;
	double apart = 100.0 / (double)(n + rest);
	int width = n + rest <= 5 ? 108 : 76;

	put(h, "<svg class=\"plot\" height=\"146\" role=\"img\" aria-label=\"The "
	    "hosts of the lab and where the ranks began\"><rect class=\"host\" "
	    "x=\"35%%\" y=\"2\" width=\"30%%\" height=\"24\" rx=\"3\"/><text "
	    "class=\"c\" x=\"50%%\" y=\"18\">network of the job</text>");
	for (size_t i = 0; i < n; i++) {
		double x = apart * ((double)i + 0.5);

		put(h, "<line class=\"wire\" x1=\"%s\" y1=\"26\" x2=\"%s\" "
		    "y2=\"58\"/>", pct(h, 36 + 28 * ((double)i + 0.5) /
		    (double)(n + rest)), pct(h, x));
		box(h, drawn[i], x, width);
	}
	if (rest)
		put(h, "<text class=\"c m\" x=\"%s\" y=\"88\">and %zu more</text>"
		    "<text class=\"c m sm\" x=\"%s\" y=\"104\">not hit</text>",
		    pct(h, 100 - apart / 2), m->n - n, pct(h, 100 - apart / 2));
	put(h, "</svg>\n");
}

static void map(struct html *h)
{
	struct map m = { .h = h, .host = calloc(HOSTS, sizeof(*m.host)) };
	const struct host *drawn[DRAWN];
	size_t n = 0;

	if (!m.host)
		return;
	read_lab(&m);
	if (h->trial && h->ranks > 0 && h->ranks < 1e6)
		place(&m);
	for (size_t i = 0; i < m.n; i++) {
		const struct host *at = &m.host[i];

		if (n < DRAWN && (m.n <= DRAWN || ((at->hit || at->took >= 0) &&
						   n < DRAWN - 2)))
			drawn[n++] = at;
	}
	if (m.n)
		draw(&m, drawn, n);
	free(m.host);
}

static void clock_row(struct html *h, json_t *ev)
{
	double off = drill_look_num(ev, "offset_s");
	double u = drill_look_num(ev, "u_s");

	put(h, "<tr><th scope=\"row\">%s</th><td class=\"n\">%s</td><td "
	    "class=\"n\">%s</td></tr>\n",
	    esc(h, drill_look_text(ev, "host", "")), isnan(off) ? "" :
	    num(h, off * 1e6, 1), isnan(u) ? "" : drill_html_text(h,
	    "\u00b1%s", num(h, u * 1e6, 0)));
}

/* The last word on each host's clock. */
static void clocks(struct html *h)
{
	json_t *last = json_object(), *ev;
	const char *host;
	size_t i;

	json_array_foreach (h->events, i, ev)
		if (!strcmp(drill_look_text(ev, "kind", ""), "clock.offset"))
			json_object_set(last, drill_look_text(ev, "host", "?"),
					ev);
	if (json_object_size(last)) {
		put(h, "<div class=\"scroll\"><table><caption>Clocks, by round "
		    "trips to the controller</caption><thead><tr><th>host</th>"
		    "<th class=\"n\">offset, \u00b5s</th><th class=\"n\">at most "
		    "off by, \u00b5s</th></tr></thead><tbody>\n");
		json_object_foreach (last, host, ev)
			clock_row(h, ev);
		put(h, "</tbody></table></div>\n");
	}
	json_decref(last);
}

static void fact(struct html *h, const char *name, const char *path,
		 const char *unit)
{
	json_t *v = drill_look(h->run, path), *item;
	char text[400] = "";
	size_t i, n = 0;

	if (json_is_array(v)) {
		json_array_foreach (v, i, item)
			if (json_is_string(item) && n < sizeof(text))
				n += (size_t)snprintf(text + n,
					sizeof(text) - n, "%s%s", n ? ", " : "",
					json_string_value(item));
	} else if (json_is_string(v)) { /* no value with its unit: a name */
		snprintf(text, sizeof(text), "%s", json_string_value(v));
	} else if (json_is_integer(v)) {
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(v));
	} else {
		drill_value_text(v, "", false, text, sizeof(text));
	}
	if (*text)
		put(h, "<dt>%s</dt><dd>%s%s</dd>\n", name, esc(h, text), unit);
}

static void facts(struct html *h)
{
	static const char *const rows[][3] = {
		{ "scenario", "file", "" }, { "run", "id", "" },
		{ "started", "started", "" },
		{ "operator", "operator", "" }, { "reason", "ticket", "" },
		{ "faultdrill", "faultdrill.version", "" },
		{ "build", "faultdrill.build", "" },
		{ "lab", "lab.provider", "" },
		{ "hosts", "scope.hosts", "" }, { "ranks", "scope.ranks", "" },
		{ "devices", "lab.devices", " a host" },
		{ "workload", "subject.name", "" },
		{ "its version", "subject.version", "" },
		{ "framework", "subject.framework", "" },
		{ "launcher", "subject.launcher", "" },
		{ "kind of workload", "scope.workload", "" },
		{ "kind of device", "scope.device", "" },
		{ "transport", "scope.transport", "" },
		{ "collective time-out", "subject.config.collective_timeout_s",
		  " s" },
		{ "heartbeat", "subject.config.heartbeat_s", " s" },
		{ "checkpoint every", "subject.config.checkpoint_every",
		  " steps" },
		{ "cores", "runner.cores", "" },
		{ "kernel", "runner.kernel", "" },
		{ "load", "runner.load", "" },
	};

	put(h, "<dl class=\"kv\">");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		fact(h, rows[i][0], rows[i][1], rows[i][2]);
	if (!isnan(h->step))
		put(h, "<dt>baseline step</dt><dd>%s s</dd>",
		    num(h, h->step, -1));
	put(h, "</dl>\n");
}

static void files(struct html *h)
{
	put(h, "<section id=\"files\"><h2>Files</h2><p class=\"small\">Beside "
	    "this page: <a href=\"run.json\">run.json</a> has every result, <a "
	    "href=\"events.jsonl\">events.jsonl</a> every event; this page is a "
	    "view of the two.");
	if (h->report->dir)
		put(h, " Make it again: <code>faultdrill report --html %s"
		    "</code>.", esc(h, h->report->dir));
	put(h, " It loads nothing from anywhere.</p></section>\n");
}

void drill_html_lab(struct html *h)
{
	put(h, "<section id=\"lab\"><h2>Where it ran</h2>\n");
	map(h);
	put(h, "<div class=\"two\"><div>");
	facts(h);
	put(h, "</div><div>");
	clocks(h);
	put(h, "</div></div></section>\n");
	files(h);
	put(h, "</main>\n");
}
