/* toy.S - entry points that tell who was called and with what
 * SPDX-License-Identifier: MIT
 *
 * Each counts itself and answers TOY_ANSWER + its number (toy.h). While
 * toy_records is set the argument registers and what lies on the stack behind
 * the return address are written down.
 */
#include "injectors/hooks/cuda_symbols.h"

	.text
	.type	toy_entry, @function
toy_entry:
	leaq	toy_count(%rip), %r11
	lock incl (%r11, %rax, 4)
	cmpl	$0, toy_records(%rip)
	je	1f
	leaq	toy_record(%rip), %r11
	movq	%rdi, (%r11)
	movq	%rsi, 8(%r11)
	movq	%rdx, 16(%r11)
	movq	%rcx, 24(%r11)
	movq	%r8, 32(%r11)
	movq	%r9, 40(%r11)
	movq	8(%rsp), %rcx
	movq	%rcx, 48(%r11)
	movq	16(%rsp), %rcx
	movq	%rcx, 56(%r11)
	movq	24(%rsp), %rcx
	movq	%rcx, 64(%r11)
	movq	32(%rsp), %rcx
	movq	%rcx, 72(%r11)
	movq	40(%rsp), %rcx
	movq	%rcx, 80(%r11)
	movsd	%xmm0, 88(%r11)
	movsd	%xmm1, 96(%r11)
	movsd	%xmm7, 104(%r11)
1:	addl	$10000, %eax
	ret

	.macro	entry number symbol
	.p2align 4
	.weak	\symbol
	.type	\symbol, @function
\symbol:
	movl	$\number, %eax
	jmp	toy_entry
	.endm

#define ENTRY(number, symbol, since) entry number symbol;
DRILL_CUDA_SYMBOLS(ENTRY)

	.bss
	.p2align 4
	.globl	toy_count, toy_records, toy_record
	.protected toy_count, toy_records, toy_record
	.type	toy_count, @object
	.size	toy_count, 4 * DRILL_CUDA_CALLS
toy_count:
	.zero	4 * DRILL_CUDA_CALLS
	.p2align 4
	.type	toy_record, @object
	.size	toy_record, 112
toy_record:
	.zero	112
	.type	toy_records, @object
	.size	toy_records, 4
toy_records:
	.zero	4

	.section .note.GNU-stack, "", @progbits
