/* frame.c - JSON objects over a byte stream, each behind its length
 * SPDX-License-Identifier: MIT
 */
#include "frame.h"

#include "jsonx.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char who[] = "frame";

#define HEAD 4 /* bytes of length */

_Static_assert(DRILL_FRAME_DEPTH == DRILL_JSON_DEPTH, "one depth for all");

static size_t body_size(const char *head)
{
	const unsigned char *b = (const unsigned char *)head;

	return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 |
	       (size_t)b[3];
}

static int reserve(struct drill_frame_reader *r, size_t size,
		   struct drill_err *err)
{
	char *buf;

	if (size <= r->size)
		return 0;
	buf = realloc(r->buf, size);
	if (!buf)
		return drill_err_set(err, -ENOMEM, who,
				     "no memory for a frame of %zu bytes", size);
	r->buf = buf;
	r->size = size;
	return 0;
}

/* Takes what is missing up to @want bytes. 1 when they are all there. */
static int fill(struct drill_frame_reader *r, size_t want, const char **data,
		size_t *n)
{
	size_t take = want - r->len;

	if (take > *n)
		take = *n;
	memcpy(r->buf + r->len, *data, take);
	r->len += take;
	*data += take;
	*n -= take;
	return r->len == want;
}

static int deliver(struct drill_frame_reader *r, struct drill_err *err)
{
	json_t *msg = drill_json_object(r->buf + HEAD, r->len - HEAD, who, err);
	int rc;

	r->len = 0;
	if (!msg)
		return err && err->code ? err->code : -EPROTO;
	rc = r->on_message(r->ctx, msg, err);
	json_decref(msg);
	return rc < 0 ? rc : 0;
}

/* One step: the head, then the body; what is left stays in @data. */
static int step(struct drill_frame_reader *r, const char **data, size_t *n,
		struct drill_err *err)
{
	size_t body;
	int rc;

	rc = reserve(r, 512, err);
	if (rc < 0)
		return rc;
	if (r->len < HEAD && !fill(r, HEAD, data, n))
		return 0;
	body = body_size(r->buf);
	if (body == 0 || body > DRILL_FRAME_MAX)
		return drill_err_set(err, -EPROTO, who,
				     "a frame of %zu bytes (1 to %u are allowed)",
				     body, DRILL_FRAME_MAX);
	rc = reserve(r, HEAD + body, err);
	if (rc < 0)
		return rc;
	return fill(r, HEAD + body, data, n) ? deliver(r, err) : 0;
}

int drill_frame_feed(struct drill_frame_reader *r, const void *data, size_t n,
		     struct drill_err *err)
{
	const char *p = data;
	int rc = 0;

	while (n > 0 && rc == 0)
		rc = step(r, &p, &n, err);
	return rc;
}

int drill_frame_end(struct drill_frame_reader *r, struct drill_err *err)
{
	if (!r->len)
		return 0;
	return drill_err_set(err, -EPROTO, who,
			     "the stream ends inside a frame, after %zu bytes",
			     r->len);
}

void drill_frame_reader_done(struct drill_frame_reader *r)
{
	free(r->buf);
	r->buf = NULL;
	r->len = r->size = 0;
}

static void put_size(char *head, size_t n)
{
	int i;

	for (i = 0; i < HEAD; i++)
		head[i] = (char)(n >> (24 - 8 * i) & 0xff);
}

char *drill_frame_encode(json_t *msg, size_t *ret_len, struct drill_err *err)
{
	size_t n = json_dumpb(msg, NULL, 0, JSON_COMPACT);
	char *buf;

	if (!json_is_object(msg) || n == 0 || n > DRILL_FRAME_MAX) {
		drill_err_set(err, -EMSGSIZE, who,
			      "a message of %zu bytes does not fit a frame", n);
		return NULL;
	}
	buf = malloc(HEAD + n);
	if (!buf) {
		drill_err_set(err, -ENOMEM, who, "no memory for a frame");
		return NULL;
	}
	put_size(buf, n);
	if (json_dumpb(msg, buf + HEAD, n, JSON_COMPACT) != n ||
	    drill_json_depth(buf + HEAD, n, who, err) < 0) {
		drill_err_set(err, -EPROTO, who, "a message cannot be written");
		free(buf);
		return NULL;
	}
	*ret_len = HEAD + n;
	return buf;
}
