/* check.c - the gradients against finite differences of the loss
 * SPDX-License-Identifier: MIT
 *
 * For each tensor one random direction: the difference quotient of the loss
 * along it must be the gradient's share of it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train.h"

struct tensor {
	const char *name;
	size_t at, n;
};

static size_t tensors(const struct model *m, struct tensor *t)
{
	const size_t c = (size_t)m->width;
	size_t n = 0;
	int l;

	t[n++] = (struct tensor){ "tok", m->tok, (size_t)m->vocab * c };
	t[n++] = (struct tensor){ "pos", m->pos, (size_t)m->seq * c };
	for (l = 0; l < m->layers; l++) {
		const struct layer *w = &m->at[l];

		t[n++] = (struct tensor){ "ln1 gain", w->ln1g, c };
		t[n++] = (struct tensor){ "ln1 bias", w->ln1b, c };
		t[n++] = (struct tensor){ "qkv", w->wqkv, 3 * c * c };
		t[n++] = (struct tensor){ "qkv bias", w->bqkv, 3 * c };
		t[n++] = (struct tensor){ "out", w->wo, c * c };
		t[n++] = (struct tensor){ "out bias", w->bo, c };
		t[n++] = (struct tensor){ "ln2 gain", w->ln2g, c };
		t[n++] = (struct tensor){ "ln2 bias", w->ln2b, c };
		t[n++] = (struct tensor){ "up", w->w1, 4 * c * c };
		t[n++] = (struct tensor){ "up bias", w->b1, 4 * c };
		t[n++] = (struct tensor){ "down", w->w2, 4 * c * c };
		t[n++] = (struct tensor){ "down bias", w->b2, c };
	}
	t[n++] = (struct tensor){ "lnf gain", m->lnfg, c };
	t[n++] = (struct tensor){ "lnf bias", m->lnfb, c };
	t[n++] = (struct tensor){ "head", m->head, c * (size_t)m->vocab };
	return n;
}

static double loss_at(struct model *m, const float *p, const float *d,
		      const struct tensor *t, float eps, const int *batch)
{
	float *q = malloc(t->n * sizeof(*q));
	double loss;
	size_t i;

	for (i = 0; i < t->n; i++)
		q[i] = p[t->at + i] + eps * d[i];
	model_put(m, q, t->at, t->n);
	loss = pass_step(m, batch, false);
	model_put(m, p + t->at, t->at, t->n);
	free(q);
	return loss;
}

static bool tensor_agrees(struct model *m, const float *p, const float *g,
			  const struct tensor *t, const int *batch)
{
	const float eps = 3e-3f;
	float *d = malloc(t->n * sizeof(*d));
	double along = 0, size = 0, quotient, error;
	uint64_t s = t->at + 99;
	size_t i;

	/* Along the gradient, and a bit off, so that both are well above the
	 * rounding of the loss. */
	for (i = 0; i < t->n; i++)
		size += (double)g[t->at + i] * (double)g[t->at + i];
	size = sqrt(size) + 1e-30;
	for (i = 0; i < t->n; i++) {
		s = s * UINT64_C(6364136223846793005) + 1;
		d[i] = (float)((double)g[t->at + i] / size) +
		       0.5f * ((float)(s >> 40) / 16777216.0f - 0.5f) /
			       sqrtf((float)t->n);
		along += (double)d[i] * (double)g[t->at + i];
	}
	quotient = (loss_at(m, p, d, t, eps, batch) -
		    loss_at(m, p, d, t, -eps, batch)) / (2.0 * (double)eps);
	error = fabs(quotient - along) / (fabs(along) + 1e-3);
	free(d);
	printf("%-10s gradient %10.6f difference %10.6f error %.4f%s\n",
	       t->name, along, quotient, error, error < 0.02 ? "" : "  WRONG");
	return error < 0.02;
}

int check_gradients(void)
{
	static struct tensor t[16 * LAYERS_MAX];
	struct model m;
	size_t n, i;
	float *p, *g;
	int *batch, wrong = 0, r;

	train.o.batch = 3;
	train.o.seq = 11;
	train.o.width = 24;
	train.o.heads = 3;
	train.o.layers = 2;
	train.o.vocab = 32;
	train.o.step_s = 0;
	model_shape(&m, &train.o);
	device_open(1e12);
	model_open(&m);
	model_init_parameters(&m, 5);
	p = malloc(m.n * sizeof(*p));
	g = malloc(m.n * sizeof(*g));
	batch = malloc(2 * (size_t)m.rows * sizeof(*batch));
	for (r = 0; r < 2 * m.rows; r++)
		batch[r] = (r * 7 + r * r / 3) % m.vocab;
	model_get(&m, p, 0, m.n);
	printf("loss %.6f on %s\n", pass_step(&m, batch, true), device_name);
	memcpy(g, m.host, m.n * sizeof(*g));
	n = tensors(&m, t);
	for (i = 0; i < n; i++)
		wrong += !tensor_agrees(&m, p, g, &t[i], batch);
	printf("%zu tensors, %d wrong\n", n, wrong);
	free(p);
	free(g);
	free(batch);
	model_close(&m);
	device_close();
	return wrong ? TRAIN_FAILED : 0;
}
