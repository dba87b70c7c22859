/* test_malloc_core.c - core with the n-th allocation failing, n = 1, 2, 3, ...
 * SPDX-License-Identifier: MIT
 *
 * Each case is run with one allocation failing after another until it gets
 * through. On the way it may only fail with an error that has a text, and must
 * not crash or give a wrong answer. Our own allocations and jansson's both go
 * through the counter.
 */
#include "check_main.h"

#include "harness/core/event.h"
#include "harness/core/frame.h"
#include "harness/core/jsonx.h"
#include "harness/core/param.h"
#include "harness/lab/lab.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static long left = -1; /* allocations until one fails; -1: none does */
static bool right;     /* what came out; Check allocates, so asserted later */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static bool fails(void)
{
	if (left > 0 && --left == 0)
		return true;
	return false;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

static int ignore(void *ctx, json_t *msg, struct drill_err *err)
{
	(void)ctx;
	(void)msg;
	(void)err;
	return 0;
}

static int frame(struct drill_err *err)
{
	static const char bytes[] = "\0\0\0\x17{\"kind\":\"x\",\"a\":[1,{}]}";
	struct drill_frame_reader r = {.on_message = ignore};
	int rc = drill_frame_feed(&r, bytes, 4 + 0x17, err);

	drill_frame_reader_done(&r);
	return rc;
}

static int encode(struct drill_err *err)
{
	long n = left;
	json_t *msg;
	size_t len;
	char *data;

	left = -1;
	msg = json_pack("{s:s, s:[i, i]}", "kind", "x", "a", 1, 2);
	left = n;
	data = drill_frame_encode(msg, &len, err);
	json_decref(msg);
	free(data);
	return data ? 0 : err->code;
}

struct args {
	int64_t delay, count;
};

static int params(struct drill_err *err)
{
	static const struct drill_param table[] = {
		{"delay", DRILL_DURATION, offsetof(struct args, delay), "80ms",
		 0, 0, NULL, "X."},
		{"count", DRILL_INT, offsetof(struct args, count), "3", 0, 0,
		 NULL, "X."},
		{0},
	};
	struct args a;
	int rc = drill_params_parse(table, "test", NULL, &a, err);

	if (rc < 0)
		return rc;
	right &= a.delay == 80000000;
	return 0;
}

static int events(struct drill_err *err)
{
	json_t *list;
	bool torn;
	int rc = drill_events_read("tests/data/golden/events.jsonl", &list,
				   &torn, err);

	right &= rc < 0 ? !list : json_array_size(list) > 30;
	json_decref(list);
	return rc;
}

static int lab(struct drill_err *err)
{
	struct drill_lab_spec spec;
	int rc = drill_lab_spec_read("scenarios/labs/rack.yaml", &spec, err);

	if (rc < 0)
		return rc;
	right &= spec.hosts == 8 && json_object_size(spec.domains) == 2;
	drill_lab_spec_done(&spec);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct drill_err *err);
	long step; /* for long cases: not every allocation */
} cases[] = {
	{"frame", frame, 1},   {"encode", encode, 1}, {"params", params, 1},
	{"events", events, 7}, {"lab", lab, 1},
};

START_TEST(every_failing_allocation_is_an_error_or_harmless)
{
	long n, failed = 0;
	bool through;
	int rc = -1;

	for (n = 1; n < 100000; n += cases[_i].step) {
		struct drill_err err = {0};

		right = true;
		left = n;
		rc = cases[_i].run(&err);
		through = left > 0; /* it never came so far */
		left = -1;
		ck_assert_msg(right, "%s, allocation %ld: a wrong answer",
			      cases[_i].name, n);
		if (through)
			break;
		failed += rc < 0;
		ck_assert_msg((rc < 0) == (err.code < 0), "%s, allocation %ld",
			      cases[_i].name, n);
		ck_assert_msg(rc == 0 || err.msg[0], "%s, allocation %ld",
			      cases[_i].name, n);
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_int_gt(failed, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("malloc core");
	TCase *t = tcase_create("malloc core");

	json_set_alloc_funcs(__wrap_malloc, free);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, every_failing_allocation_is_an_error_or_harmless,
			    0, (int)(sizeof(cases) / sizeof(cases[0])));
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
