/* limit.c - reads limits with units and judges values against them
 * SPDX-License-Identifier: MIT
 */
#include "limit.h"

#include "harness/core/unit.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ops[] = { "<", "<=", ">", ">=", "==", "!=", "in",
				   "is", NULL };

const char *drill_op_text(enum drill_op op)
{
	return ops[op];
}

int drill_op_parse(const char *text, enum drill_op *ret)
{
	int i;

	for (i = 0; text && ops[i]; i++)
		if (strcmp(ops[i], text) == 0) {
			*ret = (enum drill_op)i;
			return 0;
		}
	return -EINVAL;
}

static int bad(struct drill_err *err, const char *text, const char *write)
{
	return drill_err_set(err, -EINVAL, NULL, "limit '%s': write %s", text,
			     write);
}

/* "240 rank*s", "50 GPU*h" */
static int rank_time(const char *text, double *ret)
{
	static const struct { const char *unit; double s; } units[] = {
		{ "s", 1 }, { "ms", 1e-3 }, { "min", 60 }, { "h", 3600 } };
	char *end;
	double v = strtod(text, &end);
	size_t i;

	while (*end == ' ')
		end++;
	if (end == text || (strncmp(end, "rank*", 5) != 0 &&
			    strncmp(end, "GPU*", 4) != 0))
		return -EINVAL;
	end = strchr(end, '*') + 1;
	for (i = 0; i < 4; i++)
		if (strcmp(end, units[i].unit) == 0) {
			*ret = v * units[i].s;
			return 0;
		}
	return -EINVAL;
}

static int duration(const char *text, double *ret)
{
	char packed[64];
	int64_t ns;
	size_t i, n = 0;

	for (i = 0; text[i] && n + 1 < sizeof(packed); i++)
		if (text[i] != ' ')
			packed[n++] = text[i];
	packed[n] = '\0';
	if (drill_unit_parse(packed, DRILL_UNIT_DURATION, &ns, NULL) < 0)
		return -EINVAL;
	*ret = (double)ns / 1e9;
	return 0;
}

static bool is_name(const char *s)
{
	if (!islower((unsigned char)*s))
		return false;
	while (islower((unsigned char)*s) || *s == '_')
		s++;
	return *s == '\0';
}

/* One term of a sum. */
static int read_term(const struct drill_metric *m, char *term,
		     struct drill_limit *l)
{
	char *end;
	double v;

	while (*term == ' ')
		term++;
	for (end = term + strlen(term); end > term && end[-1] == ' ';)
		*--end = '\0';
	v = strtod(term, &end);
	if (end != term && (strcmp(end, " steps") == 0 ||
			    strcmp(end, " step") == 0)) {
		*(m->quantity == DRILL_Q_STEPS ? &l->number : &l->steps) += v;
		return m->quantity == DRILL_Q_DURATION ||
				       m->quantity == DRILL_Q_STEPS
			       ? 0 : -EINVAL;
	}
	if (end != term && strcmp(end, "% of baseline") == 0 &&
	    l->share == 0 && v > 0) {
		l->share = v / 100;
		return 0;
	}
	if (m->quantity == DRILL_Q_DURATION && is_name(term) &&
	    !l->timeout[0]) {
		snprintf(l->timeout, sizeof(l->timeout), "%s", term);
		return 0;
	}
	if (m->quantity == DRILL_Q_DURATION && duration(term, &v) == 0)
		l->number += v;
	else if (m->quantity == DRILL_Q_RANK_S && rank_time(term, &v) == 0)
		l->number += v;
	else if (m->quantity == DRILL_Q_RATIO && end != term &&
		 strcmp(end, "%") == 0)
		l->number += v / 100;
	else
		return -EINVAL;
	return 0;
}

static const char *how_to_write(enum drill_quantity q)
{
	switch (q) {
	case DRILL_Q_DURATION:
		return "a duration, as in \"5s\", \"3 steps\" or "
		       "\"watchdog + 3 steps\"";
	case DRILL_Q_RANK_S:
		return "rank-seconds, as in \"240 rank*s\"";
	case DRILL_Q_RATIO:
		return "a share, as in \"95%\"";
	case DRILL_Q_FLAG:
		return "true or false";
	case DRILL_Q_WORD:
		return "a word";
	default:
		return "a number";
	}
}

static int read_text(const struct drill_metric *m, const char *text,
		     struct drill_limit *l, struct drill_err *err)
{
	char copy[128], *save = NULL, *term;

	if (strcmp(text, "never") == 0 && m->quantity == DRILL_Q_DURATION) {
		l->never = true;
		return 0;
	}
	snprintf(copy, sizeof(copy), "%s", text);
	term = strtok_r(copy, "+", &save);
	if (!term)
		return bad(err, text, how_to_write(m->quantity));
	for (; term; term = strtok_r(NULL, "+", &save))
		if (read_term(m, term, l) < 0)
			return bad(err, text, how_to_write(m->quantity));
	return 0;
}

/* A word that the metric never has would be missed for ever. */
static int check_word(const struct drill_metric *m, const char *word,
		      struct drill_err *err)
{
	const char *const *words = drill_metric_words(m), *near;
	char list[200] = "";
	size_t i, len = 0;

	for (i = 0; words && words[i]; i++) {
		if (strcmp(words[i], word) == 0)
			return 0;
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
					i ? ", " : "", words[i]);
	}
	if (!words)
		return 0;
	near = drill_nearest(word, words);
	return drill_err_set(err, -EINVAL, NULL, "limit '%s': %s is never that%s"
			     "%s%s (one of: %s)", word, m->name,
			     near ? ", did you mean '" : "", near ? near : "",
			     near ? "'?" : "", list);
}

static int read_words(const struct drill_metric *m, json_t *limit,
		      struct drill_limit *l, struct drill_err *err)
{
	json_t *v;
	size_t i;

	l->words = json_is_array(limit) ? json_incref(limit)
					: json_pack("[O]", limit);
	json_array_foreach(l->words, i, v) {
		if (!json_is_string(v))
			return bad(err, m->name, "words, as in \"target\"");
		if (check_word(m, json_string_value(v), err) < 0)
			return -EINVAL;
	}
	return 0;
}

static int read_number(const struct drill_metric *m, json_t *limit,
		       struct drill_limit *l, struct drill_err *err)
{
	char text[64];

	if (json_is_boolean(limit) && m->quantity == DRILL_Q_FLAG) {
		l->number = json_is_true(limit);
		return 0;
	}
	if (json_is_string(limit))
		return read_text(m, json_string_value(limit), l, err);
	if (!json_is_number(limit) || m->quantity == DRILL_Q_FLAG)
		return bad(err, m->name, how_to_write(m->quantity));
	snprintf(text, sizeof(text), "%g", json_number_value(limit));
	if (m->quantity == DRILL_Q_DURATION || m->quantity == DRILL_Q_RANK_S)
		return bad(err, text, how_to_write(m->quantity));
	l->number = json_number_value(limit);
	return 0;
}

int drill_limit_read(const struct drill_metric *m, const char *op,
		     json_t *limit, struct drill_limit *ret,
		     struct drill_err *err)
{
	bool word = m->quantity == DRILL_Q_WORD;
	const char *text = json_string_value(limit);

	memset(ret, 0, sizeof(*ret));
	if (drill_op_parse(op, &ret->op) < 0)
		return drill_err_set(err, -EINVAL, NULL,
				     "no operator '%s': < <= > >= == != in is",
				     op ? op : "");
	if (ret->op == DRILL_OP_IS) {
		ret->finite = !word && text && strcmp(text, "finite") == 0;
		return ret->finite ? 0
				   : bad(err, text ? text : "?",
					 "\"is\", \"finite\" of a number");
	}
	if (ret->op == DRILL_OP_IN && !json_is_array(limit))
		return bad(err, text ? text : "?", "\"in\", { \"a\", \"b\" }");
	if (word && ret->op < DRILL_OP_EQ)
		return drill_err_set(err, -EINVAL, NULL,
				     "%s is a word: ==, != or in", m->name);
	if (!word && ret->op == DRILL_OP_IN)
		return drill_err_set(err, -EINVAL, NULL,
				     "%s is no word: in does not fit", m->name);
	return word ? read_words(m, limit, ret, err)
		    : read_number(m, limit, ret, err);
}

void drill_limit_done(struct drill_limit *l)
{
	json_decref(l->words);
	l->words = NULL;
}

/* ---- judging ---- */

static enum drill_verdict judge_word(const struct drill_limit *l,
				     const struct drill_value *v,
				     const struct drill_limit_context *c,
				     char *why, int size)
{
	bool found = false;
	const char *w;
	json_t *e;
	size_t i;

	json_array_foreach(l->words, i, e) {
		w = json_string_value(e);
		if (strcmp(w, "baseline") == 0) {
			if (c->baseline.type != DRILL_V_WORD) {
				snprintf(why, (size_t)size,
					 "no baseline value");
				return DRILL_UNDECIDED;
			}
			w = c->baseline.word;
		}
		found |= strcmp(w, v->word) == 0;
	}
	return found == (l->op != DRILL_OP_NE) ? DRILL_HELD : DRILL_BROKEN;
}

static int limit_number(const struct drill_limit *l,
			const struct drill_limit_context *c, double *ret,
			char *why, int size)
{
	double t = 0;

	*ret = l->number;
	if (l->steps != 0 && !(c->step_s > 0)) {
		snprintf(why, (size_t)size, "no baseline step time");
		return -1;
	}
	if (l->timeout[0])
		t = c->timeout_s ? c->timeout_s(c->ctx, l->timeout) : -1;
	if (t < 0) {
		snprintf(why, (size_t)size, "no time-out named %s",
			 l->timeout);
		return -1;
	}
	if (l->share > 0 && c->baseline.type != DRILL_V_NUMBER) {
		snprintf(why, (size_t)size, "no baseline value");
		return -1;
	}
	*ret += (l->steps != 0 ? l->steps * c->step_s : 0) + t +
		(l->share > 0 ? l->share * c->baseline.v : 0);
	return 0;
}

/* A limit inside the uncertainty is undecided. */
static enum drill_verdict less(double lo, double hi, double x, bool strict)
{
	if (strict ? hi < x : hi <= x)
		return DRILL_HELD;
	return (strict ? lo >= x : lo > x) ? DRILL_BROKEN : DRILL_UNDECIDED;
}

static enum drill_verdict opposite(enum drill_verdict v)
{
	return v == DRILL_UNDECIDED ? v
				    : v == DRILL_HELD ? DRILL_BROKEN
						      : DRILL_HELD;
}

static enum drill_verdict judge_number(const struct drill_limit *l, double lo,
				       double hi, double x)
{
	switch (l->op) {
	case DRILL_OP_LT:
		return less(lo, hi, x, true);
	case DRILL_OP_LE:
		return less(lo, hi, x, false);
	case DRILL_OP_GE:
		return opposite(less(lo, hi, x, true));
	case DRILL_OP_GT:
		return opposite(less(lo, hi, x, false));
	case DRILL_OP_EQ:
		return lo == x && hi == x ? DRILL_HELD : DRILL_BROKEN;
	default:
		return lo == x && hi == x ? DRILL_BROKEN : DRILL_HELD;
	}
}

enum drill_verdict drill_limit_judge(const struct drill_limit *l,
				     const struct drill_value *v,
				     const struct drill_limit_context *c,
				     char *why, int size)
{
	double x, lo = v->lo, hi = v->hi;
	enum drill_verdict verdict;

	why[0] = '\0';
	if (v->type == DRILL_V_ABSENT) {
		snprintf(why, (size_t)size, "%s", v->why);
		return DRILL_UNDECIDED;
	}
	if (v->type == DRILL_V_NA) {
		snprintf(why, (size_t)size, "not applicable");
		return DRILL_HELD;
	}
	if (l->words)
		return judge_word(l, v, c, why, size);
	if (l->finite)
		return v->type == DRILL_V_NUMBER && isfinite(v->v)
			       ? DRILL_HELD : DRILL_BROKEN;
	if (v->type == DRILL_V_NEVER)
		lo = hi = INFINITY;
	if (l->never)
		x = INFINITY;
	else if (limit_number(l, c, &x, why, size) < 0)
		return DRILL_UNDECIDED;
	verdict = judge_number(l, lo, hi, x);
	if (verdict == DRILL_UNDECIDED)
		snprintf(why, (size_t)size,
			 "within the clocks' uncertainty: %.4g to %.4g", lo,
			 hi);
	return verdict;
}
