/* event.c - events checked against the table, written and read
 * SPDX-License-Identifier: MIT
 */
#include "event.h"

#include "jsonx.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "event";

/* One "name:type" of the table. */
struct field {
	const char *name, *type;
	size_t name_len, type_len;
};

static const char *next_field(const char *p, struct field *ret)
{
	p += strspn(p, " ");
	if (!*p)
		return NULL;
	ret->name = p;
	ret->name_len = strcspn(p, ":");
	ret->type = p + ret->name_len + 1;
	ret->type_len = strcspn(ret->type, " ");
	return ret->type + ret->type_len;
}

static bool string_or_list(const json_t *v)
{
	size_t i;

	if (json_is_string(v))
		return true;
	for (i = 0; i < json_array_size(v); i++)
		if (!json_is_string(json_array_get(v, i)))
			return false;
	return json_is_array(v);
}

/* A loss may be what JSON has no number for. */
static bool is_float(const json_t *v)
{
	const char *s = json_string_value(v);

	if (json_is_number(v))
		return true;
	return s && (!strcmp(s, "nan") || !strcmp(s, "inf") ||
		     !strcmp(s, "-inf"));
}

static bool one_of(const struct field *f, const json_t *v)
{
	const char *s = json_string_value(v), *p = f->type;
	const char *end = f->type + f->type_len;
	size_t n, len = s ? strlen(s) : 0;

	for (; s && p < end; p += n + 1) {
		n = strcspn(p, "| ");
		if (n == len && memcmp(p, s, n) == 0)
			return true;
	}
	return false;
}

static bool fits(const struct field *f, const json_t *v)
{
	if (f->type_len > 1)
		return one_of(f, v);
	switch (*f->type) {
	case 'i':
		return json_is_integer(v);
	case 'n':
		return json_is_number(v);
	case 'f':
		return is_float(v);
	case 's':
		return json_is_string(v);
	case 'b':
		return json_is_boolean(v);
	case 't':
		return json_is_boolean(v) || json_is_null(v);
	case 'l':
		return string_or_list(v);
	case 'o':
		return json_is_object(v);
	case 'a':
		return json_is_array(v);
	}
	return true;
}

static const char *type_text(const struct field *f)
{
	static const struct {
		char type;
		const char *text;
	} texts[] = {
		{'i', "an integer"}, {'n', "a number"},
		{'f', "a number"},   {'s', "a string"},
		{'b', "a boolean"},  {'t', "a boolean or null"},
		{'o', "an object"},  {'a', "a list"},
		{'l', "a string or a list of strings"},
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (f->type_len == 1 && texts[i].type == *f->type)
			return texts[i].text;
	return "one of ";
}

static int check_field(const struct field *f, const json_t *v, const char *kind,
		       struct drill_err *err)
{
	const char *s = json_string_value(v);

	if (fits(f, v))
		return 0;
	return drill_err_set(err, -EINVAL, who,
			     "'%.*s' of '%s' must be %s%.*s, not %s%.40s%s",
			     (int)f->name_len, f->name, kind, type_text(f),
			     f->type_len > 1 ? (int)f->type_len : 0, f->type,
			     s ? "'" : drill_json_type(v), s ? s : "",
			     s ? "'" : "");
}

static json_t *get(json_t *event, const struct field *f)
{
	return json_object_getn(event, f->name, f->name_len);
}

static int check_fields(const char *spec, bool required, json_t *event,
			const char *kind, struct drill_err *err)
{
	struct field f;
	json_t *v;
	int rc = 0;

	while (rc == 0 && (spec = next_field(spec, &f))) {
		v = get(event, &f);
		if (v)
			rc = check_field(&f, v, kind, err);
		else if (required)
			rc = drill_err_set(err, -EINVAL, who,
					   "'%s' lacks '%.*s'", kind,
					   (int)f.name_len, f.name);
	}
	return rc;
}

static const struct drill_event_kind *find_kind(const char *name)
{
	const struct drill_event_kind *k;

	for (k = drill_event_kinds(); k->name; k++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

static int unknown_kind(const char *name, struct drill_err *err)
{
	const char *names[64] = {NULL}, *near;
	int i;

	for (i = 0; i < 63 && drill_event_kinds()[i].name; i++)
		names[i] = drill_event_kinds()[i].name;
	near = drill_nearest(name, names);
	return drill_err_set(err, -EINVAL, who, "no kind '%.40s'%s%s%s", name,
			     near ? ", did you mean '" : "", near ? near : "",
			     near ? "'?" : "");
}

int drill_event_check(json_t *event, struct drill_err *err)
{
	const char *name = json_string_value(json_object_get(event, "kind"));
	const struct drill_event_kind *k;
	int rc;

	if (!name)
		return drill_err_set(err, -EINVAL, who,
				     "an event without a kind");
	k = find_kind(name);
	if (!k)
		return unknown_kind(name, err);
	rc = check_fields("t_s:n", true, event, name, err);
	if (rc == 0)
		rc = check_fields(k->needs, true, event, name, err);
	if (rc == 0)
		rc = check_fields(k->may, false, event, name, err);
	if (rc == 0)
		rc = check_fields(drill_event_common(), false, event, name,
				  err);
	return rc;
}

int drill_event_log_open(struct drill_event_log *log, const char *path,
			 struct drill_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
		      0644);

	log->lines = 0;
	log->f = NULL;
	if (fd < 0)
		return drill_err_errno(err, errno, who, "cannot create '%s'",
				       path);
	log->f = fdopen(fd, "a");
	if (!log->f) {
		close(fd);
		return drill_err_errno(err, ENOMEM, who, "cannot write '%s'",
				       path);
	}
	return 0;
}

int drill_event_log_write(struct drill_event_log *log, json_t *event,
			  struct drill_err *err)
{
	int rc = drill_event_check(event, err);

	if (rc < 0)
		return rc;
	if (json_dumpf(event, log->f, JSON_COMPACT | JSON_REAL_PRECISION(15)) < 0 ||
	    putc('\n', log->f) == EOF || fflush(log->f) == EOF)
		return drill_err_errno(err, errno ? errno : EIO, who,
				       "cannot write event %lu",
				       log->lines + 1);
	log->lines++;
	return 0;
}

int drill_event_log_close(struct drill_event_log *log, struct drill_err *err)
{
	FILE *f = log->f;

	log->f = NULL;
	if (f && fclose(f) == EOF)
		return drill_err_errno(err, errno, who,
				       "cannot close the event log");
	return 0;
}

/* Takes one line. 1: it is the last one, torn. */
static int take_line(json_t *events, const char *line, size_t n,
		     struct drill_err *err)
{
	bool whole = n && line[n - 1] == '\n';
	struct drill_err inner = {0};
	json_t *event;
	int rc;

	event = drill_json_object(line, n, who, whole ? err : &inner);
	if (!event && inner.code == -EPROTO)
		return 1;
	if (!event)
		return drill_err_set(err, -EPROTO, who, "unreadable line");
	rc = drill_event_check(event, err);
	if (json_array_append_new(events, event) < 0)
		return drill_err_set(err, -ENOMEM, who, "no memory");
	return rc;
}

static int read_lines(FILE *f, const char *path, json_t *events, bool *ret_torn,
		      struct drill_err *err)
{
	struct drill_err inner = {0};
	unsigned long number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int rc = 0;

	while (rc == 0 && (n = getline(&line, &size, f)) > 0) {
		number++;
		rc = take_line(events, line, (size_t)n, &inner);
	}
	free(line);
	*ret_torn = rc == 1;
	if (rc < 0)
		return drill_err_set(err, rc, who, "%s:%lu: %s", path, number,
				     inner.msg);
	if (ferror(f))
		return drill_err_errno(err, EIO, who, "cannot read '%s'", path);
	return 0;
}

int drill_events_read(const char *path, json_t **ret, bool *ret_torn,
		      struct drill_err *err)
{
	FILE *f = fopen(path, "re");
	int rc;

	*ret = NULL;
	if (!f)
		return drill_err_errno(err, errno, who, "cannot open '%s'",
				       path);
	*ret = json_array();
	rc = *ret ? read_lines(f, path, *ret, ret_torn, err)
		  : drill_err_set(err, -ENOMEM, who, "no memory");
	fclose(f);
	if (rc < 0) {
		json_decref(*ret);
		*ret = NULL;
	}
	return rc;
}
