/* cuda_wrap.h - how typed wrappers of the CUDA driver are written
 * SPDX-License-Identifier: MIT
 *
 * A wrapper of a _ptsz or _ptds entry names the thread's own stream where its
 * caller said NULL, so that what a fault adds goes into that one.
 */
#ifndef DRILL_CUDA_WRAP_H
#define DRILL_CUDA_WRAP_H

#include "cuda_call.h"
#include "cuda_wraps.h"

#define PLAIN(symbol) .number = DRILL_CALL_##symbol
#define STREAMED(symbol, s, own)                                               \
	PLAIN(symbol), .streamed = true, .stream = (s) ? (s) : (own)

/* Before each: the wrapper has its symbol's type. */
#define WRAPS(symbol) extern __typeof__(symbol) drill_wrap_##symbol

/* Enters, calls, leaves; the value is the result. */
#define CALL(c, symbol, ...)                                                   \
	(drill_call_enter(&(c)) ?                                              \
		 (c).result :                                                  \
		 ((c).result = drill_next(symbol)(__VA_ARGS__),                \
		  drill_call_leave(&(c))))

#endif
