/* attach.c - a drill on a lab that `lab up` keeps
 * SPDX-License-Identifier: MIT
 */
#include "attach.h"

#include "lab_dir.h"
#include "marked.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "lab";

static int number(const json_t *file, const char *key)
{
	return (int)json_integer_value(json_object_get(file, key));
}

static int check(const struct drill_lab *lab, const json_t *file,
		 struct drill_err *err)
{
	const char *provider =
		json_string_value(json_object_get(file, "provider"));

	if (!provider || strcmp(provider, lab->ops->name) != 0)
		return drill_err_set(err, -EINVAL, who,
				     "lab '%s' is up, but a %s lab, not %s",
				     lab->spec.name, provider ? provider : "?",
				     lab->ops->name);
	if (number(file, "n_hosts") == lab->spec.hosts &&
	    number(file, "spares") == lab->spec.spares)
		return 0;
	return drill_err_set(err, -EINVAL, who,
			     "lab '%s' is up with %d hosts and %d spares, not "
			     "%d and %d",
			     lab->spec.name, number(file, "n_hosts"),
			     number(file, "spares"), lab->spec.hosts,
			     lab->spec.spares);
}

int drill_lab_attach_find(struct drill_lab *lab, json_t **ret,
			  struct drill_err *err)
{
	const char *mark;
	json_t *file;
	int rc;

	*ret = NULL;
	if (drill_lab_file_read(lab->dir, &file, NULL) < 0)
		return 0;
	mark = json_string_value(json_object_get(file, "mark"));
	if (!mark || !json_is_true(json_object_get(file, "keep"))) {
		json_decref(file); /* making one of this name then says busy */
		return 0;
	}
	rc = check(lab, file, err);
	if (rc < 0) {
		json_decref(file);
		return rc;
	}
	snprintf(lab->mark, sizeof(lab->mark), "%s", mark);
	*ret = file;
	return 0;
}

static int remove_trials(const char *dir, struct drill_err *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[600];
	int rc = 0;

	while (d && rc == 0 && (e = readdir(d))) {
		if (strncmp(e->d_name, "trial-", 6) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		rc = drill_lab_tree_remove(path, err);
	}
	if (d)
		closedir(d);
	return rc;
}

int drill_lab_attach_clean(const struct drill_lab *lab, struct drill_err *err)
{
	int rc = drill_marked_kill_all(lab->mark, err);

	if (rc == 0)
		rc = remove_trials(lab->dir, err);
	return rc == 0 ? remove_trials(lab->store, err) : rc;
}
