/* verbs.h - what `faultdrill` can be told: one row a verb, one row an option
 * SPDX-License-Identifier: MIT
 *
 * Help, shell completion and the man page read these rows; nothing about a verb
 * stands anywhere else.
 */
#ifndef DRILL_VERBS_H
#define DRILL_VERBS_H

#include "harness/core/err.h"
#include "harness/core/outcome.h"

#include <jansson.h>
#include <stdbool.h>

struct drill_option {
	const char *name; /* "seed", typed --seed */
	char letter;	  /* 's', typed -s; 0: none */
	const char *arg;  /* "N"; NULL: a switch */
	bool many;	  /* may come again: an array */
	const char *doc;  /* one sentence with a full stop; NULL: for our own
			     use, help does not tell of it */
};

struct drill_cli {
	const struct drill_verb *verb;
	json_t *opts; /* {"seed": "7", "param": ["steps=300"], "plain": true} */
	char **args;  /* what is no option; borrowed from argv */
	int n_args;
	char **rest; /* behind "--"; borrowed; NULL without */
	int n_rest;
};

struct drill_verb {
	const char *name;
	const char *args; /* "FILE..." */
	const char *doc;  /* one sentence with a full stop */
	int min_args, max_args;
	const struct drill_option *options; /* ends with a NULL name */
	enum drill_outcome (*run)(struct drill_cli *cli);
	bool json; /* takes --format json */
};

/* Ends with a NULL name. Borrowed, lives for ever. */
const struct drill_verb *drill_verbs(void);
const struct drill_option *drill_common_options(void);

/* Reads the command line. -EINVAL with a text; the rest is yours to free with
 * drill_cli_done, also then. */
int drill_cli_read(int argc, char **argv, struct drill_cli *ret,
		   struct drill_err *err);
void drill_cli_done(struct drill_cli *cli);

const char *drill_opt(const struct drill_cli *cli, const char *name);
bool drill_opt_set(const struct drill_cli *cli, const char *name);
bool drill_cli_json(const struct drill_cli *cli);

/* Prints "faultdrill: ..." to stderr, with the outcome that is returned. */
enum drill_outcome drill_cli_fail(const struct drill_err *err);
enum drill_outcome drill_cli_usage(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
/* Prints the list of that name; false when there is none. */
bool drill_list_print(const char *name);
/* Prints @v as JSON to stdout; takes it over. */
void drill_cli_print(json_t *v);
/* --ok skip,inconclusive turns those into pass. */
enum drill_outcome drill_cli_ok(const struct drill_cli *cli,
				enum drill_outcome o);

enum drill_outcome drill_verb_check(struct drill_cli *cli);
enum drill_outcome drill_verb_exec(struct drill_cli *cli);
enum drill_outcome drill_verb_heal(struct drill_cli *cli);
enum drill_outcome drill_verb_help(struct drill_cli *cli);
enum drill_outcome drill_verb_lab(struct drill_cli *cli);
enum drill_outcome drill_verb_list(struct drill_cli *cli);
enum drill_outcome drill_verb_mark(struct drill_cli *cli);
enum drill_outcome drill_verb_plan(struct drill_cli *cli);
enum drill_outcome drill_verb_probe(struct drill_cli *cli);
enum drill_outcome drill_verb_report(struct drill_cli *cli);
enum drill_outcome drill_verb_run(struct drill_cli *cli);

#endif
