/* every.S - every entry point of a driver library, each of them answering 0
 * SPDX-License-Identifier: MIT
 */
#include "injectors/hooks/cuda_symbols.h"

#if defined(__x86_64__)
#define ANSWER xor %eax, %eax; ret
#else
#define ANSWER mov w0, wzr; ret
#endif

#define S(number, symbol, since)                                               \
	.weak symbol; .type symbol, %function; .balign 16; symbol: ANSWER;

	.text
	DRILL_CUDA_SYMBOLS(S)

	.section .note.GNU-stack, "", %progbits
