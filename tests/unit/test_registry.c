/* test_registry.c - every injector is in the table, whole and well spelt
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "injectors/injector.h"

#include <errno.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

static const struct drill_injector *at(int i)
{
	return drill_injectors()[i];
}

static int count(void)
{
	int n = 0;

	while (drill_injectors()[n])
		n++;
	return n;
}

START_TEST(names_are_in_order_and_unique)
{
	int i;

	for (i = 1; i < count(); i++)
		ck_assert_str_lt(at(i - 1)->name, at(i)->name);
}
END_TEST

START_TEST(every_injector_is_whole)
{
	const struct drill_injector *in = at(_i);
	size_t n = strlen(in->doc);

	ck_assert_ptr_nonnull(strchr(in->name, '.'));
	ck_assert_msg(n > 10 && in->doc[n - 1] == '.', "%s: %s", in->name,
		      in->doc);
	ck_assert_msg(in->probe && in->apply && in->verify && in->revert,
		      "%s lacks a hook", in->name);
	ck_assert_ptr_nonnull(in->params);
	ck_assert_ptr_nonnull(in->needs);
	ck_assert_ptr_nonnull(in->stands_for);
	ck_assert_uint_ne(in->targets, 0);
	ck_assert_str_ne(drill_class_name(in->class), "?");
	ck_assert_str_ne(drill_fidelity_name(in->fidelity), "?");
	ck_assert_str_ne(drill_survives_name(in->survives), "?");
	ck_assert_str_ne(drill_risk_name(in->risk), "?");
}
END_TEST

/* "host.kill" is injectors/host/host_kill.c. */
START_TEST(every_injector_has_its_file)
{
	char path[256], file[64], *p;

	snprintf(file, sizeof(file), "%s", at(_i)->name);
	for (p = file; (p = strchr(p, '.'));)
		*p = '_';
	snprintf(path, sizeof(path), "injectors/%.*s/%s.c",
		 (int)strcspn(at(_i)->name, "."), at(_i)->name, file);
	ck_assert_msg(access(path, R_OK) == 0, "%s is missing", path);
}
END_TEST

START_TEST(every_file_with_an_injector_is_in_the_table)
{
	char text[65536], name[64], *p;
	glob_t g;
	size_t i, n;
	FILE *f;

	ck_assert_int_eq(glob("injectors/*/*.c", 0, NULL, &g), 0);
	for (i = 0; i < g.gl_pathc; i++) {
		f = fopen(g.gl_pathv[i], "r");
		n = fread(text, 1, sizeof(text) - 1, f);
		text[n] = 0;
		fclose(f);
		p = strstr(text, "\nconst struct drill_injector drill_");
		if (!p)
			continue;
		ck_assert_int_eq(sscanf(p, " const struct drill_injector "
					   "drill_%63[a-z0-9_]",
					name), 1);
		*strchr(name, '_') = '.';
		ck_assert_msg(drill_injector_find(name, NULL) != NULL,
			      "%s is not in list.h", name);
	}
	globfree(&g);
}
END_TEST

START_TEST(every_default_parses_and_lies_in_its_bounds)
{
	const struct drill_injector *in = at(_i);
	const struct drill_param *p;
	char args[4096] = { 0 };
	struct drill_err err = { 0 };
	json_t *none = json_object();
	size_t n;

	ck_assert_uint_lt(in->args_size, sizeof(args));
	for (p = in->params; p->name; p++) {
		n = strlen(p->doc);
		ck_assert_msg(p->doc[n - 1] == '.', "%s: %s", in->name, p->doc);
		if (!p->def) /* required: an example cannot be made up */
			goto out;
	}
	ck_assert_msg(drill_params_parse(in->params, in->name, none, args,
					 &err) == 0,
		      "%s", err.msg);
out:
	json_decref(none);
}
END_TEST

START_TEST(an_unknown_name_brings_the_nearest)
{
	struct drill_err err = { 0 };

	ck_assert_ptr_null(drill_injector_find("host.kil", &err));
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "host.kill"));
}
END_TEST

START_TEST(words_of_the_enums_are_those_of_the_design)
{
	ck_assert_str_eq(drill_class_name(DRILL_CLASS_FALSE_ALARM),
			 "false_alarm");
	ck_assert_str_eq(drill_fidelity_name(DRILL_FIDELITY_HYPERVISOR),
			 "hypervisor");
	ck_assert_str_eq(drill_survives_name(DRILL_SURVIVES_EXTERNAL),
			 "external");
	ck_assert_str_eq(drill_risk_name(DRILL_RISK_DESTRUCTIVE),
			 "destructive");
	ck_assert_str_eq(drill_target_kind_name(DRILL_TARGET_RANK), "rank");
	ck_assert_str_eq(drill_target_kind_name(DRILL_TARGET_JOB), "job");
	ck_assert_str_eq(drill_risk_name(99), "?");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("registry");
	TCase *t = tcase_create("registry");

	tcase_add_test(t, names_are_in_order_and_unique);
	tcase_add_loop_test(t, every_injector_is_whole, 0, count());
	tcase_add_loop_test(t, every_injector_has_its_file, 0, count());
	tcase_add_test(t, every_file_with_an_injector_is_in_the_table);
	tcase_add_loop_test(t, every_default_parses_and_lies_in_its_bounds, 0,
			    count());
	tcase_add_test(t, an_unknown_name_brings_the_nearest);
	tcase_add_test(t, words_of_the_enums_are_those_of_the_design);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
