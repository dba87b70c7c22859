/* nvml_pass.c - what has no function here goes on to the next library as it is
 * SPDX-License-Identifier: MIT
 *
 * A jump each. It saves the argument registers, asks where to go, and goes
 * there with arguments, stack and return address as the caller left them. NVML
 * passes integers and pointers only, so nothing else need be kept.
 */
#include "nvml_proxy.h"
#include "nvml_symbols.h"

static nvmlReturn_t say_uninitialized(void)
{
	return NVML_ERROR_UNINITIALIZED;
}

static nvmlReturn_t say_not_supported(void)
{
	return NVML_ERROR_NOT_SUPPORTED;
}

static nvmlReturn_t say_invalid(void)
{
	return NVML_ERROR_INVALID_ARGUMENT;
}

static nvmlReturn_t say_lost(void)
{
	return NVML_ERROR_GPU_IS_LOST;
}

static nvmlReturn_t say_reset(void)
{
	return NVML_ERROR_RESET_REQUIRED;
}

static nvmlReturn_t say_unknown(void)
{
	return NVML_ERROR_UNKNOWN;
}

static void *sayer(nvmlReturn_t r)
{
	switch (r) {
	case NVML_ERROR_UNINITIALIZED: return say_uninitialized;
	case NVML_ERROR_INVALID_ARGUMENT: return say_invalid;
	case NVML_ERROR_GPU_IS_LOST: return say_lost;
	case NVML_ERROR_RESET_REQUIRED: return say_reset;
	default: return say_unknown;
	}
}

/* Called by the jumps below, by name. */
void *drill_nvml_route(const char *name);
void *drill_nvml_route_device(const char *name, nvmlDevice_t device);

__attribute__((used)) void *drill_nvml_route(const char *name)
{
	nvmlReturn_t r = drill_nvml_ready();

	if (r)
		return sayer(r);
	return drill_nvml.next ? drill_nvml_next_find(name) :
				 (void *)say_not_supported;
}

__attribute__((used)) void *drill_nvml_route_device(const char *name,
						    nvmlDevice_t device)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, name, &d);

	return r ? sayer(r) : drill_nvml_route(name);
}

#if defined(__x86_64__)
/* r11 holds the name; both are free between a caller and its callee. */
#define WAY(label, route)                                                      \
	__asm__(".text\n.p2align 4\n.type " #label ",@function\n" #label ":\n" \
		"push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\n"       \
		"push %r9\nsub $8, %rsp\n"                                     \
		"mov %rdi, %rsi\nmov %r11, %rdi\ncall " #route "\n"            \
		"mov %rax, %r11\nadd $8, %rsp\n"                               \
		"pop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\n"   \
		"jmp *%r11\n.size " #label ",.-" #label "\n");
#define JUMP(name, label)                                                      \
	__asm__(".section .rodata.str1.1,\"aMS\",@progbits,1\n"                \
		"9: .string \"" #name "\"\n"                                   \
		".text\n.globl " #name "\n.type " #name ",@function\n"         \
		".p2align 4\n" #name ":\nlea 9b(%rip), %r11\n"                 \
		"jmp " #label "\n.size " #name ",.-" #name "\n");
#elif defined(__aarch64__)
#define WAY(label, route)                                                      \
	__asm__(".text\n.p2align 4\n.type " #label ",@function\n" #label ":\n" \
		"stp x29, x30, [sp, #-80]!\nstp x0, x1, [sp, #16]\n"           \
		"stp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\n"               \
		"stp x6, x7, [sp, #64]\nmov x29, sp\n"                         \
		"mov x1, x0\nmov x0, x16\nbl " #route "\nmov x16, x0\n"        \
		"ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\n"               \
		"ldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\n"               \
		"ldp x29, x30, [sp], #80\nbr x16\n"                            \
		".size " #label ",.-" #label "\n");
#define JUMP(name, label)                                                      \
	__asm__(".section .rodata.str1.1,\"aMS\",@progbits,1\n"                \
		"9: .string \"" #name "\"\n"                                   \
		".text\n.globl " #name "\n.type " #name ",@function\n"         \
		".p2align 4\n" #name ":\nadrp x16, 9b\n"                       \
		"add x16, x16, :lo12:9b\nb " #label "\n"                       \
		".size " #name ",.-" #name "\n");
#else
#error "no way to pass calls on is written for this processor"
#endif

WAY(drill_nvml_way, drill_nvml_route)
WAY(drill_nvml_way_device, drill_nvml_route_device)

#define OTHER(name) JUMP(name, drill_nvml_way)
#define OF_DEVICE(name) JUMP(name, drill_nvml_way_device)
DRILL_NVML_OTHER(OTHER)
DRILL_NVML_OF_DEVICE(OF_DEVICE)
