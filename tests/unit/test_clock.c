/* test_clock.c - offsets of other clocks, with a bound that holds
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/core/clock.h"

#include <stdint.h>

#define MS INT64_C(1000000)

START_TEST(clocks_go_forward)
{
	const struct drill_clock *c = drill_clock_system();
	int64_t a = drill_raw_ns(c), b = drill_raw_ns(c);

	ck_assert(a > 0 && b >= a);
	ck_assert(c->boot_ns(c->ctx) > 0);
	ck_assert(c->wall_ns(c->ctx) > INT64_C(1600000000) * 1000 * MS);
}
END_TEST

START_TEST(knows_nothing_before_the_first_trip)
{
	struct drill_offset o = {0};
	int64_t u;

	ck_assert_int_eq(drill_offset_local(&o, 42, 0, &u), 42);
	ck_assert_int_eq(u, INT64_MAX);
}
END_TEST

START_TEST(takes_the_middle_of_the_shortest_trip)
{
	struct drill_offset o = {0};
	int64_t u;

	drill_offset_add(&o, 0, 10 * MS, 1000 * MS);
	drill_offset_add(&o, 20 * MS, 22 * MS, 1021 * MS); /* offset 1000 ms */
	drill_offset_add(&o, 30 * MS, 50 * MS, 1055 * MS);
	ck_assert_int_eq(drill_offset_local(&o, 1100 * MS, 21 * MS, &u),
			 100 * MS);
	ck_assert_int_eq(u, MS + 1000); /* RTT/2 + read time */
	drill_offset_local(&o, 1100 * MS, 10021 * MS, &u);
	ck_assert_int_eq(u, MS + 1000 + MS); /* 100 ppm of 10 s */
}
END_TEST

START_TEST(forgets_trips_older_than_the_last_64)
{
	struct drill_offset o = {0};
	int64_t u;
	int i;

	drill_offset_add(&o, 0, 2, 1000);
	for (i = 0; i < 64; i++)
		drill_offset_add(&o, i * MS, i * MS + 10, i * MS + 5 + 77);
	ck_assert_int_eq(drill_offset_local(&o, 77, 0, &u), 0);
}
END_TEST

START_TEST(impossible_trips_are_no_trips)
{
	struct drill_offset o = {0};

	drill_offset_add(&o, 10, 5, 0);
	drill_offset_add(&o, INT64_MIN, INT64_MAX, 0);
	drill_offset_add(&o, 10, 20, INT64_MIN);
	ck_assert_uint_eq(o.n, 0);
	drill_offset_add(&o, 10, 20, 15);
	ck_assert_uint_eq(o.n, 1);
}
END_TEST

START_TEST(far_stamps_do_not_overflow)
{
	struct drill_offset o = {0};
	int64_t u;

	drill_offset_add(&o, 0, 2, -1000);
	drill_offset_local(&o, INT64_MAX, INT64_MIN, &u);
	drill_offset_local(&o, INT64_MIN, INT64_MAX, &u);
	ck_assert(u > 0);
}
END_TEST

/* The bound is checked against a made-up clock that drifts by 90 ppm and trips
 * of random asymmetry. */
START_TEST(the_true_time_lies_within_the_bound)
{
	struct drill_offset o = {0};
	uint64_t seed = 7;
	int64_t t, u, local, remote, out, back;
	int i;

	for (i = 0, t = 0; i < 5000; i++, t += 20 * MS) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		out = (int64_t)(seed >> 33) % (2 * MS);
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		back = (int64_t)(seed >> 33) % (2 * MS);
		remote = 123456789 + (t + out) + (t + out) * 90 / 1000000;
		drill_offset_add(&o, t, t + out + back, remote);
		local = drill_offset_local(&o, remote, t + out + back, &u);
		ck_assert(local - (t + out) <= u && (t + out) - local <= u);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clock");
	TCase *t = tcase_create("clock");

	tcase_add_test(t, clocks_go_forward);
	tcase_add_test(t, knows_nothing_before_the_first_trip);
	tcase_add_test(t, takes_the_middle_of_the_shortest_trip);
	tcase_add_test(t, forgets_trips_older_than_the_last_64);
	tcase_add_test(t, impossible_trips_are_no_trips);
	tcase_add_test(t, far_stamps_do_not_overflow);
	tcase_add_test(t, the_true_time_lies_within_the_bound);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
