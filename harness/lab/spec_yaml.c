/* spec_yaml.c - a lab read from a YAML file, errors with file and line
 * SPDX-License-Identifier: MIT
 *
 * The part of YAML that says no more than JSON can: one document of mappings,
 * lists and plain values. Anchors are not followed, so a small file stays
 * small.
 */
#include "spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static const char who[] = "lab";

#define MAX_BYTES (1 << 20)
#define MAX_DEPTH 16

struct reading {
	yaml_parser_t parser;
	yaml_document_t doc;
	const char *path;
	json_t *seen; /* the fields so far */
	struct drill_err *err;
};

static int at(const struct reading *r, const yaml_node_t *node,
	      const char *text)
{
	return drill_err_set(r->err, -EINVAL, who, "%s:%zu: %s", r->path,
			     node->start_mark.line + 1, text);
}

static int no_memory(const struct reading *r)
{
	return drill_err_set(r->err, -ENOMEM, who, "%s: no memory", r->path);
}

/* What a plain word means; in quotes it is always a string. */
static json_t *plain(const char *s)
{
	char *end;
	long long i;
	double d;

	if (!strcmp(s, "") || !strcmp(s, "~") || !strcmp(s, "null"))
		return json_null();
	if (!strcmp(s, "true") || !strcmp(s, "false"))
		return json_boolean(*s == 't');
	errno = 0;
	i = strtoll(s, &end, 10);
	if (!*end && !errno)
		return json_integer(i);
	if (s[strspn(s, "+-.0123456789eE")])
		return json_string(s);
	d = strtod(s, &end);
	return *end ? json_string(s) : json_real(d);
}

static json_t *convert(struct reading *r, yaml_node_t *node, int depth);

static json_t *convert_scalar(struct reading *r, const yaml_node_t *node)
{
	const char *s = (const char *)node->data.scalar.value;
	json_t *v;

	if (strlen(s) != node->data.scalar.length) {
		at(r, node, "a zero byte");
		return NULL;
	}
	v = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain(s)
							       : json_string(s);
	if (!v)
		at(r, node, "no value that can be kept");
	return v;
}

static json_t *convert_list(struct reading *r, const yaml_node_t *node,
			    int depth)
{
	const yaml_node_item_t *i = node->data.sequence.items.start;
	json_t *list = json_array(), *v;

	for (; i < node->data.sequence.items.top; i++) {
		v = convert(r, yaml_document_get_node(&r->doc, *i), depth + 1);
		if (!v || json_array_append_new(list, v) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static const char *key_of(struct reading *r, const yaml_node_pair_t *pair,
			  const yaml_node_t **ret_node)
{
	*ret_node = yaml_document_get_node(&r->doc, pair->key);
	if ((*ret_node)->type == YAML_SCALAR_NODE)
		return (const char *)(*ret_node)->data.scalar.value;
	at(r, *ret_node, "a name must be a word");
	return NULL;
}

static json_t *convert_mapping(struct reading *r, const yaml_node_t *node,
			       int depth)
{
	const yaml_node_pair_t *p = node->data.mapping.pairs.start;
	json_t *obj = json_object(), *v = obj;
	const yaml_node_t *where;
	const char *key;

	for (; v && p < node->data.mapping.pairs.top; p++) {
		v = NULL;
		key = key_of(r, p, &where);
		if (key && json_object_get(obj, key))
			at(r, where, "this name is there twice");
		else if (key)
			v = convert(r, yaml_document_get_node(&r->doc,
							      p->value),
				    depth + 1);
		if (v && json_object_set_new(obj, key, v) < 0)
			v = NULL;
	}
	if (v)
		return obj;
	json_decref(obj);
	return NULL;
}

static json_t *convert(struct reading *r, yaml_node_t *node, int depth)
{
	if (depth > MAX_DEPTH) {
		at(r, node, "nested too deep");
		return NULL;
	}
	switch (node->type) {
	case YAML_SCALAR_NODE:
		return convert_scalar(r, node);
	case YAML_SEQUENCE_NODE:
		return convert_list(r, node, depth);
	case YAML_MAPPING_NODE:
		return convert_mapping(r, node, depth);
	default:
		at(r, node, "nothing that can be read");
		return NULL;
	}
}

static int set_field(struct reading *r, const yaml_node_pair_t *pair,
		     struct drill_lab_spec *spec)
{
	struct drill_err inner = {0};
	const yaml_node_t *where;
	const char *key = key_of(r, pair, &where);
	json_t *value;
	int rc;

	if (!key)
		return -EINVAL;
	if (json_object_get(r->seen, key))
		return at(r, where, "this name is there twice");
	if (json_object_set_new(r->seen, key, json_true()) < 0)
		return no_memory(r);
	value = convert(r, yaml_document_get_node(&r->doc, pair->value), 1);
	if (!value) /* said why, unless there was no memory */
		return r->err && r->err->code ? r->err->code : no_memory(r);
	rc = drill_lab_spec_set(spec, key, value, &inner);
	json_decref(value);
	return rc < 0 ? at(r, where, inner.msg) : 0;
}

static int read_document(struct reading *r, struct drill_lab_spec *spec)
{
	yaml_node_t *root = yaml_document_get_root_node(&r->doc);
	struct drill_err inner = {0};
	yaml_node_pair_t *p;
	int rc = 0;

	if (!root || root->type != YAML_MAPPING_NODE)
		return drill_err_set(r->err, -EINVAL, who,
				     "%s:1: no lab in it: write \"hosts: 4\"",
				     r->path);
	r->seen = json_object();
	for (p = root->data.mapping.pairs.start;
	     p < root->data.mapping.pairs.top && rc == 0; p++)
		rc = set_field(r, p, spec);
	json_decref(r->seen);
	if (rc == 0 && drill_lab_spec_check(spec, &inner) < 0)
		rc = at(r, root, inner.msg);
	return rc;
}

static int load(struct reading *r, struct drill_lab_spec *spec)
{
	int rc;

	if (!yaml_parser_load(&r->parser, &r->doc))
		return drill_err_set(r->err, -EINVAL, who, "%s:%zu: %s",
				     r->path, r->parser.problem_mark.line + 1,
				     r->parser.problem ? r->parser.problem
						       : "unreadable");
	rc = read_document(r, spec);
	yaml_document_delete(&r->doc);
	return rc;
}

/* An alias would be a second way to the same node: a way to make a short file
 * mean a huge one. A second document would be read by nobody. */
static const char *refused(const yaml_event_t *e, int *documents)
{
	if (e->type == YAML_ALIAS_EVENT)
		return "aliases are not followed";
	if (e->type == YAML_DOCUMENT_START_EVENT && (*documents)++)
		return "a second document: one lab a file";
	return NULL;
}

/* Looked for in the events, before any document is built. */
static int refuse_events(const char *text, size_t n, struct reading *r)
{
	int rc = 0, documents = 0;
	const char *why;
	yaml_parser_t p;
	yaml_event_t e;
	bool done = false;

	if (!yaml_parser_initialize(&p))
		return drill_err_set(r->err, -ENOMEM, who, "no memory");
	yaml_parser_set_input_string(&p, (const unsigned char *)text, n);
	while (!done && yaml_parser_parse(&p, &e)) {
		why = refused(&e, &documents);
		if (why)
			rc = drill_err_set(r->err, -EINVAL, who, "%s:%zu: %s",
					   r->path, e.start_mark.line + 1, why);
		done = why || e.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&e);
	}
	yaml_parser_delete(&p);
	return rc;
}

static int read_text(const char *path, char **ret, size_t *ret_n,
		     struct drill_err *err)
{
	FILE *f = fopen(path, "re");
	int rc = 0;

	*ret = malloc(MAX_BYTES + 1);
	if (!f)
		rc = drill_err_errno(err, errno, who, "cannot open '%s'", path);
	else if (!*ret)
		rc = drill_err_set(err, -ENOMEM, who, "no memory");
	if (rc == 0) {
		*ret_n = fread(*ret, 1, MAX_BYTES + 1, f);
		if (ferror(f))
			rc = drill_err_errno(err, errno, who,
					     "cannot read '%s'", path);
		else if (*ret_n > MAX_BYTES)
			rc = drill_err_set(err, -EFBIG, who,
					   "'%s' is too long for a lab", path);
	}
	if (f)
		fclose(f);
	return rc;
}

int drill_lab_spec_read(const char *path, struct drill_lab_spec *ret,
			struct drill_err *err)
{
	struct reading r = {.path = path, .err = err};
	char *text = NULL;
	size_t n = 0;
	int rc;

	drill_lab_spec_init(ret);
	rc = read_text(path, &text, &n, err);
	if (rc == 0)
		rc = refuse_events(text, n, &r);
	if (rc == 0 && !yaml_parser_initialize(&r.parser))
		rc = drill_err_set(err, -ENOMEM, who, "no memory");
	else if (rc == 0) {
		yaml_parser_set_input_string(&r.parser,
					     (const unsigned char *)text, n);
		rc = load(&r, ret);
		yaml_parser_delete(&r.parser);
	}
	free(text);
	if (rc < 0)
		drill_lab_spec_done(ret);
	return rc;
}
