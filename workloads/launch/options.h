/* options.h - what the launcher's command line says
 * SPDX-License-Identifier: MIT
 */
#ifndef LAUNCH_OPTIONS_H
#define LAUNCH_OPTIONS_H

#include "harness/core/param.h"

struct launch_options {
	int64_t ranks, ppn, devices, max_no_progress;
	const char *hosts, *spares, *dir, *store, *log, *preload;
	const char *library_path, *head, *enter, *recovery, *health;
	const char *control_if, *data_if;
	int64_t heartbeat_ns, silence_ns, watchdog_ns, start_ns, host_wait_ns;
	int64_t health_interval_ns;
	char **command;
	json_t *parsed; /* what the strings above are borrowed from */
};

/* -EINVAL with what is wrong; 1 when --help was asked for. */
int launch_options_parse(struct launch_options *o, int argc, char **argv,
			 struct drill_err *err);
void launch_options_done(struct launch_options *o);

/* The table of options, ends with { 0 }. */
const struct drill_param *launch_options_table(void);

#endif
