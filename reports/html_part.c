/* html_part.c - what the parts of report.html share
 * SPDX-License-Identifier: MIT
 */
#include "html_part.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const struct drill_cat_info drill_cats[CATS] = {
	[CAT_USEFUL] = { "useful", "u", 'u' },
	[CAT_CHECKPOINT] = { "checkpoint", "k", 'c' },
	[CAT_DATA] = { "data", "d", 'd' },
	[CAT_STALLED] = { "stalled", "s", 's' },
	[CAT_REDONE] = { "redone", "r", 'r' },
	[CAT_RESTART] = { "restart", "t", 't' },
	[CAT_DEGRADED] = { "degraded", "g", 'g' },
	[CAT_IDLE] = { "idle", "i", 'i' },
};

struct drill_chunk {
	struct drill_chunk *next;
	char text[];
};

static char *keep(struct html *h, size_t size)
{
	struct drill_chunk *c = malloc(sizeof(*c) + size);

	if (!c)
		return NULL;
	c->next = h->chunks;
	h->chunks = c;
	return c->text;
}

void drill_html_free(struct html *h)
{
	while (h->chunks) {
		struct drill_chunk *next = h->chunks->next;

		free(h->chunks);
		h->chunks = next;
	}
}

const char *drill_html_esc(struct html *h, const char *text)
{
	char *s = NULL, *kept;
	size_t n = 0;
	FILE *f = open_memstream(&s, &n);

	if (!f)
		return "";
	drill_escape(f, text ? text : "");
	fclose(f);
	kept = keep(h, n + 1);
	if (kept)
		memcpy(kept, s, n + 1);
	free(s);
	return kept ? kept : "";
}

const char *drill_html_num(struct html *h, double v, int digits)
{
	char text[DRILL_NUM];

	return drill_html_esc(h, drill_num_print(text, v, digits)); /* "<0.001" */
}

const char *drill_html_text(struct html *h, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	s = n < 0 ? NULL : keep(h, (size_t)n + 1);
	if (!s)
		return "";
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

const char *drill_html_capitals(struct html *h, const char *word)
{
	char *s = (char *)drill_html_text(h, "%s", word);

	for (char *c = s; *c; c++)
		if (*c >= 'a' && *c <= 'z')
			*c -= 'a' - 'A';
	return s;
}

const char *drill_html_pct(struct html *h, double percent)
{
	char *s = keep(h, 32), *end;

	if (!s)
		return "0%";
	if (!isfinite(percent))
		percent = 0;
	end = s + snprintf(s, 24, "%.3f", percent);
	while (end[-1] == '0')
		end--;
	if (end[-1] == '.')
		end--;
	if (!strncmp(s, "-0", (size_t)(end - s)) && end - s == 2)
		strcpy(s, "0%");
	else
		strcpy(end, "%");
	return s;
}

const char *drill_html_outcome(struct html *h, enum drill_outcome o,
			       const char *text, bool hide)
{
	const char *word = drill_outcome_name(o);

	return drill_html_text(h, "<span class=\"o o-%s\"><svg "
		"aria-hidden=\"true\"><use href=\"#o-%s\"/></svg>%s%s%s</span>",
		word, word, hide ? "<span class=\"vh\">" : "",
		text ? text : word, hide ? "</span>" : "");
}

const char *drill_html_swatch(struct html *h, enum drill_cat cat)
{
	return drill_html_text(h, "<svg class=\"sw\" width=\"22\" height=\"11\""
		" aria-hidden=\"true\"><rect class=\"%s\" width=\"22\" "
		"height=\"11\"/></svg>", drill_cats[cat].class);
}

void drill_html_command(struct html *h, const char *text)
{
	put(h, "<code class=\"cmd\">");
	while (*text) {
		/* Up to the next blank before an option or a word of its own. */
		size_t n = strcspn(text, " ");

		while (text[0] == '-' && text[n] == ' ' && text[n + 1] &&
		       text[n + 1] != '-')
			n += 1 + strcspn(text + n + 1, " ");
		put(h, "<span>%s</span>", esc(h,
			drill_html_text(h, "%.*s", (int)n, text)));
		text += n;
		if (*text)
			put(h, " ");
		text += strspn(text, " ");
	}
	put(h, "</code>");
}

const struct drill_expect *drill_html_expect(struct html *h, json_t *incident,
					     const char *metric)
{
	const char *fault = drill_look_text(incident, "fault", "");
	size_t n = strlen(fault);

	for (size_t i = 0; n && i < h->n_expects; i++)
		if (!strncmp(h->expects[i].metric, fault, n) &&
		    h->expects[i].metric[n] == '.' &&
		    !strcmp(h->expects[i].metric + n + 1, metric))
			return &h->expects[i];
	return NULL;
}

const char *drill_html_incident(struct html *h, size_t i)
{
	json_t *inc = json_array_get(h->incidents, i);

	return drill_html_text(h, "%zu %s", i + 1, esc(h,
		drill_look_text(inc, "fault", "natural")));
}

/* The worst of what was expected of this incident in the trial shown. */
enum drill_outcome drill_html_incident_outcome(struct html *h, json_t *inc)
{
	enum drill_outcome word = DRILL_PASS;
	const char *fault = drill_look_text(inc, "fault", "");
	size_t n = strlen(fault);

	for (size_t i = 0; n && i < h->n_expects; i++) {
		const struct drill_expect *e = &h->expects[i];
		enum drill_held held;

		if (strncmp(e->metric, fault, n) || e->metric[n] != '.')
			continue;
		held = e->per_trial ? drill_expect_held(e, drill_expect_in(
			h->run, e, h->shown, NULL)) : e->held;
		word = drill_outcome_worse(word, held == DRILL_HELD_NO
			? DRILL_FAIL : held == DRILL_HELD_UNKNOWN
			? DRILL_INCONCLUSIVE : DRILL_PASS);
	}
	return word;
}

double drill_html_tick(double length, int n)
{
	double raw = length / n, p;

	if (!(raw > 0) || !isfinite(raw))
		return 1;
	p = pow(10, floor(log10(raw)));
	raw /= p;
	return p * (raw <= 1 ? 1 : raw <= 2 ? 2 : raw <= 5 ? 5 : 10);
}

static void ticks(struct html *h, double step, double not_at, int top,
		  int bottom)
{
	int digits = step < 0.1 ? 2 : step < 1 ? 1 : 0;

	for (int k = 0; k * step <= h->wall * 1.0001; k++) {
		double t = k * step, x = 100 * t / h->wall;

		if (not_at > 0 && fabs(remainder(t, not_at)) < step / 4)
			continue;
		put(h, "<line class=\"grid\" x1=\"%s\" x2=\"%s\" y1=\"%d\" "
		    "y2=\"%d\"/><text class=\"m%s\" x=\"%s\" y=\"%d\">%s"
		    "</text>", pct(h, x), pct(h, x), top, bottom,
		    !k ? "" : x > 97 ? " e" : " c", pct(h, x), bottom + 14,
		    num(h, t, digits));
	}
}

void drill_html_axis(struct html *h, int top, int bottom)
{
	double coarse = drill_html_tick(h->wall, 10);

	ticks(h, coarse, 0, top, bottom);
	/* Shown when zoomed in, where the coarse ones stand too far apart. */
	put(h, "<g class=\"fine\">");
	ticks(h, drill_html_tick(h->wall, 50), coarse, top, bottom);
	put(h, "</g>");
}

bool drill_html_window(struct html *h, json_t *inc, double *from, double *to)
{
	double a = drill_instant(inc, "effective") - h->begin;
	double b = drill_instant(inc, "reverted") - h->begin;

	if (isnan(a) || isnan(h->wall) || !(h->wall > 0))
		return false;
	*from = fmax(0, fmin(a, h->wall));
	*to = isnan(b) ? h->wall : fmax(*from, fmin(b, h->wall));
	return true;
}

void drill_html_windows(struct html *h, int top, int bottom)
{
	double a, b;
	size_t i;
	json_t *inc;

	json_array_foreach (h->incidents, i, inc) {
		if (!drill_html_window(h, inc, &a, &b))
			continue;
		a *= 100 / h->wall;
		b *= 100 / h->wall;
		put(h, "<rect class=\"shade\" x=\"%s\" y=\"%d\" width=\"%s\" "
		    "height=\"%d\"/>", pct(h, a), top, pct(h, b - a),
		    bottom - top);
		put(h, "<line class=\"edge\" x1=\"%s\" x2=\"%s\" y1=\"%d\" "
		    "y2=\"%d\"/>", pct(h, a), pct(h, a), top, bottom);
		if (b > a)
			put(h, "<line class=\"edge\" x1=\"%s\" x2=\"%s\" "
			    "y1=\"%d\" y2=\"%d\"/>", pct(h, b), pct(h, b), top,
			    bottom);
		/* The name goes to the side that has room. */
		put(h, "<text class=\"f b%s\" x=\"%s\" dx=\"%d\" y=\"%d\">%s"
		    "</text>", a > 15 ? " e" : "", pct(h, a > 15 ? a : b),
		    a > 15 ? -4 : 4, top + 11, drill_html_incident(h, i));
	}
}

void drill_html_ranges(struct html *h, const char *name)
{
	size_t i;
	json_t *inc;
	double a, b, pad = h->wall / 12;

	if (!json_array_size(h->incidents))
		return;
	put(h, "<fieldset class=\"range\" hidden><legend>time range</legend>"
	    "<label><input type=\"radio\" name=\"%s\" value=\"0,%.0f\" checked>"
	    "<span>whole trial</span></label>", name, h->wall * 1000);
	json_array_foreach (h->incidents, i, inc) {
		double end = drill_instant(inc, "steady") - h->begin;

		if (!drill_html_window(h, inc, &a, &b))
			continue;
		if (end > b)
			b = end;
		put(h, "<label><input type=\"radio\" name=\"%s\" "
		    "value=\"%.0f,%.0f\"><span>%s</span></label>", name,
		    fmax(0, a - pad) * 1000,
		    fmin(h->wall, b + pad) * 1000, drill_html_incident(h, i));
	}
	put(h, "</fieldset>\n");
}

const char *drill_html_target(struct html *h, json_t *inc)
{
	char buf[512];

	drill_target_text(inc, buf, sizeof(buf));
	return *buf ? drill_html_text(h, "%s", buf) : "an unknown target";
}

int drill_html_slot_hit(json_t *inc)
{
	json_t *is = drill_look(inc, "target");
	const char *target = json_array_size(is) == 1
		? drill_look_text(is, "0", "") : drill_look_text(inc, "target",
								 "");
	int slot = -1, end = 0;

	if (sscanf(target, "rank %d%n", &slot, &end) != 1 || target[end])
		return -1;
	return slot;
}

/* The host named by the last rank.begin of that slot up to @before (drill's
 * clock; infinity: the last of all); "" when no event says. */
const char *drill_html_host_of(struct html *h, int slot, double before)
{
	const char *host = "";
	json_t *ev;
	size_t i;

	json_array_foreach (h->begins, i, ev) {
		double s = drill_look_num(ev, "slot");

		if (drill_look_num(ev, "t_s") > before)
			continue;
		if ((isnan(s) ? drill_look_num(ev, "rank") : s) == slot)
			host = drill_look_text(ev, "host", host);
	}
	return host;
}

bool drill_html_host_hit(struct html *h, const char *host)
{
	json_t *inc;
	size_t i;

	json_array_foreach (h->incidents, i, inc) {
		const char *target = drill_html_target(h, inc);
		int slot = drill_html_slot_hit(inc);
		const char *at = strstr(target, host);
		size_t n = strlen(host);

		if (n && slot >= 0 && !strcmp(host, drill_html_host_of(h, slot,
				drill_instant(inc, "effective"))))
			return true;
		/* "host h1", "link h1/eth0": the name as a word of its own. */
		if (n && at && (at == target || at[-1] == ' ') &&
		    (!at[n] || strchr("/ :,", at[n])))
			return true;
	}
	return false;
}
