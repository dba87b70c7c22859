/* reporters.c - the list of writers, and how a file of theirs is saved
 * SPDX-License-Identifier: MIT
 */
#include "reporter.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct drill_reporter *const all[] = {
	&drill_report_terminal, &drill_report_json, &drill_report_junit,
	&drill_report_html, NULL,
};

const struct drill_reporter *const *drill_reporters(void)
{
	return all;
}

const struct drill_reporter *drill_reporter_find(const char *name,
						 struct drill_err *err)
{
	const char *names[sizeof(all) / sizeof(*all)] = { NULL };
	const char *near;

	for (int i = 0; all[i]; i++) {
		if (!strcmp(all[i]->name, name))
			return all[i];
		names[i] = all[i]->name;
	}
	near = drill_nearest(name, names);
	drill_err_set(err, -EINVAL, "report", near ?
		      "no format '%s'; did you mean '%s'?" :
		      "no format '%s'%s", name, near ? near : "");
	return NULL;
}

static int save(const struct drill_reporter *rep,
		const struct drill_report *report, const char *tmp,
		const char *path, struct drill_err *err)
{
	FILE *f = fopen(tmp, "we");
	int r;

	if (!f)
		return drill_err_errno(err, errno, "report", "cannot make '%s'",
				       tmp);
	r = rep->write(report, f, err);
	if (fclose(f) && !r)
		r = drill_err_errno(err, errno, "report", "cannot write '%s'",
				    tmp);
	if (!r && rename(tmp, path))
		r = drill_err_errno(err, errno, "report", "cannot name '%s'",
				    path);
	if (r)
		unlink(tmp);
	return r;
}

int drill_report_save(const struct drill_reporter *rep,
		      const struct drill_report *report, struct drill_err *err)
{
	char *path = NULL, *tmp = NULL;
	int r = -ENOMEM;

	if (!rep->file || !report->dir)
		return drill_err_set(err, -EINVAL, "report",
				     "'%s' has no file to save", rep->name);
	if (asprintf(&path, "%s/%s", report->dir, rep->file) < 0)
		path = NULL;
	if (path && asprintf(&tmp, "%s.tmp", path) < 0)
		tmp = NULL;
	if (tmp)
		r = save(rep, report, tmp, path, err);
	free(tmp);
	free(path);
	return r;
}

bool drill_report_colour(FILE *to)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if ((no && *no) || (term && !strcmp(term, "dumb")))
		return false;
	return isatty(fileno(to));
}
