/* spec.h - one field of a lab, for the readers of YAML and JSON
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_LAB_SPEC_H
#define DRILL_LAB_SPEC_H

#include "lab.h"

#define DRILL_LAB_HOSTS 250 /* with spares: of every provider that there is */

/* What is not said: netns chosen by auto, 4 hosts, no spare, 2 devices. */
void drill_lab_spec_init(struct drill_lab_spec *spec);

/* Sets the field @key from @value (borrowed). The text of an error names the
 * field and, when unknown, the nearest one. */
int drill_lab_spec_set(struct drill_lab_spec *spec, const char *key,
		       json_t *value, struct drill_err *err);

/* Is @name one for a lab ("": none yet)? -EINVAL with the rule. */
int drill_lab_name_check(const char *name, struct drill_err *err);

/* What only the whole can tell: that the domains name hosts of this lab. */
int drill_lab_spec_check(const struct drill_lab_spec *spec,
			 struct drill_err *err);

#endif
