/* test_hook_page.c - the hook page: its bytes, its entries, and hostile pages
 * SPDX-License-Identifier: MIT
 *
 * GOLDEN_WRITE=1 writes the golden file anew; then the version must change too.
 */
#include "check_main.h"

#include "injectors/hooks/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOLDEN "tests/data/golden/hook_page.hex"

static char dir[64], path[96];
static struct drill_hooks h;
static struct drill_err err;

static const struct drill_hook_order order = {
	.action = DRILL_HOOK_HOLD, .word = DRILL_WORD_ALLREDUCE,
	.where = DRILL_HOOK_INSIDE, .rank = 3, .slot = -1, .attempt = 2,
	.step = 120, .nth = 4, .delay_ns = 5,
};

static void setup(void)
{
	strcpy(dir, "/tmp/fd-page.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/hooks.page", dir);
	err = (struct drill_err){ 0 };
	ck_assert_msg(!drill_hooks_create(&h, path, &err), "%s", err.msg);
}

static void teardown(void)
{
	char cmd[96];

	drill_hooks_close(&h);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(cmd), 0);
}

/* Lines of 16 bytes that are not all zero. */
static void dump(FILE *f, const unsigned char *p, size_t size)
{
	static const unsigned char zeros[16];

	for (size_t i = 0; i < size; i += 16) {
		if (!memcmp(p + i, zeros, 16))
			continue;
		fprintf(f, "%06zx ", i);
		for (int k = 0; k < 16; k++)
			fprintf(f, " %02x", p[i + k]);
		fputc('\n', f);
	}
}

static void fill_fixed(struct drill_hook_page *p)
{
	struct drill_hook_armed a;

	p->ticks_per_s = 2000000000;
	p->created_ns = 7;
	memset(p->build, 0, sizeof(p->build));
	strcpy(p->build, "0123456789abcdef");
	ck_assert_int_eq(drill_hooks_arm(&h, &order, &a, &err), 0);
	p->entry[0].mark = 0x1122334455667788;
	drill_hooks_waits(&h, true);
	p->slot[0].claimed = 1;
	p->slot[0].rank = 3;
	p->slot[0].count[DRILL_WORD_ALLREDUCE].calls = 9;
	p->slot[0].lane[1].word = DRILL_WORD_WAIT;
	p->slot[0].witness[2].left_ns = 4;
	p->slot[0].peer[5].bytes = 6;
	p->slot[0].hello = DRILL_HELLO_HERE;
}

START_TEST(its_bytes_are_those_of_the_golden_file)
{
	char *text = NULL, golden[16384] = "";
	size_t size, n;
	FILE *f = open_memstream(&text, &size), *g;

	fill_fixed(h.page);
	dump(f, (const unsigned char *)h.page, sizeof(*h.page));
	fclose(f);
	if (getenv("GOLDEN_WRITE")) {
		g = fopen(GOLDEN, "w");
		ck_assert_ptr_nonnull(g);
		fputs(text, g);
		fclose(g);
	}
	g = fopen(GOLDEN, "r");
	ck_assert_msg(g != NULL, "run from the root of the tree: no " GOLDEN);
	n = fread(golden, 1, sizeof(golden) - 1, g);
	fclose(g);
	ck_assert_uint_gt(n, 0);
	ck_assert_str_eq(text, golden);
	free(text);
}
END_TEST

START_TEST(a_page_is_private_whole_and_made_once)
{
	struct drill_hooks again;
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(st.st_size, sizeof(struct drill_hook_page));
	ck_assert_int_ge(st.st_blocks * 512, st.st_size);
	ck_assert_int_eq(drill_hooks_create(&again, path, &err), -EEXIST);
	ck_assert_ptr_null(again.page);
}
END_TEST

START_TEST(what_is_armed_is_what_is_read_back)
{
	struct drill_hook_armed a;
	struct drill_hook_seen s;

	ck_assert_int_eq(drill_hooks_arm(&h, &order, &a, &err), 0);
	ck_assert_uint_eq(h.page->armed, 1u << DRILL_WORD_ALLREDUCE);
	ck_assert_int_eq(drill_hooks_read(&h, &a, &s, &err), 0);
	ck_assert_int_eq(s.state, DRILL_HOOK_ARMED);
	ck_assert_int_eq(s.order.word, order.word);
	ck_assert_int_eq(s.order.where, order.where);
	ck_assert_int_eq(s.order.rank, 3);
	ck_assert_int_eq(s.order.slot, -1);
	ck_assert_int_eq(s.order.attempt, 2);
	ck_assert_int_eq(s.order.step, 120);
	ck_assert_int_eq(s.order.nth, 4);
	ck_assert_int_eq(s.order.ppm, 1000000);
	ck_assert_int_eq(s.order.hold_max_ns, INT64_C(10000000000));
	ck_assert_int_eq(s.by_rank, -1);
	ck_assert_int_eq(drill_hooks_disarm(&h, &a, &err), 0);
	ck_assert_int_eq(drill_hooks_read(&h, &a, &s, &err), -ENOENT);
	ck_assert_uint_eq(h.page->armed, 0);
}
END_TEST

START_TEST(an_entry_that_is_anothers_is_left_alone)
{
	struct drill_hook_armed a, other;
	struct drill_hook_seen s;

	ck_assert_int_eq(drill_hooks_arm(&h, &order, &a, &err), 0);
	other = (struct drill_hook_armed){ a.entry, a.mark + 1 };
	ck_assert_int_eq(drill_hooks_read(&h, &other, &s, &err), -ESTALE);
	ck_assert_int_eq(drill_hooks_release(&h, &other, &err), -ESTALE);
	ck_assert_int_eq(drill_hooks_disarm(&h, &other, &err), 0);
	ck_assert_int_eq(drill_hooks_read(&h, &a, &s, &err), 0);
	ck_assert_int_eq(drill_hooks_arm_at(&h, &order, &other, &err), -EBUSY);
}
END_TEST

START_TEST(more_than_all_entries_is_refused)
{
	struct drill_hook_armed a;

	for (int i = 0; i < DRILL_HOOK_ENTRIES; i++)
		ck_assert_int_eq(drill_hooks_arm(&h, &order, &a, &err), 0);
	ck_assert_int_eq(drill_hooks_arm(&h, &order, &a, &err), -ENOSPC);
	ck_assert_uint_eq(h.page->taken, UINT32_MAX);
}
END_TEST

START_TEST(an_order_out_of_range_is_refused)
{
	struct drill_hook_order bad[] = { order, order, order, order, order };
	struct drill_hook_armed a;

	bad[0].word = DRILL_WORDS;
	bad[1].action = 0;
	bad[2].nth = -1;
	bad[3].slot = DRILL_HOOK_SLOTS;
	bad[4].ppm = 1000001;
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(drill_hooks_arm(&h, &bad[i], &a, &err),
				 -EINVAL);
	ck_assert_uint_eq(h.page->taken, 0);
}
END_TEST

static void refused(const char *why)
{
	struct drill_hooks again;

	err = (struct drill_err){ 0 };
	ck_assert_int_lt(drill_hooks_open(&again, path, &err), 0);
	ck_assert_msg(strstr(err.msg, why), "'%s' lacks '%s'", err.msg, why);
	ck_assert_ptr_null(again.page);
}

START_TEST(a_page_that_is_none_is_refused_with_the_reason)
{
	struct drill_hook_page *p = h.page;

	p->magic++;
	refused("wrong magic");
	p->magic--;
	p->version = 99;
	refused("has version 99, this build reads 1");
	p->version = DRILL_HOOK_VERSION;
	p->slots = 1u << 31;
	refused("another layout");
	p->slots = DRILL_HOOK_SLOTS;
	p->ticks_per_s = 0;
	refused("another layout");
	ck_assert_int_eq(truncate(path, sizeof(*p) - 1), 0);
	refused("is no hook page");
	unlink(path);
	refused("No such file");
	ck_assert_int_eq(symlink("elsewhere", path), 0);
	refused("cannot open");
	unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	refused("cannot open");
}
END_TEST

START_TEST(nonsense_written_by_a_hook_is_read_without_harm)
{
	struct drill_hello_seen hello[DRILL_HOOK_SLOTS];
	struct drill_hook_sent sent[4];
	struct drill_hook_wait in[16];
	struct drill_hook_armed a;
	struct drill_hook_seen s;

	ck_assert_int_eq(drill_hooks_arm(&h, &order, &a, &err), 0);
	memset(h.page->slot, 0xff, sizeof(h.page->slot));
	ck_assert_int_eq(drill_hooks_hellos(&h, hello, DRILL_HOOK_SLOTS),
			 DRILL_HOOK_SLOTS);
	ck_assert_uint_lt(strlen(hello[0].library), sizeof(hello[0].library));
	for (int i = 0; i < DRILL_HOOK_SLOTS; i++)
		h.page->slot[i].hello = DRILL_HELLO_HERE;
	ck_assert_int_eq(drill_hooks_in_calls(&h, in, 16), 16);
	ck_assert_str_eq(drill_word_name(in[0].word), "?");
	ck_assert_str_eq(drill_hook_where_name(in[0].where), "?");
	ck_assert_int_eq(drill_hooks_peers(&h, 5, sent, 4), 4);
	h.page->entry[a.entry].by_slot = 4000000000u;
	h.page->entry[a.entry].word = 4000000000u;
	ck_assert_int_eq(drill_hooks_read(&h, &a, &s, &err), 0);
	ck_assert_int_eq(s.by_slot, -1);
	h.page->entry[a.entry].by_slot = 1;
	ck_assert_int_eq(drill_hooks_read(&h, &a, &s, &err), 0);
	ck_assert_int_eq(drill_hooks_disarm(&h, &a, &err), 0);
}
END_TEST

START_TEST(one_word_for_a_call_whatever_library_calls_it)
{
	static const char *const names[] = {
		"allreduce", "MPI_Allreduce", "MPI_Iallreduce", "ncclAllReduce",
		"c10d allreduce", "mpi_allreduce", NULL
	};
	enum drill_word w;

	for (int i = 0; names[i]; i++) {
		ck_assert_int_eq(drill_word_parse(names[i], &w, &err), 0);
		ck_assert_int_eq(w, DRILL_WORD_ALLREDUCE);
	}
	for (int i = 0; drill_word_names[i]; i++) {
		ck_assert_int_eq(drill_word_parse(drill_word_names[i], &w,
						  &err), 0);
		ck_assert_str_eq(drill_word_name(w), drill_word_names[i]);
		ck_assert_int_eq(w, i + 1);
	}
	ck_assert_int_eq(drill_word_parse("none", &w, &err), -EINVAL);
	ck_assert_int_eq(drill_word_parse("", &w, &err), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook page");
	TCase *t = tcase_create("hook page");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, its_bytes_are_those_of_the_golden_file);
	tcase_add_test(t, a_page_is_private_whole_and_made_once);
	tcase_add_test(t, what_is_armed_is_what_is_read_back);
	tcase_add_test(t, an_entry_that_is_anothers_is_left_alone);
	tcase_add_test(t, more_than_all_entries_is_refused);
	tcase_add_test(t, an_order_out_of_range_is_refused);
	tcase_add_test(t, a_page_that_is_none_is_refused_with_the_reason);
	tcase_add_test(t, nonsense_written_by_a_hook_is_read_without_harm);
	tcase_add_test(t, one_word_for_a_call_whatever_library_calls_it);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
