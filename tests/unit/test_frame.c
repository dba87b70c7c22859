/* test_frame.c - frames: bytes as they come, and what is not one
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/core/frame.h"

#include <errno.h>
#include <string.h>

struct got {
	json_t *list;
	int rc; /* what the callback returns */
};

static int take(void *ctx, json_t *msg, struct drill_err *err)
{
	struct got *g = ctx;

	json_array_append(g->list, msg);
	if (g->rc < 0)
		drill_err_set(err, g->rc, "test", "refused");
	return g->rc;
}

static const char *golden_path(char *buf, size_t size)
{
	snprintf(buf, size, "tests/data/golden/frame.bin");
	return buf;
}

static json_t *sample(void)
{
	return json_pack("{s:s, s:i, s:s, s:[i,b,n], s:f}", "kind", "hello",
			 "pid", 42, "text", "\xc3\xa9\n", "list", 1, 1, "x",
			 0.5);
}

START_TEST(the_bytes_of_a_frame_are_fixed)
{
	char path[64], want[512];
	json_t *msg = sample();
	struct drill_err err = {0};
	size_t n, m;
	char *data = drill_frame_encode(msg, &n, &err);
	FILE *f = fopen(golden_path(path, sizeof(path)), "rb");

	ck_assert_ptr_nonnull(data);
	ck_assert_msg(f, "run it in the top directory: no %s", path);
	m = fread(want, 1, sizeof(want), f);
	fclose(f);
	ck_assert_mem_eq(data, want, n < m ? n : m);
	ck_assert_uint_eq(n, m);
	free(data);
	json_decref(msg);
}
END_TEST

/* Cut at every place, in pieces of every size. */
START_TEST(bytes_may_come_in_any_pieces)
{
	struct got g = {json_array(), 0};
	struct drill_frame_reader r = {.on_message = take, .ctx = &g};
	struct drill_err err = {0};
	json_t *msg = sample();
	size_t n, piece, i, all;
	char two[1024], *one = drill_frame_encode(msg, &n, &err);

	memcpy(two, one, n);
	memcpy(two + n, one, n);
	all = 2 * n;
	for (piece = 1; piece <= all; piece++)
		for (i = 0; i < all; i += piece)
			ck_assert_int_eq(
				drill_frame_feed(&r, two + i,
						 i + piece > all ? all - i
								 : piece,
						 &err),
				0);
	ck_assert_uint_eq(json_array_size(g.list), 2 * all);
	for (i = 0; i < 2 * all; i++)
		ck_assert(json_equal(json_array_get(g.list, i), msg));
	ck_assert_int_eq(drill_frame_end(&r, &err), 0);
	drill_frame_reader_done(&r);
	json_decref(g.list);
	json_decref(msg);
	free(one);
}
END_TEST

static const struct {
	const char *bytes;
	size_t n;
	const char *says;
} bad[] = {
	{"\0\0\0\0", 4, "a frame of 0 bytes"},
	{"\0\x10\0\x01", 4, "a frame of 1048577 bytes (1 to 1048576"},
	{"\xff\xff\xff\xff", 4, "a frame of 4294967295 bytes"},
	{"GET ", 4, "a frame of 1195725856 bytes"},
	{"\0\0\0\1x", 5, "no JSON"},
	{"\0\0\0\2[]", 6, "a list where an object belongs"},
	{"\0\0\0\4null", 8, "null where an object belongs"},
	{"\0\0\0\3{} ", 7, NULL}, /* blanks around are JSON */
	{"\0\0\0\3{}x", 7, "no JSON"},
	{"\0\0\0\1{", 5, "no JSON"},
	{"\0\0\0\15{\"a\":1,\"a\":2}", 17, "duplicate"},
	{"\0\0\0\10{\"a\":\"\xff\"", 12, "no JSON"},
	{"\0\0\0\14{\"a\":\"\\u0000", 16, "no JSON"},
};

START_TEST(what_is_no_frame_ends_with_a_reason)
{
	struct got g = {json_array(), 0};
	struct drill_frame_reader r = {.on_message = take, .ctx = &g};
	struct drill_err err = {0};
	int rc = drill_frame_feed(&r, bad[_i].bytes, bad[_i].n, &err);

	if (!bad[_i].says) {
		ck_assert_int_eq(rc, 0);
	} else {
		ck_assert_int_eq(rc, -EPROTO);
		ck_assert_msg(strstr(err.msg, bad[_i].says), "%s", err.msg);
	}
	drill_frame_reader_done(&r);
	json_decref(g.list);
}
END_TEST

static int feed_nested(int depth, struct drill_err *err)
{
	struct got g = {json_array(), 0};
	struct drill_frame_reader r = {.on_message = take, .ctx = &g};
	char buf[4096] = {0};
	int i, n = 4, rc;

	n += sprintf(buf + n, "{\"a\":");
	for (i = 1; i < depth; i++)
		buf[n++] = '[';
	for (i = 1; i < depth; i++)
		buf[n++] = ']';
	buf[n++] = '}';
	buf[2] = (char)((n - 4) >> 8);
	buf[3] = (char)((n - 4) & 255);
	rc = drill_frame_feed(&r, buf, (size_t)n, err);
	drill_frame_reader_done(&r);
	json_decref(g.list);
	return rc;
}

START_TEST(nesting_is_bounded)
{
	struct drill_err err = {0};

	ck_assert_int_eq(feed_nested(DRILL_FRAME_DEPTH, &err), 0);
	ck_assert_int_eq(feed_nested(DRILL_FRAME_DEPTH + 1, &err), -EPROTO);
	ck_assert_str_eq(err.msg, "nested deeper than 32");
	ck_assert_int_eq(feed_nested(1000, &err), -EPROTO);
}
END_TEST

START_TEST(a_stream_that_ends_inside_a_frame_is_an_error)
{
	struct got g = {json_array(), 0};
	struct drill_frame_reader r = {.on_message = take, .ctx = &g};
	struct drill_err err = {0};

	ck_assert_int_eq(drill_frame_feed(&r, "\0\0\0\x05{", 5, &err), 0);
	ck_assert_int_eq(drill_frame_end(&r, &err), -EPROTO);
	drill_frame_reader_done(&r);
	json_decref(g.list);
}
END_TEST

START_TEST(the_callback_can_end_the_reading)
{
	struct got g = {json_array(), -EPERM};
	struct drill_frame_reader r = {.on_message = take, .ctx = &g};
	struct drill_err err = {0};

	ck_assert_int_eq(drill_frame_feed(&r, "\0\0\0\2{}\0\0\0\2{}", 12, &err),
			 -EPERM);
	ck_assert_uint_eq(json_array_size(g.list), 1);
	ck_assert_str_eq(err.msg, "refused");
	drill_frame_reader_done(&r);
	json_decref(g.list);
}
END_TEST

START_TEST(the_longest_frame_goes_through_and_one_more_byte_does_not)
{
	struct got g = {json_array(), 0};
	struct drill_frame_reader r = {.on_message = take, .ctx = &g};
	struct drill_err err = {0};
	char *text = malloc(DRILL_FRAME_MAX), *data;
	json_t *msg;
	size_t n;

	memset(text, 'x', DRILL_FRAME_MAX);
	msg = json_pack("{s:s#}", "a", text, DRILL_FRAME_MAX - 8);
	data = drill_frame_encode(msg, &n, &err);
	ck_assert_ptr_nonnull(data);
	ck_assert_uint_eq(n, DRILL_FRAME_MAX + 4);
	ck_assert_int_eq(drill_frame_feed(&r, data, n, &err), 0);
	ck_assert(json_equal(json_array_get(g.list, 0), msg));
	free(data);
	json_decref(msg);
	msg = json_pack("{s:s#}", "a", text, DRILL_FRAME_MAX - 7);
	ck_assert_ptr_null(drill_frame_encode(msg, &n, &err));
	ck_assert_int_eq(err.code, -EMSGSIZE);
	json_decref(msg);
	json_decref(g.list);
	drill_frame_reader_done(&r);
	free(text);
}
END_TEST

#define ROWS(a) ((int)(sizeof(a) / sizeof((a)[0])))

int main(void)
{
	Suite *s = suite_create("frame");
	TCase *t = tcase_create("frame");

	tcase_add_test(t, the_bytes_of_a_frame_are_fixed);
	tcase_add_test(t, bytes_may_come_in_any_pieces);
	tcase_add_loop_test(t, what_is_no_frame_ends_with_a_reason, 0,
			    ROWS(bad));
	tcase_add_test(t, nesting_is_bounded);
	tcase_add_test(t, a_stream_that_ends_inside_a_frame_is_an_error);
	tcase_add_test(t, the_callback_can_end_the_reading);
	tcase_add_test(t,
		       the_longest_frame_goes_through_and_one_more_byte_does_not);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
