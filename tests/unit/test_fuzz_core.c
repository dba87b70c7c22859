/* test_fuzz_core.c - hostile bytes for frames, events, units, names and labs
 * SPDX-License-Identifier: MIT
 *
 * Deterministic: good inputs are mutated by a generator whose seed is printed
 * (FUZZ_SEED=n repeats it, FUZZ_ROUNDS=n goes on for longer). What is asked is
 * that nothing crashes, leaks or loops, that an error always has a text, and
 * that what was accepted survives a round trip. SAN=1 finds the rest.
 */
#include "check_main.h"

#include "harness/core/event.h"
#include "harness/core/frame.h"
#include "harness/core/jsonx.h"
#include "harness/core/unit.h"
#include "harness/lab/lab.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define MAX 2048

static uint64_t seed, x;
static long rounds;

/* xorshift64*, so that a seed means the same everywhere. */
static uint32_t draw(uint32_t below)
{
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return (uint32_t)((x * UINT64_C(2685821657736338717)) >> 33) % below;
}

static size_t insert(char *buf, size_t n, const char *what, size_t len)
{
	size_t at = draw((uint32_t)n + 1);
	char copy[MAX]; /* @what may lie in @buf */

	if (n + len > MAX)
		return n;
	memcpy(copy, what, len);
	memmove(buf + at + len, buf + at, n - at);
	memcpy(buf + at, copy, len);
	return n + len;
}

static const char *const tokens[] = {
	"{", "}", "[", "]", "\"", ":", ",", "\\", "\\u0000", "null", "-1",
	"1e999", "99999999999999999999", "\xff", "\xc3", "true", ".", "ms",
	"%", "GiB", "\n", "- ", "&a ", "*a ", "? ", "!!int ", "\t", "'",
};

/* One to four changes: a bit, a byte, a piece out, a piece twice, a token. */
static size_t mutate(char *buf, size_t n)
{
	uint32_t times = 1 + draw(4), at, len;
	const char *t;

	for (; times; times--) {
		at = n ? draw((uint32_t)n) : 0;
		len = n ? 1 + draw((uint32_t)(n - at)) : 0;
		switch (draw(5)) {
		case 0:
			if (n)
				buf[at] = (char)(buf[at] ^ (1 << draw(8)));
			break;
		case 1:
			if (n)
				buf[at] = (char)draw(256);
			break;
		case 2:
			memmove(buf + at, buf + at + len, n - at - len);
			n -= len;
			break;
		case 3:
			n = insert(buf, n, buf + at, len);
			break;
		default:
			t = tokens[draw(sizeof(tokens) / sizeof(tokens[0]))];
			n = insert(buf, n, t, strlen(t));
		}
	}
	return n;
}

static size_t pick(const char *const *list, uint32_t n, char *buf)
{
	const char *s = list[draw(n)];

	memcpy(buf, s, strlen(s));
	return strlen(s);
}

#define PICK(list, buf) pick(list, sizeof(list) / sizeof((list)[0]), buf)

static int count_message(void *ctx, json_t *msg, struct drill_err *err)
{
	(void)err;
	ck_assert(json_is_object(msg));
	++*(int *)ctx;
	return 0;
}

static const char *const messages[] = {
	"{\"kind\":\"hello\",\"build\":\"x\",\"pid\":42}",
	"{\"kind\":\"plan\",\"faults\":[{\"name\":\"a\",\"args\":{\"n\":[1]}}]}",
	"{}",
};

START_TEST(frames)
{
	char buf[MAX + 16];
	long i;

	for (i = 0; i < rounds; i++) {
		struct drill_frame_reader r = {.on_message = count_message};
		struct drill_err err = {0};
		int seen = 0, rc = 0;
		size_t n, at, piece;

		r.ctx = &seen;
		n = PICK(messages, buf + 4);
		buf[0] = buf[1] = 0;
		buf[2] = (char)(n >> 8);
		buf[3] = (char)(n & 255);
		n = mutate(buf, n + 4);
		for (at = 0; at < n && rc == 0; at += piece) {
			piece = 1 + draw((uint32_t)(n - at));
			rc = drill_frame_feed(&r, buf + at, piece, &err);
		}
		if (rc == 0)
			rc = drill_frame_end(&r, &err);
		ck_assert((rc < 0) == (err.code < 0));
		ck_assert(rc == 0 || err.msg[0]);
		drill_frame_reader_done(&r);
	}
}
END_TEST

static const char *const events[] = {
	"{\"kind\":\"step.end\",\"t_s\":1.5,\"attempt\":1,\"rank\":0,"
	"\"step\":3,\"tokens\":100,\"samples\":{\"first\":1,\"count\":2},"
	"\"loss\":\"nan\"}",
	("{\"kind\":\"fault.effective\",\"t_s\":2,\"fault\":\"x\","
	 "\"target\":[\"rank 3\"],\"evidence\":{\"a\":[1,{\"b\":null}]}}"),
	"{\"kind\":\"detected\",\"t_s\":2,\"by\":\"mpi\",\"what\":\"rank 1\"}",
};

START_TEST(event_lines)
{
	char buf[MAX + 16], path[] = "/tmp/drill-fuzz.XXXXXX";
	int fd = mkstemp(path);
	long i;

	for (i = 0; i < rounds / 4; i++) {
		struct drill_err err = {0};
		size_t n = mutate(buf, PICK(events, buf));
		json_t *list = NULL;
		bool torn = false;
		int rc;

		ck_assert_int_eq(ftruncate(fd, 0), 0);
		ck_assert_int_eq(pwrite(fd, buf, n, 0), (ssize_t)n);
		rc = drill_events_read(path, &list, &torn, &err);
		ck_assert((rc < 0) == (err.code < 0));
		ck_assert((rc < 0) == !list);
		ck_assert(rc == 0 || strstr(err.msg, path));
		json_decref(list);
	}
	close(fd);
	unlink(path);
}
END_TEST

static const char *const values[] = {"80ms", "5%", "4KiB", "10Gbit/s", "1.5h",
				     "0.0001%", "106751d", "9 s"};

START_TEST(units_and_names)
{
	static const char *const names[] = {"link.delay", "host.kill", "a",
					    "", NULL};
	char buf[MAX + 16], again[64];
	long i;

	for (i = 0; i < rounds; i++) {
		enum drill_unit u = (enum drill_unit)draw(4);
		struct drill_err err = {0};
		size_t n = mutate(buf, PICK(values, buf));
		int64_t v, w;

		buf[n] = '\0';
		drill_nearest(buf, names);
		if (drill_unit_parse(buf, u, &v, &err) < 0) {
			ck_assert(err.msg[0]);
			continue;
		}
		ck_assert(v >= 0);
		drill_unit_print(v, u, again, sizeof(again));
		ck_assert_int_eq(drill_unit_parse(again, u, &w, &err), 0);
		ck_assert_int_eq(v, w);
	}
}
END_TEST

static const char *const lab_texts[] = {
	"provider: netns\nhosts: 4\nspares: 1\nwatchdog: 5s\n",
	"hosts: 2\ndomains:\n  rack:\n    a: [h0, h1]\nrates: {usd_per_rank_hour: 2}\n",
};

START_TEST(lab_files)
{
	char buf[MAX + 16], path[] = "/tmp/drill-fuzz.XXXXXX";
	int fd = mkstemp(path);
	long i;

	for (i = 0; i < rounds / 4; i++) {
		struct drill_err err = {0};
		struct drill_lab_spec spec;
		size_t n = mutate(buf, PICK(lab_texts, buf));
		int rc;

		ck_assert_int_eq(ftruncate(fd, 0), 0);
		ck_assert_int_eq(pwrite(fd, buf, n, 0), (ssize_t)n);
		rc = drill_lab_spec_read(path, &spec, &err);
		ck_assert((rc < 0) == (err.code < 0));
		ck_assert(rc == 0 || strstr(err.msg, path));
		if (rc == 0)
			drill_lab_spec_done(&spec);
	}
	close(fd);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fuzz core");
	TCase *t = tcase_create("fuzz core");
	const char *env = getenv("FUZZ_SEED"), *n = getenv("FUZZ_ROUNDS");

	seed = env ? strtoull(env, NULL, 0) : 20240229;
	rounds = n ? strtol(n, NULL, 0) : 20000;
	printf("FUZZ_SEED=%" PRIu64 " FUZZ_ROUNDS=%ld\n", seed, rounds);
	fflush(stdout);
	x = seed ? seed : 1;
	tcase_set_timeout(t, 600);
	tcase_add_test(t, frames);
	tcase_add_test(t, event_lines);
	tcase_add_test(t, units_and_names);
	tcase_add_test(t, lab_files);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
