/* xid.c - what is known of an Xid, and the chains in which they come
 * SPDX-License-Identifier: MIT
 */
#include "xid.h"

#include "xid_table.h"

#include "injectors/hooks/xid_line.h"

#include "faultdrill/nvml_api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHO "device.xid"

static const struct drill_xid table[] = {
#define X(code, name, scope, e1, e2, e3, e4, new, action, events, meaning,     \
	  text, source)                                                        \
	{ code, #name, DRILL_XID_##scope, { e1, e2, e3, e4 }, new,              \
	  DRILL_RECOVERY_##action, events, meaning, text, source },
	DRILL_XIDS(X)
#undef X
	{ 0 },
};

const struct drill_xid *drill_xids(void)
{
	return table;
}

static int64_t apart(int64_t a, int64_t b)
{
	return a < b ? b - a : a - b;
}

const struct drill_xid *drill_xid_find(int64_t code, struct drill_err *err)
{
	const struct drill_xid *x, *near = table;

	for (x = table; x->code && x->code != code; x++)
		if (apart(x->code, code) < apart(near->code, code))
			near = x;
	if (x->code)
		return x;
	drill_err_set(err, -EINVAL, WHO,
		      "code = %lld: no such Xid is known; the nearest is %d "
		      "(%s)",
		      (long long)code, near->code, near->meaning);
	return NULL;
}

/* ---- chains ---- */

static const struct {
	int code;
	const char *chain, *uncontained;
} known[] = {
	{ 13, "13 43", NULL },
	{ 31, "31 43", NULL },
	{ 48, "48 63 94", "48 63 95 154" },
	{ 119, "119 119 119 154", NULL },
};

/* Most that ask for a recovery action say so in a 154. */
static const char *chain_of(int code, bool contained, char buf[32])
{
	const struct drill_xid *x = drill_xid_find(code, NULL);
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].code == code)
			return contained || !known[i].uncontained ?
				       known[i].chain : known[i].uncontained;
	if (x && x->scope == DRILL_XID_LINK)
		snprintf(buf, 32, "%d 45 154", code);
	else if (x && (x->action || code == 120))
		snprintf(buf, 32, "%d 154", code);
	else
		snprintf(buf, 32, "%d", code);
	return buf;
}

static int bad_chain(const char *text, const char *why, struct drill_err *err)
{
	return drill_err_set(err, -EINVAL, WHO,
			     "chain = \"%.60s\": %s (write \"48 -> 63 -> 94\")",
			     text, why);
}

static int read_chain(const char *text, int ret[DRILL_XID_CHAIN],
		      struct drill_err *err)
{
	const char *p = text;
	char *end, why[64];
	int n = 0;
	long v;

	for (;;) {
		p += strspn(p, " ,->");
		if (!*p)
			return n ? n : bad_chain(text, "no code", err);
		v = strtol(p, &end, 10);
		if (end == p)
			return bad_chain(text, "not a number", err);
		if (n == DRILL_XID_CHAIN)
			return bad_chain(text, "more than 8 codes", err);
		if (!drill_xid_find(v, NULL)) {
			snprintf(why, sizeof(why), "%ld: no such Xid is known", v);
			return bad_chain(text, why, err);
		}
		ret[n++] = (int)v;
		p = end;
	}
}

int drill_xid_chain(int64_t code, const char *text, bool contained,
		    int ret[DRILL_XID_CHAIN], struct drill_err *err)
{
	char buf[32];
	int n;

	if (!drill_xid_find(code, err))
		return -EINVAL;
	if (!strcmp(text, "alone")) {
		ret[0] = (int)code;
		return 1;
	}
	if (!*text)
		text = chain_of((int)code, contained, buf);
	n = read_chain(text, ret, err);
	if (n > 0 && ret[0] != code)
		return bad_chain(text, "it does not begin with the code", err);
	return n;
}

/* ---- as steps ---- */

struct teller {
	const struct drill_xid_story *s;
	struct drill_device_fault *f;
	struct drill_err *err;
	int i;			    /* of the chain */
	enum drill_recovery action; /* that the device asks for so far */
};

static bool chain_has(const struct teller *t, int code, int from, int to)
{
	for (int i = from; i < to; i++)
		if (t->s->code[i] == code)
			return true;
	return false;
}

/* The last code before this one that is no 45. */
static int cause(const struct teller *t)
{
	for (int i = t->i - 1; i >= 0; i--)
		if (t->s->code[i] != 45)
			return t->s->code[i];
	return 0;
}

/* The action that a 154 announces: the gravest that the codes before it ask
 * for. A broken NVLink and a GSP that stays silent ask for a reset, too. */
static enum drill_recovery asked_for(const struct teller *t)
{
	enum drill_recovery worst = DRILL_RECOVERY_RESET;
	const struct drill_xid *x;

	for (int i = 0; i < t->i; i++) {
		x = drill_xid_find(t->s->code[i], NULL);
		if (x->action > worst)
			worst = x->action;
	}
	return worst;
}

/* The table's text with all but %p and %n filled in: those are left to whoever
 * fires. */
static void fill_text(const struct teller *t, const struct drill_xid *x,
		      int device, int channel, enum drill_recovery to,
		      char *ret, size_t size)
{
	char word[40];
	size_t n = 0;

	for (const char *p = x->text; *p; p++) {
		snprintf(word, sizeof(word), "%c", *p);
		if (*p == '%' && p[1]) {
			p++;
			snprintf(word, sizeof(word), "%%%c", *p);
			if (*p == 'c')
				snprintf(word, sizeof(word), "%08x",
					 (unsigned int)channel);
			else if (*p == 'l')
				snprintf(word, sizeof(word), "%02d",
					 t->s->link);
			else if (*p == 'i')
				snprintf(word, sizeof(word), "%d", device);
			else if (*p == 'o' || *p == 'r')
				snprintf(word, sizeof(word), "%d",
					 *p == 'o' ? t->action : to);
			else if (*p == 'O' || *p == 'R')
				snprintf(word, sizeof(word), "%s",
					 drill_xid_action_name(
					 *p == 'O' ? t->action : to));
		}
		if (n < size)
			n += (size_t)snprintf(ret + n, size - n, "%s", word);
	}
	if (x->code == 45 && cause(t))
		drill_xid_caused_by(ret, size, (uint32_t)cause(t));
}

/* Between a line and the one before it. */
static int64_t gap_of(const struct teller *t, int code)
{
	if (t->s->gap_ns >= 0)
		return t->s->gap_ns;
	switch (code) {
	case 119:
		return INT64_C(6000000000);
	case 154:
		return 130000000;
	default:
		return 10000000;
	}
}

/* What NVML's counters show of it. */
static void count(const struct teller *t, const struct drill_xid *x,
		  struct drill_device_step *st)
{
	switch (x->code) {
	case 94: case 95: case 171: case 172:
		if (chain_has(t, 48, 0, t->i))
			break; /* the same error */
		/* fall through */
	case 48: case 140:
		st->ecc_uncorrected = 1;
		break;
	case 63:
		st->remap_unc = 1;
		st->pending_1 = 2;
		break;
	case 64:
		st->failure_1 = 2;
		break;
	case 92:
		st->ecc_corrected = 128;
		break;
	case 119: case 120:
		/* As long as the driver waits for its answer. */
		st->nvml_block_ms = (uint32_t)(gap_of(t, 119) / 1000000);
		break;
	case 74:
		st->link_crc = 12;
		st->link_replay = 3;
		st->link_recovery = 1;
		break;
	default:
		break;
	}
	if (x->scope == DRILL_XID_LINK || x->scope == DRILL_XID_LINK_DOWN)
		st->links_down = 1ull << t->s->link;
}

static int error_of(const struct teller *t, const struct drill_xid *x)
{
	for (int i = 0; i < DRILL_XID_ERRORS; i++)
		if (t->s->error && x->error[i] == t->s->error)
			return t->s->error;
	return x->error[0];
}

/* What NVML says of a device that fails so; 0: as it stands. */
static uint32_t seen_as(const struct drill_xid *x, enum drill_recovery to)
{
	if (x->code == 79)
		return DRILL_DEVICE_LOST;
	if (x->scope == DRILL_XID_ABSENT)
		return DRILL_DEVICE_GONE;
	/* With 154 the driver itself says that only a reset helps. */
	if ((x->scope == DRILL_XID_DEVICE || x->code == 154) &&
	    to == DRILL_RECOVERY_RESET)
		return DRILL_DEVICE_RESET_REQUIRED;
	return 0;
}

static void hurt(const struct teller *t, const struct drill_xid *x,
		 struct drill_device_step *st)
{
	if (x->scope == DRILL_XID_DEVICE || x->scope == DRILL_XID_LINK)
		st->running_error = error_of(t, x);
	st->context_error = x->new_context;
	if (x->scope == DRILL_XID_LINK_DOWN)
		st->no_peer_1 = 2;
}

static int64_t gap(const struct teller *t, const struct drill_xid *x)
{
	return t->i == 0 ? 0 : gap_of(t, x->code);
}

static int add(struct teller *t, const struct drill_xid *x, int device,
	       int channel, int64_t delay_ns)
{
	struct drill_device_step *st = &t->f->step[t->f->steps];
	enum drill_recovery to = x->code == 154 ? asked_for(t) : x->action;

	if (t->f->steps == DRILL_DEVICE_STEPS)
		return drill_err_set(t->err, -E2BIG, WHO,
				     "the chain has more than %d lines",
				     DRILL_DEVICE_STEPS);
	t->f->steps++;
	st->delay_ns = delay_ns;
	st->device = (uint32_t)device;
	if (t->s->effect)
		hurt(t, x, st);
	if (!t->s->signal)
		return 0;
	/* CUDA obeys the health, so a mere signal is for NVML alone. */
	if (t->s->effect)
		st->health = seen_as(x, to);
	else
		st->nvml_health = seen_as(x, to);
	st->xid = (uint32_t)x->code;
	st->events = x->events;
	count(t, x, st);
	if (to && (x->code == 154 || !chain_has(t, 154, t->i, t->s->n)))
		st->recovery_action_1 = 1 + to;
	fill_text(t, x, device, channel, to, st->text, sizeof(st->text));
	return 0;
}

/* Does the chain break a link, so that both its ends say so? */
static bool both_ends(const struct teller *t)
{
	const struct drill_xid *x = drill_xid_find(t->s->code[0], NULL);

	return t->s->peer >= 0 && (x->scope == DRILL_XID_LINK ||
				   x->scope == DRILL_XID_LINK_DOWN);
}

#define CHANNELS 2 /* of the process that uses the device */

static int tell(struct teller *t)
{
	const struct drill_xid *x = drill_xid_find(t->s->code[t->i], NULL);
	int channels = x->code == 45 ? CHANNELS : 1, r = 0, device;
	int ends = both_ends(t) ? 2 : 1;

	for (int e = 0; e < ends; e++)
		for (int c = 0; c < channels && !r; c++) {
			device = e ? t->s->peer : t->s->device;
			r = add(t, x, device, 8 + c,
				e || c ? 0 : gap(t, x));
		}
	if (x->code == 154)
		t->action = asked_for(t);
	return r;
}

/* The code that a program feels: the first of the chain that has an error. */
static const struct drill_xid *felt(const struct drill_xid_story *s)
{
	const struct drill_xid *x;

	for (int i = 0; i < s->n; i++) {
		x = drill_xid_find(s->code[i], NULL);
		if (x->error[0])
			return x;
	}
	return NULL;
}

static enum drill_device_action action_of(const struct drill_xid *x)
{
	if (x->scope == DRILL_XID_LINK_DOWN)
		return DRILL_DEVICE_NO_PEER;
	return x->scope == DRILL_XID_ABSENT ? DRILL_DEVICE_ABSENT :
					      DRILL_DEVICE_STICKY;
}

int drill_xid_steps(const struct drill_xid_story *s,
		    struct drill_device_fault *f, struct drill_err *err)
{
	const struct drill_xid *x = felt(s);
	struct teller t = { .s = s, .f = f, .err = err };
	int r = 0;

	f->action = DRILL_DEVICE_NOTHING;
	f->steps = 0;
	if (x && s->effect) {
		f->action = action_of(x);
		/* Asked for, it may be known with a later code: 226 with 94. */
		f->error = s->error ? s->error : x->error[0];
	}
	for (t.i = 0; t.i < s->n && !r; t.i++)
		r = tell(&t);
	return r;
}
