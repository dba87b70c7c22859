/* frame.h - JSON objects over a byte stream, each behind its length
 * SPDX-License-Identifier: MIT
 *
 * A frame is four bytes of length, big-endian, then that many bytes of one JSON
 * object in UTF-8. Longer than DRILL_FRAME_MAX, not an object, or nested deeper
 * than DRILL_FRAME_DEPTH: the connection ends with a reason. Hostile input can
 * cost at most one buffer of DRILL_FRAME_MAX bytes.
 */
#ifndef DRILL_FRAME_H
#define DRILL_FRAME_H

#include "err.h"

#include <jansson.h>
#include <stddef.h>

#define DRILL_FRAME_MAX (1u << 20)
#define DRILL_FRAME_DEPTH 32

struct drill_frame_reader {
	char *buf; /* ours */
	size_t len, size;
	/* Called for each whole frame; @msg is borrowed for the call. A negative
	 * return ends the reading with that code. */
	int (*on_message)(void *ctx, json_t *msg, struct drill_err *err);
	void *ctx;
};

/* Takes bytes as they come. After an error the reader must not be fed again. */
int drill_frame_feed(struct drill_frame_reader *r, const void *data, size_t n,
		     struct drill_err *err);
/* Ends the stream: bytes of an unfinished frame are an error (-EPROTO). */
int drill_frame_end(struct drill_frame_reader *r, struct drill_err *err);
void drill_frame_reader_done(struct drill_frame_reader *r);

/* One frame as bytes: yours, free() it. NULL with @err set when too long. */
char *drill_frame_encode(json_t *msg, size_t *ret_len, struct drill_err *err);

#endif
