/* kernels.c - the transformer's kernels, forward and backward, for both worlds
 * SPDX-License-Identifier: MIT
 *
 * nvcc -x cu makes the GPU's code of it, the host compiler the software
 * device's, once per instruction set. Read dialect.h first.
 */
#include "dialect.h"

#define PANEL 64 /* depth of B that is packed at a time */

/* One micro-tile of C over one panel; row[i] is where A's row begins. */
DEVICE void micro_tile(const float *const *row, int ak, const float *b,
		       float *c, int depth)
{
	vec acc[ROWS][VECS], bv[VECS];
	int i, k, v;

	UNROLL
	for (i = 0; i < ROWS; i++)
		UNROLL
		for (v = 0; v < VECS; v++)
			acc[i][v] = *(const vec *)(c + i * GEMM_TILE +
						   v * LANES);
	for (k = 0; k < depth; k++) {
		UNROLL
		for (v = 0; v < VECS; v++)
			bv[v] = *(const vec *)(b + k * GEMM_TILE + v * LANES);
		UNROLL
		for (i = 0; i < ROWS; i++)
			UNROLL
			for (v = 0; v < VECS; v++)
				acc[i][v] += row[i][k * ak] * bv[v];
	}
	UNROLL
	for (i = 0; i < ROWS; i++)
		UNROLL
		for (v = 0; v < VECS; v++)
			*(vec *)(c + i * GEMM_TILE + v * LANES) = acc[i][v];
}

/* Row k of a panel; columns beyond n are zero. */
DEVICE void pack_row(const struct gemm *a, const float *b, int n, float *out)
{
	int j;

	if (a->bj == 1)
		for (j = 0; j < n; j++)
			out[j] = b[j];
	else
		for (j = 0; j < n; j++)
			out[j] = b[j * a->bj];
	for (; j < GEMM_TILE; j++)
		out[j] = 0;
}

DEVICE void store_row(const struct gemm *a, int j0, int n, const float *in,
		      float *c)
{
	int j;

	for (j = 0; j < n; j++)
		c[j] = a->alpha * in[j] + (a->bias ? a->bias[j0 + j] : 0) +
		       (a->accumulate ? c[j] : 0);
}

KERNEL(gemm, gemm)
{
	SHARED float panel[PANEL * GEMM_TILE];
	SHARED float tile[GEMM_TILE * GEMM_TILE];
	const int z = BLOCK_Z / a.heads, h = BLOCK_Z % a.heads;
	const int i0 = BLOCK_Y * GEMM_TILE, j0 = BLOCK_X * GEMM_TILE;
	const int m = a.m - i0 < GEMM_TILE ? a.m - i0 : GEMM_TILE;
	const int n = a.n - j0 < GEMM_TILE ? a.n - j0 : GEMM_TILE;
	const int across = GEMM_TILE / (VECS * LANES);
	const float *pa = a.a + z * a.az + h * a.ah + i0 * a.ai;
	const float *pb = a.b + z * a.bz + h * a.bh + j0 * a.bj;
	float *pc = a.c + z * a.cz + h * a.ch + i0 * a.ci + j0;

	THREADS(t, GEMM_TILE * GEMM_TILE)
		tile[t] = 0;
	for (int k0 = 0; k0 < a.k; k0 += PANEL) {
		const int depth = a.k - k0 < PANEL ? a.k - k0 : PANEL;

		SYNC();
		THREADS(k, depth)
			pack_row(&a, pb + (k0 + k) * a.bk, n,
				 panel + k * GEMM_TILE);
		SYNC();
		THREADS(t, GEMM_TILE / ROWS * across) {
			const int i = t / across * ROWS;
			const int j = t % across * VECS * LANES;
			const float *row[ROWS];

			if (i >= m || j >= n)
				continue;
			for (int r = 0; r < ROWS; r++)
				row[r] = pa + k0 * a.ak +
					 (i + r < m ? i + r : m - 1) * a.ai;
			micro_tile(row, a.ak, panel + j,
				   tile + i * GEMM_TILE + j, depth);
		}
	}
	SYNC();
	THREADS(i, m)
		store_row(&a, j0, n, tile + i * GEMM_TILE, pc + i * a.ci);
}

/* The rows that a block of a row-wise kernel takes. */
#define BLOCK_ROWS(r, rows)                                                    \
	THREADS(r##_, ROW_BLOCK)                                               \
		for (int r = BLOCK_X * ROW_BLOCK + r##_; r >= 0 && r < (rows); \
		     r = -1)

KERNEL(embed, embed)
{
	SYNC();
	BLOCK_ROWS(r, a.rows) {
		const float *t = a.tok + a.token[r] * a.width;
		const float *p = a.pos + r % a.seq * a.width;

		for (int j = 0; j < a.width; j++)
			a.x[r * a.width + j] = t[j] + p[j];
	}
}

/* One block a row of the tables: the order of the sums is fixed. */
KERNEL(embed_grad, embed_grad)
{
	const int v = BLOCK_X, p = BLOCK_X - a.vocab;

	SYNC();
	THREADS(j, a.width) {
		float s = 0;

		if (p < 0) {
			for (int r = 0; r < a.rows; r++)
				if (a.token[r] == v)
					s += a.dx[r * a.width + j];
			a.dtok[v * a.width + j] = s;
		} else {
			for (int r = p; r < a.rows; r += a.seq)
				s += a.dx[r * a.width + j];
			a.dpos[p * a.width + j] = s;
		}
	}
}

KERNEL(layernorm, layernorm)
{
	SYNC();
	BLOCK_ROWS(r, a.rows) {
		const float *x = a.x + r * a.width;
		float *y = a.y + r * a.width;
		const float n = (float)a.width;
		const float mean = dev_dot(x, 0, a.width) / n;
		float var, rstd;

		for (int j = 0; j < a.width; j++)
			y[j] = x[j] - mean;
		var = dev_dot(y, y, a.width) / n;
		rstd = 1.0f / sqrtf(var + 1e-5f);
		for (int j = 0; j < a.width; j++)
			y[j] = y[j] * rstd * a.gain[j] + a.bias[j];
		a.mean[r] = mean;
		a.rstd[r] = rstd;
	}
}

DEVICE void layernorm_grad_row(const struct layernorm_grad *a, int r)
{
	const float *x = a->x + r * a->width, *dy = a->dy + r * a->width;
	const float mean = a->mean[r], rstd = a->rstd[r], n = (float)a->width;
	float *dx = a->dx + r * a->width, s1, s2;
	float l1[16], l2[16];
	int j;

	for (j = 0; j < 16; j++)
		l1[j] = l2[j] = 0;
	for (j = 0; j < a->width; j++) {
		const float d = dy[j] * a->gain[j];

		l1[j % 16] += d;
		l2[j % 16] += d * ((x[j] - mean) * rstd);
	}
	s1 = dev_tree(l1) / n;
	s2 = dev_tree(l2) / n;
	for (j = 0; j < a->width; j++)
		dx[j] += rstd * (dy[j] * a->gain[j] - s1 -
				 (x[j] - mean) * rstd * s2);
}

KERNEL(layernorm_grad, layernorm_grad)
{
	SYNC();
	BLOCK_ROWS(r, a.rows)
		layernorm_grad_row(&a, r);
}

KERNEL(layernorm_params, layernorm_params)
{
	SYNC();
	THREADS(j, a.width)
		a.dgain[j] = a.dbias[j] = 0;
	SYNC();
	for (int r = 0; r < a.rows; r++)
		THREADS(j, a.width) {
			const float dy = a.dy[r * a.width + j];

			a.dgain[j] += dy * ((a.x[r * a.width + j] - a.mean[r]) *
					    a.rstd[r]);
			a.dbias[j] += dy;
		}
}

KERNEL(softmax, softmax)
{
	SYNC();
	BLOCK_ROWS(r, a.rows) {
		const int n = r % a.seq + 1;
		float *s = a.s + r * a.seq, top = s[0], sum;
		int j;

		for (j = 1; j < n; j++)
			top = s[j] > top ? s[j] : top;
		for (j = 0; j < n; j++)
			s[j] = dev_exp(s[j] - top);
		sum = 1.0f / dev_dot(s, 0, n);
		for (j = 0; j < n; j++)
			s[j] *= sum;
		for (; j < a.seq; j++)
			s[j] = 0;
	}
}

KERNEL(softmax_grad, softmax_grad)
{
	SYNC();
	BLOCK_ROWS(r, a.rows) {
		const float *p = a.p + r * a.seq;
		float *d = a.dp + r * a.seq;
		const float dot = dev_dot(p, d, a.seq);

		for (int j = 0; j < a.seq; j++)
			d[j] = p[j] * (d[j] - dot) * a.scale;
	}
}

#define BLOCK_ELEMS(i, total)                                                  \
	const int first = BLOCK_X * ELEM_BLOCK;                                \
	const int count = (total)-first < ELEM_BLOCK ? (total)-first :         \
						       ELEM_BLOCK;             \
	SYNC();                                                                \
	THREADS(i##_, count)                                                   \
		for (int i = first + i##_, once = 1; once; once = 0)

#define GELU_C 0.797884561f

KERNEL(gelu, elem)
{
	BLOCK_ELEMS(i, a.n) {
		const float x = a.x[i];

		a.out[i] = 0.5f * x *
			   (1.0f + dev_tanh(GELU_C *
					    (x + 0.044715f * x * x * x)));
	}
}

/* out = dy times the derivative at x; y is dy. */
KERNEL(gelu_grad, elem)
{
	BLOCK_ELEMS(i, a.n) {
		const float x = a.x[i];
		const float t = dev_tanh(GELU_C *
					 (x + 0.044715f * x * x * x));

		a.out[i] = a.y[i] * (0.5f * (1.0f + t) +
				     0.5f * x * (1.0f - t * t) * GELU_C *
					     (1.0f + 0.134145f * x * x));
	}
}

KERNEL(add, elem)
{
	BLOCK_ELEMS(i, a.n)
		a.out[i] = a.x[i] + a.y[i];
}

KERNEL(columns, columns)
{
	SYNC();
	THREADS(j, a.width)
		a.out[j] = 0;
	SYNC();
	for (int r = 0; r < a.rows; r++)
		THREADS(j, a.width)
			a.out[j] += a.x[r * a.width + j];
}

KERNEL(loss, loss)
{
	SYNC();
	BLOCK_ROWS(r, a.rows) {
		float *x = a.x + r * a.vocab, top = x[0], sum;
		const float hit = x[a.target[r]];
		int j;

		for (j = 1; j < a.vocab; j++)
			top = x[j] > top ? x[j] : top;
		for (j = 0; j < a.vocab; j++)
			x[j] = dev_exp(x[j] - top);
		sum = dev_dot(x, 0, a.vocab);
		a.loss[r] = dev_log(sum) + top - hit;
		for (j = 0; j < a.vocab; j++)
			x[j] = x[j] / sum * a.scale;
		x[a.target[r]] -= a.scale;
	}
}

KERNEL(adamw, adamw)
{
	BLOCK_ELEMS(i, a.n) {
		const float g = a.g[i] * a.scale;
		const float m = a.beta1 * a.m[i] + (1.0f - a.beta1) * g;
		const float v = a.beta2 * a.v[i] + (1.0f - a.beta2) * g * g;

		a.m[i] = m;
		a.v[i] = v;
		a.p[i] -= a.lr * (m / a.correct1 /
				  (sqrtf(v / a.correct2) + a.eps) +
				  a.decay * a.p[i]);
	}
}

#ifndef __CUDACC__
#ifndef KERNELS_ISA
#define KERNELS_ISA "generic"
#endif

static const struct softcuda_kernel table[] = {
	ENTRY(gemm, gemm)
	ENTRY(embed, embed)
	ENTRY(embed_grad, embed_grad)
	ENTRY(layernorm, layernorm)
	ENTRY(layernorm_grad, layernorm_grad)
	ENTRY(layernorm_params, layernorm_params)
	ENTRY(softmax, softmax)
	ENTRY(softmax_grad, softmax_grad)
	ENTRY(gelu, elem)
	ENTRY(gelu_grad, elem)
	ENTRY(add, elem)
	ENTRY(columns, columns)
	ENTRY(loss, loss)
	ENTRY(adamw, adamw)
};

extern const struct softcuda_module softcuda_module;
__attribute__((visibility("default")))
const struct softcuda_module softcuda_module = {
	SOFTCUDA_MAGIC, SOFTCUDA_VERSION, sizeof(table) / sizeof(*table),
	KERNELS_ISA, table,
};
#endif
