/* live.c - shows phase, step, faults armed and fired, elapsed and expected time
 * SPDX-License-Identifier: MIT
 */
#include "live.h"

#include "reports/look.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define AGAIN_S 5

void drill_live_begin(struct drill_live *l, const char *scenario,
		      const char *repeat, bool quiet)
{
	const char *term = getenv("TERM");

	memset(l, 0, sizeof(*l));
	l->to = stderr;
	l->quiet = quiet;
	l->moving = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
	if (!quiet)
		fprintf(l->to, "%s\nrepeat with: %s\n", scenario, repeat);
}

static void wipe(struct drill_live *l)
{
	if (l->line_open)
		fputs("\r\033[K", l->to);
	l->line_open = false;
}

/* A line that wraps could not be taken back. */
static int width(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col < 2)
		return 79;
	return w.ws_col - 1;
}

static void times(const struct drill_progress *p, char *buf, size_t size)
{
	if (p->expected_s > 0)
		snprintf(buf, size, "%.0f s of about %.0f s", p->elapsed_s,
			 p->expected_s);
	else
		snprintf(buf, size, "%.0f s", p->elapsed_s);
}

static void state(const struct drill_progress *p, char *buf, size_t size)
{
	char time[64], step[64] = "", faults[64] = "";

	times(p, time, sizeof(time));
	if (p->steps)
		snprintf(step, sizeof(step), "  step %lld/%lld",
			 (long long)p->step, (long long)p->steps);
	else if (p->step)
		snprintf(step, sizeof(step), "  step %lld", (long long)p->step);
	if (p->armed)
		snprintf(faults, sizeof(faults), "  %d armed, %d fired",
			 p->armed, p->fired);
	if (p->trial)
		snprintf(buf, size, "trial %d/%d %s  %s%s%s  %s", p->trial,
			 p->trials, p->role, p->phase, step, faults, time);
	else
		snprintf(buf, size, "%s  %s", p->phase, time);
}

/* Where no line moves the state is told when it is another one, and again after
 * a while. */
static bool is_news(struct drill_live *l, const struct drill_progress *p)
{
	bool ret = p->trial != l->last_trial || p->fired != l->last_fired ||
		   !l->last_phase || strcmp(p->phase, l->last_phase) != 0 ||
		   (p->trial && p->elapsed_s - l->last_s >= AGAIN_S);

	if (l->moving || p->text || !ret)
		return false;
	l->last_trial = p->trial;
	l->last_fired = p->fired;
	l->last_phase = p->phase;
	l->last_s = p->elapsed_s;
	return true;
}

void drill_live_show(void *live, const struct drill_progress *p)
{
	struct drill_live *l = live;
	char line[300];

	if (l->quiet)
		return;
	state(p, line, sizeof(line));
	if (p->text) {
		wipe(l);
		fprintf(l->to, "%7.2f s  %s: ", p->elapsed_s,
			p->role ? p->role : p->phase);
		drill_print_text(l->to, p->text, 0); /* a job may have said it */
		putc('\n', l->to);
	} else if (is_news(l, p)) {
		fprintf(l->to, "%7.2f s  %s\n", p->elapsed_s, line);
	}
	if (l->moving) {
		fprintf(l->to, "\r\033[K%.*s", width(), line);
		l->line_open = true;
	}
	fflush(l->to);
}

void drill_live_end(struct drill_live *l)
{
	wipe(l);
	fflush(l->to);
}
