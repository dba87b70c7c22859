/* kernels.h - arguments and model cost of every kernel, for both sides
 * SPDX-License-Identifier: MIT
 *
 * Every kernel takes one structure. Matrices are rows of floats; a stride is
 * in floats. _flops() is what a launch costs in the software device's pace
 * model; train adds the same numbers up to choose the device's speed.
 */
#ifndef TRAIN_KERNELS_H
#define TRAIN_KERNELS_H

#define GEMM_TILE 64 /* rows and columns of C that one block makes */
#define ROW_BLOCK 16 /* rows that one block of a row-wise kernel takes */
#define ELEM_BLOCK 4096

/* C = alpha A B (+ bias) (+ C), batched: block z is batch z / heads, head
 * z % heads. A(i,k) = a[i ai + k ak], B(k,j) = b[k bk + j bj], C rows by ci. */
struct gemm {
	const float *a, *b, *bias; /* bias: NULL or n values */
	float *c;
	int m, n, k, heads, batch;
	int ai, ak, bk, bj, ci;
	int az, ah, bz, bh, cz, ch; /* by batch, by head */
	float alpha;
	int accumulate;
};

struct embed {
	const int *token;
	const float *tok, *pos;
	float *x;		/* rows x width */
	int rows, seq, width;
};

struct embed_grad {
	const int *token;
	const float *dx;
	float *dtok, *dpos;
	int rows, seq, width, vocab; /* blocks: vocab, then seq */
};

struct layernorm { /* layer normalisation of rows */
	const float *x, *gain, *bias;
	float *y, *mean, *rstd;
	int rows, width;
};

struct layernorm_grad {
	const float *x, *gain, *mean, *rstd, *dy;
	float *dx; /* added to */
	int rows, width;
};

struct layernorm_params {
	const float *x, *mean, *rstd, *dy;
	float *dgain, *dbias;
	int rows, width;
};

struct softmax { /* in place, causal: row r of seq takes part up to r % seq */
	float *s;
	int rows, seq;
};

struct softmax_grad { /* ds in place of dp, times scale */
	const float *p;
	float *dp;
	int rows, seq;
	float scale;
};

struct elem { /* out = f(x, y) */
	const float *x, *y;
	float *out;
	int n;
};

struct columns { /* out[j] = sum of x over rows */
	const float *x;
	float *out;
	int rows, width;
};

struct loss { /* loss of each row; x becomes its gradient, times scale */
	float *x;
	const int *target;
	float *loss;
	int rows, vocab;
	float scale;
};

struct adamw {
	float *p, *m, *v;
	const float *g;
	int n;
	float lr, beta1, beta2, eps, decay, correct1, correct2, scale;
};

static inline double gemm_flops(const struct gemm *a)
{
	return 2.0 * a->m * a->n * a->k * a->batch * a->heads;
}

static inline double embed_flops(const struct embed *a)
{
	return (double)a->rows * a->width;
}

static inline double embed_grad_flops(const struct embed_grad *a)
{
	return 2.0 * a->rows * a->width;
}

static inline double layernorm_flops(const struct layernorm *a)
{
	return 8.0 * a->rows * a->width;
}

static inline double layernorm_grad_flops(const struct layernorm_grad *a)
{
	return 12.0 * a->rows * a->width;
}

static inline double layernorm_params_flops(const struct layernorm_params *a)
{
	return 5.0 * a->rows * a->width;
}

static inline double softmax_flops(const struct softmax *a)
{
	return 20.0 * a->rows * a->seq;
}

static inline double softmax_grad_flops(const struct softmax_grad *a)
{
	return 4.0 * a->rows * a->seq;
}

static inline double gelu_flops(const struct elem *a)
{
	return 30.0 * a->n;
}

static inline double gelu_grad_flops(const struct elem *a)
{
	return 40.0 * a->n;
}

static inline double add_flops(const struct elem *a)
{
	return a->n;
}

static inline double columns_flops(const struct columns *a)
{
	return (double)a->rows * a->width;
}

static inline double loss_flops(const struct loss *a)
{
	return 25.0 * a->rows * a->vocab;
}

static inline double adamw_flops(const struct adamw *a)
{
	return 15.0 * a->n;
}

#endif
