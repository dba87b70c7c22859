/* look.h - looks into run.json and prints what it finds, for all writers
 * SPDX-License-Identifier: MIT
 *
 * Nothing here fails: what is absent or of another type is NULL, NAN or the
 * text that the caller gives. Infinity stands for "never".
 */
#ifndef DRILL_LOOK_H
#define DRILL_LOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* @path: names with dots between, "incidents.0.target" (a number indexes an
 * array). Borrowed from @from; NULL when absent or JSON null. */
json_t *drill_look(json_t *from, const char *path);
double drill_look_num(json_t *from, const char *path);
const char *drill_look_text(json_t *from, const char *path,
			    const char *otherwise);
bool drill_look_true(json_t *from, const char *path);
size_t drill_look_size(json_t *from, const char *path);

/* A number, a boolean, "never": NAN when it is none of these. */
double drill_value_num(json_t *value);

/* A run whose job tells no steps: then nothing is known of its progress, and its
 * time cannot be split. */
bool drill_look_silent(json_t *run);

/* An instant of an incident, on the drill's clock: NAN when it never came. */
double drill_instant(json_t *incident, const char *name);

/* What an incident was aimed at: "rank 3", "rank 3, rank 5"; "" unknown.
 * Returns @buf. */
const char *drill_target_text(json_t *incident, char *buf, size_t size);

/* The one function that formats a number: @digits after the point, thousands
 * in groups, "never" for infinity, no "-0". In print, groups are parted by a
 * thin space and the minus is a true one; plain is ASCII without groups.
 * -1 digits: three significant ones, "<0.001" for less. Returns @buf. */
#define DRILL_NUM 48
const char *drill_num_print(char buf[DRILL_NUM], double v, int digits);
const char *drill_num_plain(char buf[DRILL_NUM], double v, int digits);

/* Digits that show @v with three significant ones, at most 3, at least 0. */
int drill_num_digits(double v);

/* A limit or value with unit as people write it: "5 s", "240 rank·s". @plain
 * writes rank*s. Strings are shown as they are. Returns @buf. */
const char *drill_value_text(json_t *value, const char *unit, bool plain,
			     char *buf, size_t size);

/* Text from a scenario, a host or a log: the five characters of markup become
 * entities; controls, broken UTF-8 and what turns the reading direction become
 * U+FFFD. Fit for HTML and XML text and for attributes in double quotes. */
void drill_escape(FILE *to, const char *text);

/* The same for a terminal: no markup, but no escape sequences either; at most
 * @columns characters, the last one "~" when cut. 0: no limit. Returns the
 * number of characters written. */
int drill_print_text(FILE *to, const char *text, int columns);

#endif
