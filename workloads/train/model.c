/* model.c - where the transformer's parameters and activations lie
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "train.h"

static size_t take(size_t *at, size_t n)
{
	size_t here = *at;

	*at += n;
	return here;
}

static void layer_shape(struct layer *l, size_t *at, size_t c)
{
	l->ln1g = take(at, c);
	l->ln1b = take(at, c);
	l->wqkv = take(at, 3 * c * c);
	l->bqkv = take(at, 3 * c);
	l->wo = take(at, c * c);
	l->bo = take(at, c);
	l->ln2g = take(at, c);
	l->ln2b = take(at, c);
	l->w1 = take(at, 4 * c * c);
	l->b1 = take(at, 4 * c);
	l->w2 = take(at, 4 * c * c);
	l->b2 = take(at, c);
}

/* Device memory is one allocation; the next piece of it. */
static float *piece(float **at, size_t n)
{
	float *here = *at;

	*at += (n + 63) / 64 * 64;
	return here;
}

static void layer_place(const struct model *m, struct layer_acts *a, float **at)
{
	const size_t r = (size_t)m->rows, rc = r * (size_t)m->width;

	a->x = piece(at, rc);
	a->ln1 = piece(at, rc);
	a->mean1 = piece(at, r);
	a->rstd1 = piece(at, r);
	a->qkv = piece(at, 3 * rc);
	a->p = piece(at, r * (size_t)m->heads * (size_t)m->seq);
	a->o = piece(at, rc);
	a->x2 = piece(at, rc);
	a->ln2 = piece(at, rc);
	a->mean2 = piece(at, r);
	a->rstd2 = piece(at, r);
	a->h = piece(at, 4 * rc);
	a->hg = piece(at, 4 * rc);
}

/* Gives every pointer its place from `at` on; the bytes that takes. */
static size_t place(struct model *m, float *at)
{
	const size_t r = (size_t)m->rows, rc = r * (size_t)m->width;
	const char *begin = (char *)at;
	int l;

	m->p = piece(&at, 3 * m->n);
	m->m = m->p + m->n;
	m->v = m->m + m->n;
	m->g = piece(&at, m->n);
	m->token = (int *)piece(&at, 2 * r);
	m->target = m->token + r;
	for (l = 0; l < m->layers; l++)
		layer_place(m, &m->act[l], &at);
	m->xf = piece(&at, rc);
	m->lnf = piece(&at, rc);
	m->meanf = piece(&at, r);
	m->rstdf = piece(&at, r);
	m->logits = piece(&at, r * (size_t)m->vocab);
	m->loss = piece(&at, r);
	m->dx = piece(&at, rc);
	m->d1 = piece(&at, rc);
	m->d3 = piece(&at, 3 * rc);
	m->d4 = piece(&at, 4 * rc);
	m->dp = piece(&at, r * (size_t)m->heads * (size_t)m->seq);
	return (size_t)((char *)at - begin);
}

/* The pointers are placed at no real address: good for counting only. */
void model_shape(struct model *m, const struct train_options *o)
{
	const size_t c = (size_t)o->width;
	int l;

	*m = (struct model){
		.batch = o->batch, .seq = o->seq, .width = o->width,
		.layers = o->layers, .heads = o->heads, .vocab = o->vocab,
		.rows = o->batch * o->seq,
	};
	m->tok = take(&m->n, (size_t)o->vocab * c);
	m->pos = take(&m->n, (size_t)o->seq * c);
	for (l = 0; l < o->layers; l++)
		layer_shape(&m->at[l], &m->n, c);
	m->lnfg = take(&m->n, c);
	m->lnfb = take(&m->n, c);
	m->head = take(&m->n, c * (size_t)o->vocab);
	m->bytes = place(m, (float *)4096);
}

static void *pinned(size_t n)
{
	void *p;

	CU(cuMemAllocHost_v2, &p, n * 4);
	return p;
}

void model_open(struct model *m)
{
	const size_t r = (size_t)m->rows;
	CUdeviceptr base;
	char path[4096];

	snprintf(path, sizeof(path), "%s/train-kernels.fatbin", train.home);
	CU(cuModuleLoad, &m->module, path);
	CU(cuStreamCreate, &m->stream, CU_STREAM_NON_BLOCKING);
	base = device_alloc(m->bytes);
	place(m, (float *)(uintptr_t)base);
	m->host = pinned(m->n + EXTRA_SUMS);
	m->host_loss = pinned(r);
	m->host_batch = pinned(2 * r);
}

void model_close(struct model *m)
{
	CU(cuStreamSynchronize, m->stream);
	CU(cuStreamDestroy_v2, m->stream);
	CU(cuModuleUnload, m->module);
	CU(cuMemFree_v2, (CUdeviceptr)(uintptr_t)m->p);
	CU(cuMemFreeHost, m->host);
	CU(cuMemFreeHost, m->host_loss);
	CU(cuMemFreeHost, m->host_batch);
}

/* Nearly normal, without the C library: the sum of four uniforms. */
static float draw(uint64_t *s, float sigma)
{
	float sum = 0;
	int i;

	for (i = 0; i < 4; i++) {
		*s = *s * UINT64_C(6364136223846793005) +
		     UINT64_C(1442695040888963407);
		sum += (float)(*s >> 40) * (1.0f / 16777216.0f) - 0.5f;
	}
	return sum * 1.7320508f * sigma;
}

static void fill(float *p, size_t at, size_t n, float sigma, uint64_t *s)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[at + i] = draw(s, sigma);
}

static void ones(float *p, size_t at, size_t n)
{
	while (n--)
		p[at++] = 1.0f;
}

void model_init_parameters(struct model *m, uint64_t seed)
{
	const size_t c = (size_t)m->width;
	float *p = calloc(3 * m->n, sizeof(*p));
	uint64_t s = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	int l;

	if (!p)
		train_die(TRAIN_FAILED, "no memory for the parameters");
	fill(p, m->tok, (size_t)m->vocab * c, 0.05f, &s);
	fill(p, m->pos, (size_t)m->seq * c, 0.02f, &s);
	for (l = 0; l < m->layers; l++) {
		const struct layer *a = &m->at[l];

		ones(p, a->ln1g, c);
		ones(p, a->ln2g, c);
		fill(p, a->wqkv, 3 * c * c, 0.06f, &s);
		fill(p, a->wo, c * c, 0.04f, &s);
		fill(p, a->w1, 4 * c * c, 0.06f, &s);
		fill(p, a->w2, 4 * c * c, 0.03f, &s);
	}
	ones(p, m->lnfg, c);
	fill(p, m->head, c * (size_t)m->vocab, 0.05f, &s);
	model_put(m, p, 0, 3 * m->n);
	free(p);
}

void model_get(struct model *m, float *host, size_t first, size_t n)
{
	CU(cuMemcpyDtoHAsync_v2, host, (CUdeviceptr)(uintptr_t)(m->p + first),
	   n * sizeof(float), m->stream);
	CU(cuStreamSynchronize, m->stream);
}

/* By way of a second copy on the device, as frameworks load a checkpoint: this
 * is where a device that just had room for the training runs out of it. */
void model_restore(struct model *m, const float *host, size_t n)
{
	CUdeviceptr copy = device_alloc(n * sizeof(float));

	CU(cuMemcpyHtoDAsync_v2, copy, host, n * sizeof(float), m->stream);
	CU(cuMemcpyDtoDAsync_v2, (CUdeviceptr)(uintptr_t)m->p, copy,
	   n * sizeof(float), m->stream);
	CU(cuStreamSynchronize, m->stream);
	CU(cuMemFree_v2, copy);
}

void model_put(struct model *m, const float *host, size_t first, size_t n)
{
	CU(cuMemcpyHtoDAsync_v2, (CUdeviceptr)(uintptr_t)(m->p + first), host,
	   n * sizeof(float), m->stream);
	CU(cuStreamSynchronize, m->stream);
}
