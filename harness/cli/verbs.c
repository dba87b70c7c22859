/* verbs.c - the table of verbs
 * SPDX-License-Identifier: MIT
 */
#include "verbs.h"

#include <stddef.h>

#define LAB_OPTION                                                             \
	{ "lab", 'l', "FILE|auto", false,                                      \
	  "Run on this lab instead of the scenario's." }
#define PARAM_OPTION                                                           \
	{ "param", 'p', "NAME=VALUE", true, "Set a parameter of the scenario." }
#define SEED_OPTION                                                            \
	{ "seed", 's', "N", false, "Seed of all draws; default: fresh." }
#define STATE_OPTION                                                           \
	{ "state", 0, "DIR", false, "Where the journals lie." }
#define KMSG_OPTION                                                            \
	{ "kmsg", 0, NULL, false,                                              \
	  "Xid lines go to this machine's own kernel log, too, and stay there; "  \
	  "needs --allow disruptive, never in lab netns." }
#define ALLOW_OPTION                                                           \
	{ "allow", 0, "RISK", false,                                           \
	  "Let faults up to this risk run: none, contained, disruptive "       \
	  "(default), destructive." }

static const struct drill_option common[] = {
	{ "help", 'h', NULL, false, "Say how to use the verb." },
	{ "format", 0, "text|json", false, "How to print; default: text." },
	{ 0 },
};

static const struct drill_option none[] = { { 0 } };

static const struct drill_option load_options[] = { LAB_OPTION, PARAM_OPTION,
						    SEED_OPTION, { 0 } };

static const struct drill_option plan_options[] = {
	LAB_OPTION, PARAM_OPTION, SEED_OPTION, ALLOW_OPTION, { 0 } };

static const struct drill_option run_options[] = {
	LAB_OPTION, PARAM_OPTION, SEED_OPTION, STATE_OPTION, ALLOW_OPTION,
	KMSG_OPTION,
	{ "out", 'o', "DIR", false,
	  "Folder of the results; default: runs/." },
	{ "trials", 't', "N", false, "Fault trials instead of the scenario's." },
	{ "ok", 0, "OUTCOMES", false,
	  "Count these as success: skip, inconclusive." },
	{ "subject", 0, "KEY=VALUE", true, "Say more about what is tested." },
	{ "operator", 0, "NAME", false, "Who runs it; default: $USER." },
	{ "reason", 0, "TEXT", false, "Why it is run." },
	{ "quiet", 'q', NULL, false, "No progress, only the verdict." },
	{ 0 },
};

static const struct drill_option heal_options[] = {
	STATE_OPTION,
	{ "list", 0, NULL, false, "Only say what would be reverted." },
	{ "forget", 0, "ID", false,
	  "Drop a record that a person has dealt with." },
	{ 0 },
};

static const struct drill_option lab_options[] = {
	LAB_OPTION, STATE_OPTION,
	{ "hosts", 0, "N", false, "Hosts; default: 4." },
	{ "spares", 0, "N", false, "Spare hosts; default: 0." },
	{ "name", 'n', "NAME", false, "The lab's name; default: lab." },
	{ 0 },
};

static const struct drill_option exec_options[] = {
	STATE_OPTION,
	{ "fault", 'f', "EXPRESSION", true, /* so that a second is noticed */
	  "The fault, as in 'host.stop { at = at.time \"1s\" }'." },
	{ "devices", 0, "N", false,
	  "Software devices, where there is no driver (1)." },
	{ "audit", 0, NULL, false,
	  "Catch a driver that is opened by its path, too." },
	KMSG_OPTION,
	{ "deadline", 0, "TIME", false,
	  "End command and fault after this long; default: never." },
	{ "ring", 0, "FILE", false, NULL }, /* become the command */
	{ 0 },
};

static const struct drill_option mark_options[] = {
	{ "out", 'o', "DIR", false,
	  "The drill with its results there, where several run." },
	{ 0 },
};

static const struct drill_option report_options[] = {
	{ "from-events", 0, "FILE", false,
	  "Compute all numbers from this file of events; there is no verdict "
	  "without a scenario, so they are printed as JSON in any case." },
	{ "html", 0, NULL, false, "Write run.json, junit.xml and report.html again." },
	{ 0 },
};

static const struct drill_verb verbs[] = {
	{ "run", "FILE...", "Run scenarios and say what they showed.", 1, 1000,
	  run_options, drill_verb_run, true },
	{ "plan", "FILE...",
	  "List targets, privileges, price and the way back; change nothing.",
	  1, 1000, plan_options, drill_verb_plan, true },
	{ "check", "FILE...", "Load scenarios and say what is wrong.", 1, 1000,
	  load_options, drill_verb_check, true },
	{ "list", "[injectors|workloads|metrics|events|labs|verbs|scenarios|xids]",
	  "List what there is.", 0, 1, none, drill_verb_list, true },
	{ "help", "[NAME]",
	  "Explain a verb, an injector, a word or a scenario file.", 0, 1,
	  none, drill_verb_help, false },
	{ "probe", "", "Say which faults could work on this machine.", 0, 0,
	  none, drill_verb_probe, true },
	{ "lab", "up|down|status|shell [HOST]",
	  "Bring a lab up by hand, look at it, enter a host.", 1, 2,
	  lab_options, drill_verb_lab, true },
	{ "heal", "", "Revert what dead runs left behind.", 0, 0, heal_options,
	  drill_verb_heal, true },
	{ "report", "[DIR]", "Compute a run's numbers again from its events.",
	  0, 1, report_options, drill_verb_report, true },
	{ "exec", "-- COMMAND...",
	  "Run one command with one fault, without a lab; its status is ours.",
	  0, 0, exec_options, drill_verb_exec, true },
	{ "mark", "NAME",
	  "Tell the running drill that a person has noticed something.", 1, 1,
	  mark_options, drill_verb_mark, false },
	{ 0 },
};

const struct drill_verb *drill_verbs(void)
{
	return verbs;
}

const struct drill_option *drill_common_options(void)
{
	return common;
}
