/* load.h - scenario files with the command line's wishes applied
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_LOAD_H
#define DRILL_LOAD_H

#include "verbs.h"

#include "harness/engine/plan.h"
#include "harness/lua/face.h"

/* One scenario, on the lab it would run on. */
struct drill_loaded {
	struct drill_script *script; /* borrowed: of the file */
	size_t index;
	struct drill_spec spec;
	struct drill_lab_spec lab;
	const struct drill_lab_ops *ops; /* NULL: no such lab here: why */
	char why[512];
	uint64_t seed;
	enum drill_risk allow;
};

/* Calls @each for every scenario of every file. Errors are printed and counted
 * as usage; the worst outcome is returned. */
enum drill_outcome drill_load_each(struct drill_cli *cli,
				   enum drill_outcome (*each)(
					   struct drill_cli *cli,
					   struct drill_loaded *l, void *arg),
				   void *arg);

#endif
