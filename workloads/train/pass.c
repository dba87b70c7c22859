/* pass.c - forward and backward pass and the update, as kernel launches
 * SPDX-License-Identifier: MIT
 *
 * Rows are the tokens of the batch, one sequence after another.
 */
#include <string.h>

#include "train.h"

static CUfunction function(struct model *m, const char *name)
{
	CUfunction f;

	CU(cuModuleGetFunction, &f, m->module, name);
	return f;
}

static void launch(struct model *m, CUfunction *f, const char *name, int gx,
		   int gy, int gz, void *args, double flops)
{
	void *params[] = { args };

	if (m->dry) {
		m->flops += flops;
		return;
	}
	if (!*f)
		*f = function(m, name);
	CU(cuLaunchKernel, *f, (unsigned int)gx, (unsigned int)gy,
	   (unsigned int)gz, 64, 1, 1, 0, m->stream, params, NULL);
}

/* One function handle a kernel, asked for once: there is one model. */
#define LAUNCH(m, name, gx, gy, gz, args)                                      \
	do {                                                                   \
		static CUfunction f_##name;                                    \
		launch(m, &f_##name, #name, gx, gy, gz, args,                  \
		       name##_flops(args));                                    \
	} while (0)

static int blocks(int n, int of)
{
	return (n + of - 1) / of;
}

static void gemm(struct model *m, struct gemm a)
{
	if (!a.heads)
		a.heads = 1;
	if (!a.batch)
		a.batch = 1;
	LAUNCH(m, gemm, blocks(a.n, GEMM_TILE), blocks(a.m, GEMM_TILE),
	       a.batch * a.heads, &a);
}

/* y = x W + b */
static void linear(struct model *m, const float *x, int in, size_t w,
		   const float *bias, int out, float *y)
{
	gemm(m, (struct gemm){ .a = x, .b = m->p + w, .bias = bias, .c = y,
			       .m = m->rows, .n = out, .k = in, .ai = in,
			       .ak = 1, .bk = out, .bj = 1, .ci = out,
			       .alpha = 1 });
}

/* dx = dy W^T, dW = x^T dy, db = columns of dy */
static void linear_grad(struct model *m, const float *x, int in, size_t w,
			size_t bias, const float *dy, int out, float *dx)
{
	struct columns c = { dy, m->g + bias, m->rows, out };

	gemm(m, (struct gemm){ .a = dy, .b = m->p + w, .c = dx, .m = m->rows,
			       .n = in, .k = out, .ai = out, .ak = 1, .bk = 1,
			       .bj = out, .ci = in, .alpha = 1 });
	gemm(m, (struct gemm){ .a = x, .b = dy, .c = m->g + w, .m = in,
			       .n = out, .k = m->rows, .ai = 1, .ak = in,
			       .bk = out, .bj = 1, .ci = out, .alpha = 1 });
	if (bias)
		LAUNCH(m, columns, 1, 1, 1, &c);
}

static void normalise(struct model *m, const float *x, size_t gain, size_t bias,
		      float *y, float *mean, float *rstd)
{
	struct layernorm a = { x, m->p + gain, m->p + bias, y, mean, rstd,
			       m->rows, m->width };

	LAUNCH(m, layernorm, blocks(m->rows, ROW_BLOCK), 1, 1, &a);
}

/* Adds to dx; what dx holds already is the way around the block. */
static void normalise_grad(struct model *m, const float *x, size_t gain,
			   size_t bias, const float *mean, const float *rstd,
			   const float *dy)
{
	struct layernorm_grad a = { x, m->p + gain, mean, rstd, dy, m->dx,
				    m->rows, m->width };
	struct layernorm_params b = { x, mean, rstd, dy, m->g + gain,
				      m->g + bias, m->rows, m->width };

	LAUNCH(m, layernorm_params, 1, 1, 1, &b);
	LAUNCH(m, layernorm_grad, blocks(m->rows, ROW_BLOCK), 1, 1, &a);
}

static void add(struct model *m, const float *x, const float *y, float *out)
{
	struct elem a = { x, y, out, m->rows * m->width };

	LAUNCH(m, add, blocks(a.n, ELEM_BLOCK), 1, 1, &a);
}

/* A product of attention: what is common to all, one batch a sequence. */
static struct gemm product(struct model *m, int n, int k, float alpha)
{
	return (struct gemm){ .m = m->seq, .n = n, .k = k, .alpha = alpha,
			      .heads = m->heads, .batch = m->batch };
}


static void attention(struct model *m, struct layer_acts *a)
{
	const int c = m->width, t = m->seq, d = c / m->heads;
	struct softmax s = { a->p, m->rows * m->heads, t };
	struct gemm g = product(m, t, d, 1.0f / __builtin_sqrtf((float)d));

	g.a = a->qkv, g.ai = 3 * c, g.ak = 1, g.az = 3 * t * c, g.ah = d;
	g.b = a->qkv + c, g.bk = 1, g.bj = 3 * c, g.bz = 3 * t * c, g.bh = d;
	g.c = a->p, g.ci = t, g.cz = m->heads * t * t, g.ch = t * t;
	gemm(m, g);
	LAUNCH(m, softmax, blocks(s.rows, ROW_BLOCK), 1, 1, &s);
	g = product(m, d, t, 1);
	g.a = a->p, g.ai = t, g.ak = 1, g.az = m->heads * t * t, g.ah = t * t;
	g.b = a->qkv + 2 * c, g.bk = 3 * c, g.bj = 1, g.bz = 3 * t * c,
	g.bh = d;
	g.c = a->o, g.ci = c, g.cz = t * c, g.ch = d;
	gemm(m, g);
}

/* From the gradient of o in d1 to that of qkv in d3. */
static void attention_grad(struct model *m, struct layer_acts *a)
{
	const int c = m->width, t = m->seq, d = c / m->heads;
	const int square = t * t, squares = m->heads * t * t;
	struct softmax_grad s = { a->p, m->dp, m->rows * m->heads, t,
				  1.0f / __builtin_sqrtf((float)d) };
	struct gemm g = product(m, t, d, 1);

	/* dP = dO V^T */
	g.a = m->d1, g.ai = c, g.ak = 1, g.az = t * c, g.ah = d;
	g.b = a->qkv + 2 * c, g.bk = 1, g.bj = 3 * c, g.bz = 3 * t * c,
	g.bh = d;
	g.c = m->dp, g.ci = t, g.cz = squares, g.ch = square;
	gemm(m, g);
	/* dV = P^T dO */
	g = product(m, d, t, 1);
	g.a = a->p, g.ai = 1, g.ak = t, g.az = squares, g.ah = square;
	g.b = m->d1, g.bk = c, g.bj = 1, g.bz = t * c, g.bh = d;
	g.c = m->d3 + 2 * c, g.ci = 3 * c, g.cz = 3 * t * c, g.ch = d;
	gemm(m, g);
	LAUNCH(m, softmax_grad, blocks(s.rows, ROW_BLOCK), 1, 1, &s);
	/* dQ = dS K */
	g.a = m->dp, g.ai = t, g.ak = 1;
	g.b = a->qkv + c, g.bk = 3 * c, g.bz = 3 * t * c;
	g.c = m->d3;
	gemm(m, g);
	/* dK = dS^T Q */
	g.ai = 1, g.ak = t;
	g.b = a->qkv;
	g.c = m->d3 + c;
	gemm(m, g);
}

static void layer_forward(struct model *m, int l, float *next)
{
	const int c = m->width;
	const struct layer *w = &m->at[l];
	struct layer_acts *a = &m->act[l];
	struct elem e = { a->h, NULL, a->hg, 4 * m->rows * c };

	normalise(m, a->x, w->ln1g, w->ln1b, a->ln1, a->mean1, a->rstd1);
	linear(m, a->ln1, c, w->wqkv, m->p + w->bqkv, 3 * c, a->qkv);
	attention(m, a);
	linear(m, a->o, c, w->wo, m->p + w->bo, c, m->d1);
	add(m, a->x, m->d1, a->x2);
	normalise(m, a->x2, w->ln2g, w->ln2b, a->ln2, a->mean2, a->rstd2);
	linear(m, a->ln2, c, w->w1, m->p + w->b1, 4 * c, a->h);
	LAUNCH(m, gelu, blocks(e.n, ELEM_BLOCK), 1, 1, &e);
	linear(m, a->hg, 4 * c, w->w2, m->p + w->b2, c, m->d1);
	add(m, a->x2, m->d1, next);
}

static void layer_backward(struct model *m, int l)
{
	const int c = m->width;
	const struct layer *w = &m->at[l];
	struct layer_acts *a = &m->act[l];
	struct elem e = { a->h, m->d4, m->d4, 4 * m->rows * c };

	linear_grad(m, a->hg, 4 * c, w->w2, w->b2, m->dx, c, m->d4);
	LAUNCH(m, gelu_grad, blocks(e.n, ELEM_BLOCK), 1, 1, &e);
	linear_grad(m, a->ln2, c, w->w1, w->b1, m->d4, 4 * c, m->d1);
	normalise_grad(m, a->x2, w->ln2g, w->ln2b, a->mean2, a->rstd2, m->d1);
	linear_grad(m, a->o, c, w->wo, w->bo, m->dx, c, m->d1);
	attention_grad(m, a);
	linear_grad(m, a->ln1, c, w->wqkv, w->bqkv, m->d3, 3 * c, m->d1);
	normalise_grad(m, a->x, w->ln1g, w->ln1b, a->mean1, a->rstd1, m->d1);
}

void pass_forward(struct model *m)
{
	struct embed e = { m->token, m->p + m->tok, m->p + m->pos,
			   m->act[0].x, m->rows, m->seq, m->width };
	struct loss s = { m->logits, m->target, m->loss, m->rows, m->vocab,
			  1.0f / (float)m->rows };
	int l;

	LAUNCH(m, embed, blocks(m->rows, ROW_BLOCK), 1, 1, &e);
	for (l = 0; l < m->layers; l++)
		layer_forward(m, l, l + 1 < m->layers ? m->act[l + 1].x :
							m->xf);
	normalise(m, m->xf, m->lnfg, m->lnfb, m->lnf, m->meanf, m->rstdf);
	linear(m, m->lnf, m->width, m->head, NULL, m->vocab, m->logits);
	LAUNCH(m, loss, blocks(m->rows, ROW_BLOCK), 1, 1, &s);
}

/* The loss kernel has left the gradient of the logits in their place. */
void pass_backward(struct model *m)
{
	struct embed_grad e = { m->token, m->dx, m->g + m->tok, m->g + m->pos,
				m->rows, m->seq, m->width, m->vocab };
	int l;

	linear_grad(m, m->lnf, m->width, m->head, 0, m->logits, m->vocab,
		    m->d1);
	if (!m->dry)
		CU(cuMemsetD32Async, (CUdeviceptr)(uintptr_t)m->dx, 0,
		   (size_t)m->rows * (size_t)m->width, m->stream);
	normalise_grad(m, m->xf, m->lnfg, m->lnfb, m->meanf, m->rstdf, m->d1);
	for (l = m->layers - 1; l >= 0; l--)
		layer_backward(m, l);
	LAUNCH(m, embed_grad, m->vocab + m->seq, 1, 1, &e);
}

static float power(double x, int64_t n)
{
	double y = 1;

	for (; n; n >>= 1, x *= x)
		if (n & 1)
			y *= x;
	return (float)y;
}

/* The host's summed gradients, times scale, move the parameters. */
void pass_update(struct model *m, int64_t step, float scale)
{
	const float warm = step < 20 ? (float)step / 20.0f : 1.0f;
	struct adamw a = {
		.p = m->p, .m = m->m, .v = m->v, .g = m->g, .n = (int)m->n,
		.lr = (float)train.o.lr * warm, .beta1 = 0.9f, .beta2 = 0.99f,
		.eps = 1e-8f, .decay = 0.01f, .scale = scale,
		.correct1 = 1.0f - power(0.9, step),
		.correct2 = 1.0f - power(0.99, step),
	};

	if (!m->dry)
		CU(cuMemcpyHtoDAsync_v2, (CUdeviceptr)(uintptr_t)m->g, m->host,
		   m->n * sizeof(float), m->stream);
	LAUNCH(m, adamw, blocks(a.n, ELEM_BLOCK), 1, 1, &a);
}

double pass_step(struct model *m, const int *tokens, bool backward)
{
	const size_t rows = (size_t)m->rows;
	double sum = 0;
	int r;

	memcpy(m->host_batch, tokens, 2 * rows * sizeof(int));
	CU(cuMemcpyHtoDAsync_v2, (CUdeviceptr)(uintptr_t)m->token,
	   m->host_batch, 2 * rows * sizeof(int), m->stream);
	pass_forward(m);
	if (backward) {
		pass_backward(m);
		CU(cuMemcpyDtoHAsync_v2, m->host, (CUdeviceptr)(uintptr_t)m->g,
		   m->n * sizeof(float), m->stream);
	}
	CU(cuMemcpyDtoHAsync_v2, m->host_loss, (CUdeviceptr)(uintptr_t)m->loss,
	   rows * sizeof(float), m->stream);
	CU(cuStreamSynchronize, m->stream);
	for (r = 0; r < m->rows; r++)
		sum += (double)m->host_loss[r];
	return sum / m->rows;
}

double pass_flops(struct model *m)
{
	m->dry = true;
	m->flops = 0;
	pass_forward(m);
	pass_backward(m);
	pass_update(m, 1, 1);
	m->dry = false;
	return m->flops;
}
