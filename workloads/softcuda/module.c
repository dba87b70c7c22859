/* module.c - loads host-compiled kernels and launches them
 * SPDX-License-Identifier: MIT
 *
 * A program asks for its kernels by one name on every device, `kernels.fatbin`
 * say. The software device takes the host-compiled twin beside it, made for
 * the best instruction set that this CPU has: `kernels.avx2.so`.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft.h"

static bool is_desc(const struct softcuda_module *d)
{
	return d->magic == SOFTCUDA_MAGIC && d->version == SOFTCUDA_VERSION;
}

/* FAULTDRILL_ISA allows that one alone. */
static CUresult host_twin(const char *file, char path[PATH_MAX])
{
	const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
	const char *only = getenv("FAULTDRILL_ISA");
	int stem = (int)(dot && (!slash || dot > slash) ?
				 (size_t)(dot - file) : strlen(file));
	int i, n;

	for (i = 0; soft_isas[i]; i++) {
		if (only && *only ? !!strcmp(only, soft_isas[i]) :
				    !soft_isa_runs(soft_isas[i]))
			continue;
		if (!soft_isa_runs(soft_isas[i]))
			return CUDA_ERROR_NO_BINARY_FOR_GPU;
		n = snprintf(path, PATH_MAX, "%s%.*s.%s.so", slash ? "" : "./",
			     stem, file, soft_isas[i]);
		if (n < PATH_MAX && !access(path, R_OK))
			return CUDA_SUCCESS;
	}
	return access(file, R_OK) ? CUDA_ERROR_FILE_NOT_FOUND :
				    CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult add(struct CUctx_st *c, void *handle,
		    const struct softcuda_module *desc, CUmodule *out)
{
	struct CUmod_st *m = calloc(1, sizeof(*m));
	uint32_t i;

	if (m)
		m->fn = calloc(desc->kernels, sizeof(*m->fn));
	if (!m || !m->fn) {
		free(m);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	for (i = 0; i < desc->kernels; i++)
		m->fn[i].kernel = &desc->kernel[i];
	m->magic = SOFT_MODULE;
	m->handle = handle;
	m->desc = desc;
	m->next = c->modules;
	c->modules = m;
	*out = m;
	return CUDA_SUCCESS;
}

static void drop(struct CUmod_st *m)
{
	if (m->handle)
		dlclose(m->handle);
	m->magic = 0;
	free(m->fn);
	free(m);
}

void soft_modules_close(struct CUctx_st *ctx)
{
	struct CUmod_st *m;

	while ((m = ctx->modules)) {
		ctx->modules = m->next;
		drop(m);
	}
}

SOFT_API CUresult cuModuleLoad(CUmodule *module, const char *file)
{
	const struct softcuda_module *desc;
	char path[PATH_MAX];
	struct CUctx_st *c;
	void *h;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = module && file ? host_twin(file, path) : CUDA_ERROR_INVALID_VALUE;
	if (e)
		return soft_leave(e);
	h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	desc = h ? dlsym(h, "softcuda_module") : NULL;
	e = desc && is_desc(desc) ? add(c, h, desc, module) :
				    CUDA_ERROR_INVALID_IMAGE;
	if (e && h)
		dlclose(h);
	return soft_leave(e);
}

SOFT_API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!module || !image)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	return soft_leave(is_desc(image) ? add(c, NULL, image, module) :
					   CUDA_ERROR_INVALID_IMAGE);
}

SOFT_API CUresult cuModuleUnload(CUmodule module)
{
	struct CUctx_st *c;
	struct CUmod_st **p;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	for (p = &c->modules; *p && *p != module; p = &(*p)->next)
		;
	if (!*p)
		return soft_leave(CUDA_ERROR_INVALID_HANDLE);
	soft_ctx_wait(c);
	*p = module->next;
	drop(module);
	return soft_leave(soft_sync_error(c));
}

SOFT_API CUresult cuModuleGetFunction(CUfunction *fn, CUmodule module,
				      const char *name)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);
	uint32_t i;

	if (e)
		return e;
	if (!fn || !name)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	if (!module || module->magic != SOFT_MODULE)
		return soft_leave(CUDA_ERROR_INVALID_HANDLE);
	for (i = 0; i < module->desc->kernels; i++)
		if (!strcmp(module->desc->kernel[i].name, name)) {
			*fn = &module->fn[i];
			return soft_leave(CUDA_SUCCESS);
		}
	return soft_leave(CUDA_ERROR_NOT_FOUND);
}

SOFT_API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
				     CUfunction fn)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!value || !fn)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	*value = 0;
	if ((int)attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
		*value = 1024;
	if ((int)attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
		*value = 49152;
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuFuncGetName(const char **name, CUfunction fn)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (name && fn)
		*name = fn->kernel->name;
	return soft_leave(name && fn ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* As they would lie side by side. */
SOFT_API CUresult cuFuncGetParamInfo(CUfunction fn, size_t index,
				     size_t *offset, size_t *bytes)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);
	size_t at = 0, i;

	if (e)
		return e;
	if (!fn || !offset || index >= fn->kernel->params)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	for (i = 0; i < index; i++)
		at += (fn->kernel->param_bytes[i] + 7) & ~7u;
	*offset = at;
	if (bytes)
		*bytes = fn->kernel->param_bytes[index];
	return soft_leave(CUDA_SUCCESS);
}

/* The arguments are copied now: the caller may change them at once. */
static struct soft_op *launch_op(const struct softcuda_kernel *k, void **params,
				 const struct softcuda_block *b)
{
	size_t at = 0, n = 0;
	unsigned int i;
	struct soft_op *op;

	for (i = 0; i < k->params; i++)
		n += (k->param_bytes[i] + 15) & ~15u;
	op = soft_op_new(SOFT_LAUNCH, n);
	if (!op)
		return NULL;
	op->kernel = k;
	op->block = *b;
	op->params_bytes = n;
	for (i = 0; i < k->params; i++) {
		op->param[i] = op->params + at;
		memcpy(op->param[i], params[i], k->param_bytes[i]);
		at += (k->param_bytes[i] + 15) & ~15u;
	}
	if (b->shared_bytes) {
		op->own = op->block.shared =
			aligned_alloc(64, (b->shared_bytes + 63) & ~63u);
		if (!op->own) {
			soft_op_free(op);
			return NULL;
		}
	}
	return op;
}

static CUresult launch_is_valid(const struct softcuda_block *b)
{
	uint64_t threads = (uint64_t)b->block[0] * b->block[1] * b->block[2];

	if (!b->grid[0] || !b->grid[1] || !b->grid[2] || !threads ||
	    b->grid[0] > INT_MAX || b->grid[1] > 65535 || b->grid[2] > 65535 ||
	    b->block[0] > 1024 || b->block[1] > 1024 || b->block[2] > 64)
		return CUDA_ERROR_INVALID_VALUE;
	if (threads > 1024 || b->shared_bytes > 49152)
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	return CUDA_SUCCESS;
}

SOFT_API CUresult cuLaunchKernel(CUfunction fn, unsigned int gx,
				 unsigned int gy, unsigned int gz,
				 unsigned int bx, unsigned int by,
				 unsigned int bz, unsigned int shared,
				 CUstream stream, void **params, void **extra)
{
	const struct softcuda_block b = {
		.grid = { gx, gy, gz },
		.block = { bx, by, bz },
		.shared_bytes = shared,
	};
	struct CUctx_st *c;
	struct CUstream_st *s;
	struct soft_op *op;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = fn ? soft_stream_get(c, stream, &s) : CUDA_ERROR_INVALID_HANDLE;
	if (!e)
		e = launch_is_valid(&b);
	if (!e && extra)
		e = CUDA_ERROR_NOT_SUPPORTED;
	if (!e && fn->kernel->params && !params)
		e = CUDA_ERROR_INVALID_VALUE;
	if (e)
		return soft_leave(e);
	op = launch_op(fn->kernel, params, &b);
	if (!op)
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	return soft_leave(soft_submit(s, op, NULL));
}

SOFT_API CUresult cuLaunchKernelEx(const CUlaunchConfig *k, CUfunction fn,
				   void **params, void **extra)
{
	if (!k)
		return CUDA_ERROR_INVALID_VALUE;
	return cuLaunchKernel(fn, k->gridDimX, k->gridDimY, k->gridDimZ,
			      k->blockDimX, k->blockDimY, k->blockDimZ,
			      k->sharedMemBytes, k->hStream, params, extra);
}

/* Blocks run one after the other: no more than one can meet. */
SOFT_API CUresult cuLaunchCooperativeKernel(CUfunction fn, unsigned int gx,
					    unsigned int gy, unsigned int gz,
					    unsigned int bx, unsigned int by,
					    unsigned int bz, unsigned int shared,
					    CUstream stream, void **params)
{
	if ((uint64_t)gx * gy * gz > 1)
		return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	return cuLaunchKernel(fn, gx, gy, gz, bx, by, bz, shared, stream,
			      params, NULL);
}
