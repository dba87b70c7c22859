/* exec_tell.h - what exec says at its end of the fault and of the hooks
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_EXEC_TELL_H
#define DRILL_EXEC_TELL_H

#include <jansson.h>

/* Events of that kind. */
int drill_exec_count(json_t *events, const char *kind);

/* [{"kind": "fault.effective", "evidence": {..}}, ..]; yours. */
json_t *drill_exec_evidence(json_t *events);

/* Each process that had the CUDA proxy, with its counters; yours. */
json_t *drill_exec_proxies(json_t *events);

/* Both for people, a line each, on stderr. */
void drill_exec_tell(json_t *events);

#endif
