/* dialect.h - how one kernel source becomes CUDA code and host code
 * SPDX-License-Identifier: MIT
 *
 * A kernel is written for one block, as loops over its threads with barriers
 * between them: under nvcc THREADS() hands the iterations to the threads, on
 * the host it is a plain loop that the compiler vectorises. Nothing but shared
 * arrays lives across a SYNC(). Every sum has a fixed order, contraction is
 * off, and exp and log are our own, so that all instruction sets and the GPU
 * take the same roundings.
 */
#ifndef TRAIN_DIALECT_H
#define TRAIN_DIALECT_H

#include <math.h>

#include "kernels.h"

#ifdef __CUDACC__

#define KERNEL(name, type) extern "C" __global__ void name(struct type a)
#define DEVICE static __device__ inline
#define THREADS(i, n) for (int i = (int)threadIdx.x; i < (n); i += blockDim.x)
#define SYNC() __syncthreads()
#define SHARED __shared__
#define BLOCK_X ((int)blockIdx.x)
#define BLOCK_Y ((int)blockIdx.y)
#define BLOCK_Z ((int)blockIdx.z)
#define UNROLL _Pragma("unroll")
typedef float vec;
#define VECS 4 /* vectors of a micro-tile's row */
#define ROWS 4 /* rows of a micro-tile */

#else

#include "faultdrill/softcuda.h"

/* The block's body, and what the software device calls. */
#define KERNEL(name, type)                                                     \
	static void name##_block(struct type, const struct softcuda_block *);  \
	static void name##_run(void *const *p, const struct softcuda_block *b) \
	{                                                                      \
		name##_block(*(const struct type *)p[0], b);                   \
	}                                                                      \
	static struct softcuda_cost name##_cost(                               \
		void *const *p, const struct softcuda_block *b)                \
	{                                                                      \
		(void)b;                                                       \
		return (struct softcuda_cost){                                 \
			name##_flops((const struct type *)p[0]), 0             \
		};                                                             \
	}                                                                      \
	static void name##_block(struct type a,                                \
				 const struct softcuda_block *blk)
#define ENTRY(name, type)                                                      \
	{ #name, name##_run, name##_cost, 1, { sizeof(struct type) } },
#define DEVICE static inline
#define THREADS(i, n) for (int i = 0; i < (n); i++)
#define SYNC() ((void)blk)
#define SHARED _Alignas(64)
#define BLOCK_X ((int)blk->index[0])
#define BLOCK_Y ((int)blk->index[1])
#define BLOCK_Z ((int)blk->index[2])
#define UNROLL _Pragma("GCC unroll 16")
#if defined(__AVX512F__)
typedef float vec __attribute__((vector_size(64), may_alias));
#define ROWS 8
#elif defined(__AVX__)
typedef float vec __attribute__((vector_size(32), may_alias));
#define ROWS 4
#else
typedef float vec __attribute__((vector_size(16), may_alias));
#define ROWS 4
#endif
#define VECS 2

#endif

#define LANES ((int)(sizeof(vec) / sizeof(float)))

/* ---- the arithmetic that all kernels share ---- */

union bits {
	float f;
	int i;
};

/* e^x to 2 ulp for x in [-87, 88], clamped outside. */
DEVICE float dev_exp(float x)
{
	union bits s;
	float n, r, p;

	x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
	n = x * 1.44269504f + 12582912.0f;
	s.f = n;
	n = n - 12582912.0f;
	r = x - n * 0.693359375f;
	r = r - n * -2.12194440e-4f;
	p = 1.9875691500e-4f;
	p = p * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	p = p * r * r + r + 1.0f;
	s.i = (int)((unsigned int)(s.i + 127) << 23);
	return p * s.f;
}

/* ln x for normal x > 0. */
DEVICE float dev_log(float x)
{
	union bits u;
	float e, s, q;

	u.f = x;
	e = (float)((u.i >> 23) - 127);
	u.i = (u.i & 0x7fffff) | 0x3f800000;
	if (u.f > 1.41421356f) {
		u.f = u.f * 0.5f;
		e = e + 1.0f;
	}
	s = (u.f - 1.0f) / (u.f + 1.0f);
	q = s * s;
	q = 2.0f * s * (1.0f + q * (0.333333333f + q * (0.2f + q *
		(0.142857143f + q * 0.111111111f))));
	return e * 0.693147181f + q;
}

DEVICE float dev_tanh(float x)
{
	return 1.0f - 2.0f / (dev_exp(2.0f * x) + 1.0f);
}

/* Adds 16 lanes as a tree: one order whatever the vector length. */
DEVICE float dev_tree(float *lane)
{
	int w, i;

	for (w = 8; w; w /= 2)
		for (i = 0; i < w; i++)
			lane[i] += lane[i + w];
	return lane[0];
}

/* Sum of x[i] * y[i]; a NULL y is all ones. */
DEVICE float dev_dot(const float *x, const float *y, int n)
{
	float lane[16];
	int i, l;

	for (l = 0; l < 16; l++)
		lane[l] = 0;
	for (i = 0; i + 16 <= n; i += 16)
		for (l = 0; l < 16; l++)
			lane[l] += y ? x[i + l] * y[i + l] : x[i + l];
	for (l = 0; i + l < n; l++)
		lane[l] += y ? x[i + l] * y[i + l] : x[i + l];
	return dev_tree(lane);
}

#endif
