/* look.c - looks into run.json and prints what it finds, for all writers
 * SPDX-License-Identifier: MIT
 */
#include "look.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *step_into(json_t *from, const char *name, size_t len)
{
	char key[64];

	if (len >= sizeof(key))
		return NULL;
	memcpy(key, name, len);
	key[len] = '\0';
	if (json_is_array(from) && isdigit((unsigned char)key[0]))
		return json_array_get(from, strtoul(key, NULL, 10));
	return json_object_get(from, key);
}

json_t *drill_look(json_t *from, const char *path)
{
	while (from && *path) {
		size_t len = strcspn(path, ".");

		from = step_into(from, path, len);
		path += len + (path[len] == '.');
	}
	return json_is_null(from) ? NULL : from;
}

double drill_value_num(json_t *value)
{
	if (json_is_number(value))
		return json_number_value(value);
	if (json_is_boolean(value))
		return json_is_true(value);
	if (json_is_string(value) && !strcmp(json_string_value(value), "never"))
		return INFINITY;
	return NAN;
}

double drill_look_num(json_t *from, const char *path)
{
	return drill_value_num(drill_look(from, path));
}

const char *drill_look_text(json_t *from, const char *path,
			    const char *otherwise)
{
	const char *s = json_string_value(drill_look(from, path));

	return s && *s ? s : otherwise;
}

bool drill_look_true(json_t *from, const char *path)
{
	return json_is_true(drill_look(from, path));
}

size_t drill_look_size(json_t *from, const char *path)
{
	json_t *v = drill_look(from, path);

	return json_is_object(v) ? json_object_size(v) : json_array_size(v);
}

double drill_instant(json_t *incident, const char *name)
{
	json_t *at = json_object_get(drill_look(incident, "instants"), name);

	return drill_value_num(json_is_object(at) ? json_object_get(at, "t_s")
						  : at);
}

const char *drill_target_text(json_t *incident, char *buf, size_t size)
{
	json_t *target = drill_look(incident, "target"), *one;
	size_t i, n = 0;

	snprintf(buf, size, "%s", json_is_string(target)
		 ? json_string_value(target) : "");
	json_array_foreach (target, i, one)
		if (json_is_string(one) && n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s%s",
				n ? ", " : "", json_string_value(one));
	return buf;
}

int drill_num_digits(double v)
{
	v = fabs(v);
	if (!(v > 0) || v >= 99.95)
		return 0;
	return v >= 9.995 ? 1 : v >= 0.9995 ? 2 : 3;
}

/* Groups of three from the right of the whole part, parted by @gap. */
static void group(char *out, size_t size, const char *digits, const char *gap)
{
	size_t whole = strcspn(digits, "."), n = 0;

	for (size_t i = 0; digits[i] && n + 4 < size; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			n += (size_t)snprintf(out + n, size - n, "%s", gap);
		out[n++] = digits[i];
	}
	out[n] = '\0';
}

static const char *format(char buf[DRILL_NUM], double v, int digits,
			  const char *minus, const char *gap)
{
	char d[DRILL_NUM], g[DRILL_NUM - 4];

	if (isnan(v))
		return strcpy(buf, "");
	if (isinf(v))
		return strcpy(buf, "never");
	if (digits < 0 && fabs(v) > 0 && fabs(v) < 0.0005)
		return strcpy(buf, v > 0 ? "<0.001" : "0.000");
	if (fabs(v) >= 1e15) {
		snprintf(buf, DRILL_NUM, "%.3e", v);
		return buf;
	}
	snprintf(d, sizeof(d), "%.*f", digits < 0 ? drill_num_digits(v) : digits,
		 fabs(v));
	group(g, sizeof(g), d, gap);
	/* What rounds to nothing has no sign. */
	if (strspn(d, "0.") == strlen(d))
		minus = "";
	snprintf(buf, DRILL_NUM, "%s%s", v < 0 ? minus : "", g);
	return buf;
}

const char *drill_num_print(char buf[DRILL_NUM], double v, int digits)
{
	return format(buf, v, digits, "\u2212", "\u2009");
}

const char *drill_num_plain(char buf[DRILL_NUM], double v, int digits)
{
	return format(buf, v, digits, "-", "");
}

static const char *unit_text(const char *unit, bool plain)
{
	if (!strcmp(unit, "rank*s") || !strcmp(unit, "rank_s"))
		return plain ? "rank*s" : "rank\u00b7s";
	return unit;
}

/* "10s" reads better as "10 s", and rank*s is a product. */
static void spaced(const char *text, bool plain, char *buf, size_t size)
{
	size_t sign = *text == '-', n = sign, skip;

	n += strspn(text + n, ".0123456789");
	skip = n + strspn(text + n, " ");
	if (n == sign || (!isalpha((unsigned char)text[skip]) &&
			  text[skip] != '%') || strlen(text + skip) > 8 ||
	    strpbrk(text + skip, "0123456789")) /* a hash, "0c9acc2" */
		snprintf(buf, size, "%s", text);
	else
		snprintf(buf, size, "%.*s%s%s", (int)n, text,
			 plain ? " " : "\u00a0", unit_text(text + skip, plain));
}

bool drill_look_silent(json_t *run)
{
	json_t *t;
	size_t i;

	json_array_foreach (drill_look(run, "trials"), i, t)
		if (!(drill_look_num(t, "work_steps") <= 0) ||
		    !isnan(drill_look_num(t, "step_commit_ratio")))
			return false;
	return i > 0;
}

const char *drill_value_text(json_t *value, const char *unit, bool plain,
			     char *buf, size_t size)
{
	double v = drill_value_num(value);
	char num[DRILL_NUM];

	buf[0] = '\0';
	if (json_is_string(value)) {
		spaced(json_string_value(value), plain, buf, size);
	} else if (json_is_boolean(value)) {
		snprintf(buf, size, "%s", v ? "yes" : "no");
	} else if (json_is_number(value)) {
		(plain ? drill_num_plain : drill_num_print)(num, v,
			json_is_integer(value) ? 0 : -1);
		unit = unit_text(unit, plain);
		snprintf(buf, size, "%s%s%s", num, !*unit ? "" : plain ? " "
			 : "\u00a0", unit);
	} else if (value && !json_is_null(value)) {
		char *s = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

		snprintf(buf, size, "%s", s ? s : "");
		free(s);
	}
	return buf;
}

/* Length of the UTF-8 character at @s and its code point; 1 and U+FFFD when
 * it is none. */
static size_t utf8(const char *s, unsigned int *ret)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = u[0] < 0x80 ? 1 : u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
	unsigned int c = n == 1 ? u[0] : u[0] & (0x7fu >> n);
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	*ret = 0xfffd;
	if (u[0] >= 0x80 && (u[0] < 0xc2 || u[0] > 0xf4))
		return 1;
	for (size_t i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 1;
	*ret = c;
	return n;
}

/* Controls, what turns the reading direction, and non-characters. */
static bool unfit(unsigned int c)
{
	return (c < 0x20 && c != '\t' && c != '\n') ||
	       (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       c == 0xfeff || c == 0xfffd || (c & 0xfffe) == 0xfffe;
}

static const char *entity(unsigned int c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void drill_escape(FILE *to, const char *text)
{
	for (size_t n; text && *text; text += n) {
		unsigned int c;

		n = utf8(text, &c);
		if (unfit(c))
			fputs("\ufffd", to);
		else if (entity(c))
			fputs(entity(c), to);
		else
			fwrite(text, 1, n, to);
	}
}

int drill_print_text(FILE *to, const char *text, int columns)
{
	int done = 0;

	for (size_t n; text && *text; text += n, done++) {
		unsigned int c;

		n = utf8(text, &c);
		if (columns && done == columns - 1 && text[n]) {
			putc('~', to);
			return columns;
		}
		if (c == '\t' || c == '\n')
			putc(' ', to);
		else if (unfit(c))
			putc('?', to);
		else
			fwrite(text, 1, n, to);
	}
	return done;
}
