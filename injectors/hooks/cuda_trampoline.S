/* cuda_trampoline.S - every export of the CUDA driver: count, test, jump
 * SPDX-License-Identifier: MIT
 *
 * An export changes no register that may hold an argument and leaves the stack
 * as it came, so it needs no signature. See cuda_proxy.h for the way of a call.
 */
#include "cuda_launches.h"
#include "cuda_symbols.h"

#ifndef __x86_64__
#error "the CUDA proxy's trampolines are written for x86-64 only"
#endif

	.hidden drill_cuda_lane
	.hidden drill_cuda_hot
	.hidden drill_cuda_go
	.hidden drill_cuda_export
	.hidden drill_cuda_before

	.text

/* The slow way. r11d: number of the call. What may hold arguments is saved in
 * one frame, for drill_cuda_before() returns where to go on (rax), or nowhere
 * and a result (rdx). Three entry points have arguments in xmm registers. */
	.macro	slow name floats
	.p2align 4
	.type	\name, @function
\name:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$176, %rsp
	andq	$-16, %rsp
	movq	%rdi, (%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)
	.if	\floats
	movaps	%xmm0, 48(%rsp)
	movaps	%xmm1, 64(%rsp)
	movaps	%xmm2, 80(%rsp)
	movaps	%xmm3, 96(%rsp)
	movaps	%xmm4, 112(%rsp)
	movaps	%xmm5, 128(%rsp)
	movaps	%xmm6, 144(%rsp)
	movaps	%xmm7, 160(%rsp)
	.endif
	movl	%r11d, %edi
	call	drill_cuda_before
	movq	%rax, %r11
	movq	%rdx, %rax
	movq	(%rsp), %rdi
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rcx
	movq	32(%rsp), %r8
	movq	40(%rsp), %r9
	.if	\floats
	movaps	48(%rsp), %xmm0
	movaps	64(%rsp), %xmm1
	movaps	80(%rsp), %xmm2
	movaps	96(%rsp), %xmm3
	movaps	112(%rsp), %xmm4
	movaps	128(%rsp), %xmm5
	movaps	144(%rsp), %xmm6
	movaps	160(%rsp), %xmm7
	.endif
	leave
	.cfi_def_cfa %rsp, 8
	testq	%r11, %r11
	je	1f
	jmp	*%r11
1:	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	slow	drill_cuda_slow 0
	slow	drill_cuda_slow_floats 1

#define FLOATS(symbol) .set floats_##symbol, 1;
DRILL_CUDA_FLOATS(FLOATS)
#define LAUNCHES(symbol) .set launches_##symbol, 1;
DRILL_CUDA_LAUNCHES(LAUNCHES)

/* No lane: the thread's first call. Counted before it is known where it goes;
 * only the thread's own lane is written, so no lock prefix. */
	.macro	trampoline number symbol
	.p2align 4
	.globl	\symbol
	.type	\symbol, @function
\symbol:
.Lexport\number:
	.cfi_startproc
	endbr64
	movq	drill_cuda_lane@gottpoff(%rip), %r11
	movq	%fs:(%r11), %r11
	testq	%r11, %r11
	je	.Lslow\number
	incq	(%r11)
	.ifdef	launches_\symbol
	incq	8(%r11)
	.endif
	movq	drill_cuda_hot(%rip), %r11
	cmpb	$0, \number(%r11)
	jne	.Lslow\number
	jmp	*(drill_cuda_go + 8 * \number)(%rip)
.Lslow\number:
	movl	$\number, %r11d
	.ifdef	floats_\symbol
	jmp	drill_cuda_slow_floats
	.else
	jmp	drill_cuda_slow
	.endif
	.cfi_endproc
	.size	\symbol, . - \symbol
	.endm

#define TRAMPOLINE(number, symbol, since) trampoline number symbol;
DRILL_CUDA_SYMBOLS(TRAMPOLINE)

/* Where the exports are, and where they jump: at first back to the slow way. */
	.section .data.rel.ro, "aw"
	.p2align 6
	.globl	drill_cuda_export
drill_cuda_export:
#define EXPORT(number, symbol, since) .quad .Lexport##number;
DRILL_CUDA_SYMBOLS(EXPORT)

	.data
	.p2align 6
	.globl	drill_cuda_go
drill_cuda_go:
#define GO(number, symbol, since) .quad .Lslow##number;
DRILL_CUDA_SYMBOLS(GO)

	.section .note.GNU-stack, "", @progbits
