/* attach.h - a drill on a lab that `lab up` keeps
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_ATTACH_H
#define DRILL_ATTACH_H

#include "lab.h"

/* Is a kept lab of this name up? Then *ret is its lab.json (yours) and the
 * lab's mark is its mark; else NULL. -EINVAL: it is, but of another provider or
 * size than asked for. */
int drill_lab_attach_find(struct drill_lab *lab, json_t **ret,
			  struct drill_err *err);

/* Ends what an earlier drill left running in it and removes its trials. */
int drill_lab_attach_clean(const struct drill_lab *lab, struct drill_err *err);

#endif
