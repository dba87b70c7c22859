/* blame.c - who is to blame, decided from what the rank starters reported
 * SPDX-License-Identifier: MIT
 *
 * From the strongest evidence to the weakest: a host of which nothing answers
 * any more; the rank that died first, of itself; a rank that is mute;
 * and, when only watchdogs spoke, the rank that the others wait for.
 */
#include "blame.h"

#include <faultdrill/progress.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Deaths this close together arrive in any order on a loaded machine. */
#define TOGETHER_NS INT64_C(100000000)

struct table {
	const struct launch_report *r;
	int n;
	int64_t asked_ns;
};

typedef bool test_fn(const struct table *t, int i);

static bool mute(const struct table *t, int i)
{
	const struct launch_report *r = &t->r[i];

	return r->state == LAUNCH_ALIVE && r->heard_ns < t->asked_ns;
}

static bool lost(const struct table *t, int i)
{
	enum launch_state s = t->r[i].state;

	return s == LAUNCH_GONE || s == LAUNCH_ABSENT || mute(t, i);
}

static struct launch_blame verdict(enum launch_level level, int index,
				   const char *by, const char *why)
{
	return (struct launch_blame){level, index, by, why};
}

/* The one host on which @test holds for every rank, while it does not hold for
 * all ranks of the job; -1 without one. */
static int whole_host(const struct table *t, test_fn *test)
{
	int i, j, host = -1;
	bool other = false;

	for (i = 0; i < t->n; i++) {
		for (j = 0; j < t->n; j++)
			if (t->r[j].host == t->r[i].host && !test(t, j))
				break;
		if (j < t->n)
			other = true;
		else if (host < 0)
			host = t->r[i].host;
		else if (host != t->r[i].host)
			return -1;
	}
	return other ? host : -1;
}

static int count(const struct table *t, test_fn *test)
{
	int i, n = 0;

	for (i = 0; i < t->n; i++)
		n += test(t, i);
	return n;
}

static bool failed(const struct table *t, int i)
{
	const struct launch_report *r = &t->r[i];

	return r->state == LAUNCH_EXITED && (r->code != 0 || r->signal != 0);
}

static int first_failed(const struct table *t)
{
	int i, best = -1;

	for (i = 0; i < t->n; i++)
		if (failed(t, i) &&
		    (best < 0 || t->r[i].end_ns < t->r[best].end_ns))
			best = i;
	return best;
}

/* It said itself that its device, or its state, is bad. */
static bool accused_itself(const struct launch_report *r)
{
	return r->signal == 0 && (r->code == FAULTDRILL_EXIT_DEVICE ||
				  r->code == FAULTDRILL_EXIT_CORRUPT);
}

/* How much a death looks like the cause rather than a consequence. Launchers
 * and MPI libraries end the survivors by a signal; a watchdog's abort says that
 * somebody else is the cause, as does a rank that saw a collective fail. */
static int weight(const struct launch_report *r)
{
	if (r->watchdog != 0)
		return 0;
	if (accused_itself(r))
		return 4;
	if (r->told || r->code == FAULTDRILL_EXIT_PEER)
		return 1;
	return r->signal ? 3 : 2;
}

static int died_of_itself(const struct table *t)
{
	int i, more, best = first_failed(t);
	int64_t until = best < 0 ? 0 : t->r[best].end_ns + TOGETHER_NS;

	for (i = 0; i < t->n && best >= 0; i++) {
		if (!failed(t, i) || t->r[i].end_ns > until)
			continue;
		more = weight(&t->r[i]) - weight(&t->r[best]);
		if (more > 0 ||
		    (more == 0 && t->r[i].end_ns < t->r[best].end_ns))
			best = i;
	}
	return best >= 0 && weight(&t->r[best]) >= 2 ? best : -1;
}

static bool behind(const struct table *t, int i)
{
	int64_t most = 0;
	int j;

	for (j = 0; j < t->n; j++)
		if (t->r[j].collective > most)
			most = t->r[j].collective;
	return t->r[i].collective < most;
}

static bool quiet(const struct table *t, int i)
{
	return t->r[i].watchdog == 0;
}

static bool asleep(const struct table *t, int i)
{
	int j;

	if (t->r[i].busy < 0)
		return false;
	for (j = 0; j < t->n; j++)
		if (j != i && t->r[j].busy < 5 * t->r[i].busy + 0.003)
			return false;
	return true;
}

static bool any_watchdog(const struct table *t)
{
	return count(t, quiet) < t->n;
}

/* The rank that most watchdogs name, -1 without one. */
static int voted(const struct table *t)
{
	int i, j, best = -1, most = 0;

	for (i = 0; i < t->n; i++) {
		int votes = 0;

		for (j = 0; j < t->n; j++)
			votes += j != i && t->r[j].watchdog == i + 1;
		if (votes > most) {
			most = votes;
			best = i;
		}
	}
	return best;
}

/* The rank, or the host, that alone stands out by @test. */
static bool stands_out(const struct table *t, test_fn *test,
		       struct launch_blame *ret)
{
	int i, n = count(t, test), host = whole_host(t, test);

	if (n == 0 || n > (t->n > 2 ? t->n / 2 : 1))
		return false;
	if (n > 1 && host < 0)
		return false;
	for (i = 0; i < t->n && !test(t, i); i++)
		;
	ret->level = n == 1 ? LAUNCH_RANK : LAUNCH_HOST;
	ret->index = n == 1 ? i : host;
	return true;
}

/* Who keeps the others waiting? */
static struct launch_blame waited_for(const struct table *t)
{
	static const struct {
		test_fn *test;
		const char *why;
	} signs[] = {
		{behind, "behind the others in its count of collectives"},
		{quiet, "its watchdog is the only one that is silent"},
	};
	const char *by = any_watchdog(t) ? "watchdog" : "launcher";
	struct launch_blame b = verdict(LAUNCH_NOBODY, -1, by, NULL);
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (signs[i].test == quiet && !any_watchdog(t))
			continue;
		b.why = signs[i].why;
		if (stands_out(t, signs[i].test, &b))
			return b;
	}
	if (voted(t) >= 0)
		return verdict(LAUNCH_RANK, voted(t), by,
			       "named by the most watchdogs");
	b.why = "sleeps while the others poll";
	if (stands_out(t, asleep, &b))
		return b;
	b.why = "nothing tells the ranks apart";
	return b;
}

struct launch_blame launch_blame(const struct launch_report *r, int n,
				 int64_t asked_ns)
{
	const struct table t = {r, n, asked_ns};
	struct launch_blame b = {LAUNCH_NOBODY, -1, NULL, NULL};
	int host = whole_host(&t, lost), own = died_of_itself(&t);

	if (own >= 0 && accused_itself(&r[own]))
		return verdict(LAUNCH_RANK, own, "launcher",
			       r[own].code == FAULTDRILL_EXIT_DEVICE
				       ? "it said that its device failed"
				       : "its state is not that of the others");
	if (own >= 0 && r[own].signal)
		return verdict(LAUNCH_RANK, own, "launcher",
			       "it was the first to die by a signal");
	if (host >= 0)
		return verdict(LAUNCH_HOST, host, "heartbeat",
			       "no rank on it answers");
	if (own >= 0)
		return verdict(LAUNCH_RANK, own, "launcher",
			       "it was the first to end, of itself");
	b.by = "heartbeat";
	b.why = "its starter does not answer";
	if (stands_out(&t, lost, &b))
		return b;
	return waited_for(&t);
}
