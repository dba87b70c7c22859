/* record.c - one undo record: its values, and its bytes on disk
 * SPDX-License-Identifier: MIT
 */
#include "journal_file.h"

#include "process.h"

#include "harness/core/jsonx.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static const char who[] = "journal";

#define MAGIC "faultdrill.record/1 "
#define HEAD_BYTES (sizeof(MAGIC) - 1 + 16 + 1 + 4 + 1)

static const char *const state_names[] = {
	[DRILL_RECORD_FREE] = "free",	  [DRILL_RECORD_OPEN] = "open",
	[DRILL_RECORD_CLOSED] = "closed", [DRILL_RECORD_DIRTY] = "dirty",
	[DRILL_RECORD_TORN] = "torn",
};

static int64_t number(const json_t *doc, const char *key)
{
	return json_integer_value(json_object_get(doc, key));
}

static enum drill_record_state state_find(const char *name)
{
	int i;

	for (i = DRILL_RECORD_OPEN; i <= DRILL_RECORD_DIRTY; i++)
		if (!strcmp(name, state_names[i]))
			return i;
	return DRILL_RECORD_TORN;
}

int drill_record_encode(const struct drill_record *r,
			char slot[DRILL_SLOT_BYTES], struct drill_err *err)
{
	char *json;
	size_t n;

	json_object_set_new(r->doc, "state", json_string(state_names[r->state]));
	json = json_dumps(r->doc, JSON_COMPACT | JSON_SORT_KEYS);
	if (!json)
		return drill_err_set(err, -ENOMEM, who, "out of memory");
	n = strlen(json);
	if (HEAD_BYTES + n + 1 > DRILL_SLOT_BYTES) {
		free(json);
		return drill_err_set(err, -E2BIG, who,
				     "a record of %zu bytes does not fit", n);
	}
	memset(slot, 0, DRILL_SLOT_BYTES);
	snprintf(slot, DRILL_SLOT_BYTES, MAGIC "%016" PRIx64 " %4zu\n%s\n",
		 (uint64_t)XXH64(json, n, 0), n, json);
	free(json);
	return 0;
}

static bool is_zero(const char *p, size_t n)
{
	return n == 0 || (!p[0] && !memcmp(p, p + 1, n - 1));
}

/* The JSON text in a slot, or NULL unless every byte of the slot is right. */
static const char *checked_json(const char *slot, size_t *ret_n)
{
	const char *json = slot + HEAD_BYTES;
	char head[HEAD_BYTES + 8] = { 0 };
	unsigned short n;

	if (memcmp(slot, MAGIC, sizeof(MAGIC) - 1))
		return NULL;
	n = strtoul(memcpy(head, slot + HEAD_BYTES - 5, 4), NULL, 10);
	if (n < 2 || HEAD_BYTES + n + 1 > DRILL_SLOT_BYTES)
		return NULL;
	snprintf(head, sizeof(head), MAGIC "%016" PRIx64 " %4hu\n",
		 (uint64_t)XXH64(json, n, 0), n);
	if (memcmp(slot, head, HEAD_BYTES) || json[n] != '\n' ||
	    !is_zero(json + n + 1, DRILL_SLOT_BYTES - HEAD_BYTES - n - 1))
		return NULL;
	*ret_n = n;
	return json;
}

void drill_record_decode(const char slot[DRILL_SLOT_BYTES],
			 struct drill_record *ret)
{
	const char *json;
	size_t n;

	memset(ret, 0, sizeof(*ret));
	if (is_zero(slot, DRILL_SLOT_BYTES))
		return;
	ret->state = DRILL_RECORD_TORN;
	json = checked_json(slot, &n);
	if (!json)
		return;
	ret->doc = json_loadb(json, n, 0, NULL);
	if (!json_is_object(ret->doc)) {
		json_decref(ret->doc);
		ret->doc = NULL;
		return;
	}
	ret->state = state_find(drill_json_text(ret->doc, "state"));
	snprintf(ret->mark, sizeof(ret->mark), "%s",
		 drill_json_text(ret->doc, "mark"));
}

void drill_record_free(struct drill_record *r)
{
	int i;

	if (!r)
		return;
	for (i = 0; i < r->n_held; i++)
		close(r->held[i].fd);
	if (r->journal && r->journal->slot[r->slot] == r)
		r->journal->slot[r->slot] = NULL;
	json_decref(r->doc);
	free(r);
}

static int put(struct drill_record *r, const char *part, const char *key,
	       json_t *value, struct drill_err *err)
{
	json_t *o = json_object_get(r->doc, part);

	if (!o) {
		o = json_object();
		json_object_set_new(r->doc, part, o);
	}
	if (!value || json_object_set_new(o, key, value) < 0)
		return drill_err_set(err, -EINVAL, who,
				     "cannot record '%s': not UTF-8", key);
	return 0;
}

int drill_record_put(struct drill_record *r, const char *key, const char *value,
		     struct drill_err *err)
{
	return put(r, "values", key, json_string(value), err);
}

int drill_record_put_int(struct drill_record *r, const char *key, int64_t value,
			 struct drill_err *err)
{
	return put(r, "values", key, json_integer(value), err);
}

int drill_record_original(struct drill_record *r, const char *key,
			  const char *original, const char *ours,
			  struct drill_err *err)
{
	int rc = put(r, "original", key, json_string(original), err);

	return rc < 0 ? rc : put(r, "ours", key, json_string(ours), err);
}

static json_t *get(const struct drill_record *r, const char *part,
		   const char *key)
{
	return json_object_get(json_object_get(r->doc, part), key);
}

const char *drill_record_get(const struct drill_record *r, const char *key)
{
	return json_string_value(get(r, "values", key));
}

int64_t drill_record_get_int(const struct drill_record *r, const char *key,
			     int64_t missing)
{
	json_t *v = get(r, "values", key);

	return json_is_integer(v) ? json_integer_value(v) : missing;
}

const char *drill_record_get_ours(const struct drill_record *r, const char *key)
{
	return json_string_value(get(r, "ours", key));
}

void drill_record_info(const struct drill_record *r,
		       struct drill_record_info *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->kind = drill_json_text(r->doc, "kind");
	ret->fault = drill_json_text(r->doc, "fault");
	ret->target = drill_json_text(r->doc, "target");
	ret->survives = number(r->doc, "survives");
	ret->deadline_boot_ns = number(r->doc, "deadline_ns");
	ret->keep = json_is_true(json_object_get(r->doc, "keep"));
	ret->process.pid = number(r->doc, "pid");
	ret->process.start = number(r->doc, "start");
	ret->process.pidfd = -1;
	snprintf(ret->process.boot_id, sizeof(ret->process.boot_id), "%s",
		 drill_json_text(r->doc, "boot_id"));
}

enum drill_record_state drill_record_state(const struct drill_record *r)
{
	return r->state;
}

const char *drill_record_reason(const struct drill_record *r)
{
	return r->state == DRILL_RECORD_TORN
		       ? "damaged on disk: what it held is unknown"
		       : drill_json_text(r->doc, "reason");
}

const char *drill_record_id(const struct drill_record *r)
{
	return r->id;
}

const char *drill_record_mark(const struct drill_record *r)
{
	return r->mark;
}

bool drill_record_this_boot(const struct drill_record *r)
{
	return !strcmp(drill_json_text(r->doc, "boot_id"), drill_boot_id());
}

int drill_record_fd(const struct drill_record *r, const char *name)
{
	int i;

	for (i = 0; i < r->n_held; i++)
		if (!strcmp(r->held[i].name, name))
			return r->held[i].fd;
	return -1;
}
