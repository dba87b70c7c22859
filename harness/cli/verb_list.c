/* verb_list.c - faultdrill list: what there is, from the tables themselves
 * SPDX-License-Identifier: MIT
 */
#include "bin.h"
#include "load.h"

#include "harness/core/event.h"
#include "injectors/device/xid.h"
#include "injectors/injector.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void row(json_t *out, const char *name, const char *more,
		const char *doc)
{
	json_array_append_new(out, json_pack("{s:s s:s s:s}", "name", name,
					     "kind", more ? more : "", "doc",
					     doc ? doc : ""));
}

static void list_injectors(json_t *out)
{
	const struct drill_injector *const *p;
	char doc[400];

	for (p = drill_injectors(); *p; p++) {
		snprintf(doc, sizeof(doc), "%s%s%s", (*p)->doc,
			 (*p)->missing ? " Cannot run: " : "",
			 (*p)->missing ? (*p)->missing : "");
		row(out, (*p)->name, drill_class_name((*p)->class), doc);
	}
}

/* What each does to whom; of the CUDA errors the usual one. */
static void list_xids(json_t *out)
{
	static const char *const whom[] = {
		[DRILL_XID_CONTEXT] = "context", [DRILL_XID_DEVICE] = "device",
		[DRILL_XID_LINK] = "both ends of a link",
		[DRILL_XID_LINK_DOWN] = "access to a peer",
		[DRILL_XID_ABSENT] = "next start", [DRILL_XID_NONE] = "nobody" };
	const struct drill_xid *x;
	char code[16], kind[64];

	for (x = drill_xids(); x->code; x++) {
		snprintf(code, sizeof(code), "%d", x->code);
		snprintf(kind, sizeof(kind), "%s", whom[x->scope]);
		if (x->error[0])
			snprintf(kind, sizeof(kind), "%s, %d", whom[x->scope],
				 x->error[0]);
		row(out, code, kind, x->meaning);
	}
}

static void list_workloads(json_t *out)
{
	const struct drill_workload_kind *k;

	for (k = drill_workload_kinds(); k->name; k++)
		row(out, k->name, "", k->doc);
}

static void list_metrics(json_t *out)
{
	const struct drill_metric *m;
	char name[64];

	for (m = drill_metrics(); m->name; m++) {
		snprintf(name, sizeof(name), "%s.%s",
			 m->of == DRILL_OF_FAULT ? "FAULT" : "JOB", m->name);
		row(out, name, drill_quantity_unit(m->quantity), m->doc);
	}
}

static void list_events(json_t *out)
{
	const struct drill_event_kind *k;

	for (k = drill_event_kinds(); k->name; k++)
		row(out, k->name, "", k->doc);
}

static void list_labs(json_t *out)
{
	row(out, "auto", "", "The first of these that can come up here.");
	row(out, drill_lab_netns.name, "", drill_lab_netns.doc);
	row(out, drill_lab_local.name, "", drill_lab_local.doc);
}

static void list_verbs(json_t *out)
{
	const struct drill_verb *v;

	for (v = drill_verbs(); v->name; v++)
		row(out, v->name, v->args, v->doc);
}

/* The first sentence of a scenario file's "---" lines. */
static void list_file(json_t *out, const char *path)
{
	char line[256], doc[512] = "", *end;
	FILE *f = fopen(path, "re");
	size_t n = 0;

	while (f && !strstr(doc, ". ") && fgets(line, sizeof(line), f) &&
	       strncmp(line, "--- ", 4) == 0 && n < sizeof(doc)) {
		line[strcspn(line, "\n")] = '\0';
		n += (size_t)snprintf(doc + n, sizeof(doc) - n, "%s%s",
				      n ? " " : "", line + 4);
	}
	end = strstr(doc, ". ");
	if (end)
		end[1] = '\0';
	if (doc[0])
		row(out, path, "", doc);
	if (f)
		fclose(f);
}

static void list_folder(json_t *out, const char *path, int depth)
{
	struct dirent **names;
	char sub[512];
	int n = scandir(path, &names, NULL, alphasort), i;

	for (i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		size_t len = strlen(name);

		snprintf(sub, sizeof(sub), "%s/%s", path, name);
		if (len > 4 && strcmp(name + len - 4, ".lua") == 0)
			list_file(out, sub);
		else if (name[0] != '.' && strcmp(name, "lib") && depth)
			list_folder(out, sub, depth - 1);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

/* Those of the folder we are in, else those that came with the program. */
static void list_scenarios(json_t *out)
{
	static const char *const beside[] = { "../scenarios",
					      "../../share/faultdrill/scenarios" };
	char bin[1024], path[1100], real[PATH_MAX];
	size_t i;

	list_folder(out, "scenarios", 2);
	drill_bin_dir(bin, sizeof(bin));
	for (i = 0; i < 2 && json_array_size(out) == 0; i++) {
		snprintf(path, sizeof(path), "%s/%s", bin, beside[i]);
		if (realpath(path, real))
			list_folder(out, real, 2);
	}
}

static const struct {
	const char *name;
	void (*fill)(json_t *out);
} lists[] = {
	{ "injectors", list_injectors }, { "workloads", list_workloads },
	{ "metrics", list_metrics },	 { "events", list_events },
	{ "labs", list_labs },		 { "verbs", list_verbs },
	{ "scenarios", list_scenarios }, { "xids", list_xids },
};
#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

static void print_rows(json_t *rows)
{
	size_t i, wide = 0, wide2 = 0, n;
	json_t *r;

	json_array_foreach(rows, i, r) {
		n = json_string_length(json_object_get(r, "name"));
		wide = n > wide ? n : wide;
		n = json_string_length(json_object_get(r, "kind"));
		wide2 = n > wide2 ? n : wide2;
	}
	json_array_foreach(rows, i, r)
		printf("  %-*s  %-*s%s%s\n", (int)wide,
		       json_string_value(json_object_get(r, "name")),
		       (int)wide2,
		       json_string_value(json_object_get(r, "kind")),
		       wide2 ? "  " : "",
		       json_string_value(json_object_get(r, "doc")));
}

bool drill_list_print(const char *name)
{
	json_t *rows;
	size_t i;

	for (i = 0; i < N_LISTS; i++) {
		if (strcmp(name, lists[i].name) != 0)
			continue;
		rows = json_array();
		lists[i].fill(rows);
		print_rows(rows);
		json_decref(rows);
		return true;
	}
	return false;
}

enum drill_outcome drill_verb_list(struct drill_cli *cli)
{
	const char *want = cli->n_args ? cli->args[0] : NULL;
	json_t *all = json_object(), *rows;
	size_t i;

	for (i = 0; i < N_LISTS; i++) {
		if (want && strcmp(want, lists[i].name) != 0)
			continue;
		rows = json_array();
		lists[i].fill(rows);
		json_object_set_new(all, lists[i].name, rows);
		if (drill_cli_json(cli))
			continue;
		if (!want)
			printf("%s\n", lists[i].name);
		print_rows(rows);
	}
	if (json_object_size(all) == 0) {
		json_decref(all);
		return drill_cli_usage("list: no '%s': injectors, workloads, "
				       "metrics, events, labs, verbs, scenarios, xids",
				       want);
	}
	if (drill_cli_json(cli))
		drill_cli_print(all);
	else
		json_decref(all);
	return DRILL_PASS;
}
