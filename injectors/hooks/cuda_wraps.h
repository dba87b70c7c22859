/* cuda_wraps.h - which entry points of the CUDA driver have a typed wrapper
 * SPDX-License-Identifier: MIT
 *
 * W(symbol, when): drill_wrap_<symbol>() of a cuda_wrap_*.c, with the symbol's
 * exact signature and hidden, is called
 *
 *   ALWAYS  at each call while a page is mapped (it tracks something)
 *   HOT     while the entry is hot (page->hot[]), after drill_effect_before()
 *
 * Without a page no wrapper is ever called.
 */
#ifndef DRILL_CUDA_WRAPS_H
#define DRILL_CUDA_WRAPS_H

#define DRILL_CUDA_WRAPS(W)

#endif
