/* html_series.c - throughput and the highest step over time, with the baseline
 * SPDX-License-Identifier: MIT
 */
#include "html_part.h"
#include "html_progress.h"

#include <stdlib.h>
#include <string.h>

#define POINTS 400
#define TOP 18
#define HIGH 130  /* px of the throughput plot */
#define GAP 40
#define HIGH2 120 /* px of the plot below it */
#define TOP2 (TOP + HIGH + GAP)
#define BOTTOM (TOP2 + HIGH2)

struct series {
	struct html *h;
	struct drill_progress this, base;
	bool has_base;
	bool tokens;
	double window;
	double rate[POINTS + 1], again[POINTS + 1];
	double base_rate[POINTS + 1];
	double top;		/* of the rate axis */
	double lo, mid, hi;	/* of the baseline's rate; NAN without one */
	double steps;		/* top of the step axis */
};

static double at(const struct series *s, int k)
{
	return s->h->wall * k / POINTS;
}

static int by_size(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

static void baseline_level(struct series *s)
{
	double v[POINTS + 1];
	int n = 0;

	s->lo = s->mid = s->hi = NAN;
	if (!s->has_base)
		return;
	for (int k = 0; k <= POINTS; k++) {
		double t = at(s, k);

		/* Without the launch and the end. */
		if (t > s->base.steps[0].begin + s->window &&
		    t < s->base.steps[s->base.n - 1].end)
			v[n++] = s->base_rate[k];
	}
	if (n < 3)
		return;
	qsort(v, (size_t)n, sizeof(*v), by_size);
	s->lo = v[n / 20];
	s->mid = v[n / 2];
	s->hi = v[n - 1 - n / 20];
}

static void scales(struct series *s)
{
	double most = 0, steps = 0, tick;

	for (int k = 0; k <= POINTS; k++)
		most = fmax(most, fmax(s->base_rate[k], fmax(s->rate[k],
							     s->again[k])));
	tick = drill_html_tick(most * 1.1, 4);
	s->top = most > 0 ? tick * ceil(most * 1.05 / tick) : 1;
	for (size_t i = 0; i < s->this.n; i++)
		steps = fmax(steps, (double)s->this.steps[i].step);
	for (size_t i = 0; s->has_base && i < s->base.n; i++)
		steps = fmax(steps, (double)s->base.steps[i].step);
	s->steps = fmax(1, steps);
}

static json_t *first_baseline(struct html *h, int *ret_id)
{
	json_t *t;
	size_t i;

	json_array_foreach (drill_look(h->run, "trials"), i, t)
		if (!strcmp(drill_look_text(t, "role", ""), "baseline")) {
			double id = drill_look_num(t, "trial");

			*ret_id = isnan(id) ? (int)i : (int)id;
			return t;
		}
	return NULL;
}

/* Eight steps smooth a checkpoint away and still show a stop. */
static double window_of(const struct series *s)
{
	double step = s->h->step;

	if (!(step > 0) && s->this.n)
		step = s->this.steps[0].end - s->this.steps[0].begin;
	return fmax(fmin(fmax(8 * step, s->h->wall / 100), s->h->wall / 5),
		    1e-6);
}

static int read_series(struct html *h, struct series *s)
{
	int id;

	*s = (struct series){ .h = h };
	if (!(h->wall > 0) || drill_progress_read(h->events, h->id, &s->this))
		return -1;
	if (first_baseline(h, &id) && id != (int)h->id)
		s->has_base = !drill_progress_read(h->events, id, &s->base);
	s->tokens = s->this.tokens && (!s->has_base || s->base.tokens);
	s->window = window_of(s);
	for (int k = 0; k <= POINTS; k++) {
		s->rate[k] = drill_progress_rate(&s->this, true, s->tokens,
						 at(s, k), s->window);
		s->again[k] = drill_progress_rate(&s->this, false, s->tokens,
						  at(s, k), s->window);
		if (s->has_base && at(s, k) <= s->base.wall)
			s->base_rate[k] = drill_progress_rate(&s->base, true,
				s->tokens, at(s, k), s->window);
	}
	baseline_level(s);
	scales(s);
	return 0;
}

static double y_rate(const struct series *s, double v)
{
	return 100 - 100 * v / s->top;
}

static double y_step(const struct series *s, double step)
{
	return 100 - 100 * step / s->steps;
}

static double x_of(const struct series *s, double t)
{
	return 100 * t / s->h->wall;
}

/* A stretched svg: paths have no percent, so 1000 x 100 stands for the plot. */
static void open_paths(struct html *h, int y, int high)
{
	put(h, "<svg y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 1000 "
	    "100\" preserveAspectRatio=\"none\">", y, high);
}

static void rate_path(struct series *s, const double *v, const char *class,
		      bool where_any)
{
	bool pen = false;

	put(s->h, "<path class=\"line%s\" d=\"", class);
	for (int k = 0; k <= POINTS; k++) {
		bool show = !where_any || v[k] > 0 ||
			    (k && v[k - 1] > 0) || (k < POINTS && v[k + 1] > 0);

		if (show)
			put(s->h, "%c%.1f %.1f", pen ? 'L' : 'M',
			    10 * x_of(s, at(s, k)), y_rate(s, v[k]));
		pen = show;
	}
	put(s->h, "\"/>");
}

static void rates(struct series *s)
{
	struct html *h = s->h;
	double end = fmin(10 * x_of(s, s->base.wall), 1000);

	open_paths(h, TOP, HIGH);
	if (!isnan(s->mid))
		put(h, "<rect class=\"baseband\" x=\"0\" width=\"%.1f\" y=\"%.2f\""
		    " height=\"%.2f\"/><path class=\"line base\" d=\"M0 %.2fH%.1f"
		    "\"/>", end, y_rate(s, s->hi), y_rate(s, s->lo) -
		    y_rate(s, s->hi), y_rate(s, s->mid), end);
	rate_path(s, s->again, " again", true);
	rate_path(s, s->rate, "", false);
	put(h, "</svg>");
}

/* A staircase would be exact; lines between ends are as good and lighter. */
static void step_path(struct series *s, const struct drill_progress *p,
		      const char *class, bool fresh)
{
	double drawn = -1e9;
	bool pen = false;
	int generation = -1;

	put(s->h, "<path class=\"line%s\" d=\"", class);
	if (fresh)
		put(s->h, "M0 100");
	for (size_t i = 0; i < p->n; i++) {
		const struct drill_step *e = &p->steps[i];
		double x = 10 * x_of(s, e->end);

		if (e->fresh != fresh)
			continue;
		if (!fresh && e->generation != generation)
			pen = false;
		/* A flat line up to the first new step after a stop. */
		if (fresh && e->generation != generation)
			put(s->h, "L%.1f %.1f", 10 * x_of(s, e->begin),
			    y_step(s, (double)e->step - 1));
		else if (x - drawn < 1.5 && i + 1 < p->n && pen &&
			 p->steps[i + 1].generation == e->generation)
			continue;
		put(s->h, "%c%.1f %.1f", pen || fresh ? 'L' : 'M', x,
		    y_step(s, (double)e->step));
		generation = e->generation;
		pen = true;
		drawn = x;
	}
	put(s->h, "\"/>");
}

static void high_marks(struct series *s)
{
	open_paths(s->h, TOP2, HIGH2);
	if (s->has_base)
		step_path(s, &s->base, " base", true);
	step_path(s, &s->this, " again", false);
	step_path(s, &s->this, "", true);
	put(s->h, "</svg>");
}

static void gutter(struct series *s)
{
	struct html *h = s->h;
	double tick = drill_html_tick(s->top, 4);
	double tick2 = fmax(1, drill_html_tick(s->steps, 4));

	for (int k = 0; k * tick <= s->top * 1.001; k++) {
		double y = TOP + HIGH * y_rate(s, k * tick) / 100;

		put(h, "<line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" "
		    "y2=\"%.1f\"/><text class=\"e m\" x=\"-6\" y=\"%.1f\">%s"
		    "</text>", y, y, y + 4, num(h, k * tick, tick < 0.1 ? 2 :
						tick < 1 ? 1 : 0));
	}
	put(h, "<text class=\"m\" x=\"-128\" y=\"%d\">%s</text>", TOP + 4,
	    s->tokens ? "tokens/s" : "steps/s");
	for (int k = 0; k * tick2 <= s->steps; k++) {
		double y = TOP2 + HIGH2 * y_step(s, k * tick2) / 100;

		put(h, "<line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" "
		    "y2=\"%.1f\"/><text class=\"e m\" x=\"-6\" y=\"%.1f\">%s"
		    "</text>", y, y, y + 4, num(h, k * tick2, 0));
	}
	put(h, "<text class=\"m\" x=\"-128\" y=\"%d\">highest</text><text "
	    "class=\"m\" x=\"-128\" y=\"%d\">step done</text>", TOP2 + 4,
	    TOP2 + 18);
}

static void standstill(struct series *s, json_t *inc)
{
	struct html *h = s->h;
	double te = drill_instant(inc, "effective") - h->begin;
	double caught = drill_look_num(inc, "time_to_catch_up_s");
	double x = x_of(s, te);
	bool right = x < 25;

	if (isnan(te) || isnan(drill_instant(inc, "stopped")))
		return;
	put(h, "<text class=\"sm%s\" x=\"%s\" dx=\"%d\" y=\"%d\">%s</text>",
	    right ? "" : " e", pct(h, x), right ? 5 : -5, TOP + HIGH - 8,
	    isfinite(caught) ? drill_html_text(h, "no new step for %s s",
		num(h, caught, -1)) : "no new step from here on");
}

static void labels(struct series *s)
{
	struct html *h = s->h;
	double xb = x_of(s, s->base.wall);
	json_t *inc;
	size_t i;

	if (!isnan(s->mid))
		put(h, "<text class=\"m sm\" x=\"%s\" y=\"%.1f\">baseline %s"
		    "</text>", pct(h, 1),
		    fmax(TOP + 10, TOP + HIGH * y_rate(s, s->hi) / 100 - 6),
		    num(h, s->mid, -1));
	json_array_foreach (h->incidents, i, inc)
		standstill(s, inc);
	if (!s->has_base || !(xb < 96) || !drill_look_true(h->trial, "finished"))
		return;
	put(h, "<line class=\"ink\" x1=\"%s\" x2=\"100%%\" y1=\"%d\" y2=\"%d\"/>"
	    "<line class=\"ink\" x1=\"%s\" x2=\"%s\" y1=\"%d\" y2=\"%d\"/><text "
	    "class=\"sm e\" x=\"100%%\" y=\"%d\">%s s later</text>", pct(h, xb),
	    TOP2, TOP2, pct(h, xb), pct(h, xb), TOP2 - 4, TOP2 + 4, TOP2 - 6,
	    num(h, h->wall - s->base.wall, -1));
}

static void plot(struct series *s)
{
	struct html *h = s->h;

	put(h, "<div class=\"time\" data-rate tabindex=\"0\" role=\"group\" "
	    "aria-label=\"Throughput. Left and right move along the time."
	    "\"><svg class=\"plot\" height=\"%d\" role=\"img\" "
	    "aria-labelledby=\"rate-t\" aria-describedby=\"rate-d\"><title "
	    "id=\"rate-t\">Throughput and highest step over time</title><desc "
	    "id=\"rate-d\">Step %ld is reached after %s s", BOTTOM + 18,
	    drill_progress_high(&s->this, INFINITY), num(h, h->wall, 1));
	if (s->has_base)
		put(h, "; the baseline reached step %ld after %s s",
		    drill_progress_high(&s->base, INFINITY),
		    num(h, s->base.wall, 1));
	put(h, ".</desc>");
	gutter(s);
	put(h, "<text x=\"100%%\" dx=\"5\" y=\"%d\">this trial</text><text "
	    "x=\"100%%\" dx=\"5\" y=\"%d\">%s s</text><svg class=\"clip\" "
	    "width=\"100%%\" height=\"%d\"><svg class=\"zoom\" width=\"100%%\" "
	    "height=\"%d\">", TOP2 + 4, TOP2 + 17, num(h, h->wall, 1),
	    BOTTOM + 18, BOTTOM + 18);
	drill_html_axis(h, TOP, BOTTOM);
	drill_html_windows(h, 2, BOTTOM);
	rates(s);
	high_marks(s);
	labels(s);
	put(h, "</svg></svg><line class=\"cross\" y1=\"2\" y2=\"%d\"/><text "
	    "class=\"m e\" x=\"-6\" y=\"%d\">time, s</text></svg></div>\n"
	    "<output aria-live=\"polite\" data-for=\"rate\">Point at the plot, or "
	    "focus it and use the arrow keys, for exact values.</output>\n",
	    BOTTOM, BOTTOM + 14);
}

static void numbers(struct html *h, const char *name, const double *v,
		    double until)
{
	put(h, ",\"%s\":[", name);
	for (int k = 0; k <= POINTS && h->wall * k / POINTS <= until; k++)
		put(h, "%s%.4g", k ? "," : "", v[k]);
	put(h, "]");
}

/* For the readout; nothing in it is text from elsewhere. */
static void data(struct series *s)
{
	struct html *h = s->h;

	put(h, "<script type=\"application/json\" id=\"series\">{\"step\":%.6g,"
	    "\"unit\":\"%s\"", h->wall / POINTS * 1000,
	    s->tokens ? "tokens/s" : "steps/s");
	numbers(h, "rate", s->rate, h->wall);
	numbers(h, "again", s->again, h->wall);
	numbers(h, "base", s->base_rate, s->has_base ? s->base.wall : -1);
	put(h, ",\"high\":[");
	for (int k = 0; k <= POINTS; k++)
		put(h, "%s%ld", k ? "," : "",
		    drill_progress_high(&s->this, at(s, k)));
	put(h, "]}</script>\n");
}

void drill_html_series(struct html *h)
{
	struct series *s = h->trial ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return;
	put(h, "<section id=\"progress\"><h2>Throughput and progress</h2>");
	if (drill_look_silent(h->run)) {
		put(h, "<p class=\"lede\">The job tells no steps, so nothing is "
		    "known of its progress.</p>\n");
	} else if (read_series(h, s) == 0) {
		put(h, "<p class=\"lede\">Solid: this trial, new steps only, over "
		    "the last %s s. Thin: steps done again. Dashed: the baseline "
		    "of the same drill, its band holds 90&thinsp;%% of the time. "
		    "Shaded: fault in force.</p>\n",
		    num(h, s->window, -1));
		drill_html_ranges(h, "range-rate");
		plot(s);
		data(s);
	} else {
		put(h, "<p class=\"lede\">No step of this trial was completed, or "
		    "its events were not kept.</p>\n");
	}
	put(h, "</section>\n");
	free(s->this.steps);
	free(s->base.steps);
	free(s);
}
