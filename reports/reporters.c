/* reporters.c - the list of writers, and how a file of theirs is saved
 * SPDX-License-Identifier: MIT
 */
#include "reporter.h"

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

/* What writes, and what of. */
struct content {
	const struct drill_reporter *by; /* NULL: all of them, as JUnit */
	const struct drill_report *reports;
	int n;
};

static int write_content(const struct content *c, FILE *f,
			 struct drill_err *err)
{
	return c->by ? c->by->write(c->reports, f, err)
		     : drill_junit_write(c->reports, c->n, f, err);
}

static int save(const struct content *c, const char *tmp, const char *path,
		struct drill_err *err)
{
	FILE *f = fopen(tmp, "we");
	int r;

	if (!f)
		return drill_err_errno(err, errno, "report", "cannot make '%s'",
				       tmp);
	r = write_content(c, f, err);
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

static int save_as(const struct content *c, const char *dir, const char *file,
		   struct drill_err *err)
{
	char *path = NULL, *tmp = NULL;
	int r = -ENOMEM;

	if (asprintf(&path, "%s/%s", dir, file) < 0)
		path = NULL;
	if (path && asprintf(&tmp, "%s.tmp", path) < 0)
		tmp = NULL;
	if (tmp)
		r = save(c, tmp, path, err);
	else
		drill_err_set(err, r, "report", "no memory");
	free(tmp);
	free(path);
	return r;
}

int drill_report_save(const struct drill_reporter *rep,
		      const struct drill_report *report, struct drill_err *err)
{
	struct content c = { rep, report, 1 };

	if (!rep->file || !report->dir)
		return drill_err_set(err, -EINVAL, "report",
				     "'%s' has no file to save", rep->name);
	return save_as(&c, report->dir, rep->file, err);
}

int drill_junit_save(const struct drill_report *reports, int n, const char *dir,
		     struct drill_err *err)
{
	struct content c = { NULL, reports, n };

	return save_as(&c, dir, drill_report_junit.file, err);
}

int drill_report_save_all(const struct drill_report *report,
			  struct drill_err *err)
{
	const struct drill_reporter *const *w;
	int r = 0;

	for (w = all; *w; w++) {
		struct drill_err why = { 0 };
		int one = (*w)->file ? drill_report_save(*w, report, &why) : 0;

		if (one < 0 && r == 0)
			r = drill_err_set(err, one, "report", "%s: %s",
					  (*w)->file, why.msg);
	}
	return r;
}

bool drill_report_colour(FILE *to)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if ((no && *no) || (term && !strcmp(term, "dumb")))
		return false;
	return isatty(fileno(to));
}
