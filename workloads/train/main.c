/* main.c - the training job: a small transformer, data parallel, restartable
 * SPDX-License-Identifier: MIT
 *
 * Real training whose every rank tells what it does through progress.h, so that
 * a drill can break it and count what that cost. Started again on the same
 * store it goes on from the newest valid checkpoint, bit for bit.
 */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "train.h"

struct train train;

__attribute__((format(printf, 1, 0)))
static void say(const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "train: rank %d: %s\n", train.rank, text);
}

void train_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

/* Not through exit(): MPI must see a rank that died, and no thread is asked. */
void train_die(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	faultdrill_put(train.ring, FAULTDRILL_RANK_END, 0, status, 0, 0, 0, 0,
		       NULL);
	_exit(status);
}

static void find_home(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n <= 0)
		train_die(TRAIN_FAILED, "where is this program?");
	slash = strrchr(path, '/');
	*slash = 0;
	train.home = path;
	if (asprintf(&train.software, "%s/softcuda/libcuda.so.1", path) < 0)
		train_die(TRAIN_FAILED, "no memory");
}

static void phase(enum faultdrill_phase p, bool begin)
{
	static const char *const names[] = {
		[FAULTDRILL_INIT] = "init", [FAULTDRILL_CONNECT] = "connect",
		[FAULTDRILL_DATA] = "data", [FAULTDRILL_COMPUTE] = "compute",
		[FAULTDRILL_COMM] = "comm",
		[FAULTDRILL_CHECKPOINT] = "checkpoint",
		[FAULTDRILL_RESTORE] = "restore",
	};

	train.doing = begin ? names[p] : NULL;
	if (begin)
		faultdrill_phase_begin(train.ring, p);
	else
		faultdrill_phase_end(train.ring, p);
}

static void emit_state(struct model *m, int64_t step, struct sampler s)
{
	float *state = malloc(3 * m->n * sizeof(*state));
	uint64_t p, o, h;

	if (!state)
		train_die(TRAIN_FAILED, "no memory for the final state");
	model_get(m, state, 0, 3 * m->n);
	p = train_hash(state, m->n * sizeof(*state));
	o = train_hash(state + m->n, 2 * m->n * sizeof(*state));
	h = train_hash(&s, sizeof(s));
	free(state);
	faultdrill_state_hash(train.ring, step, FAULTDRILL_PARAMETERS, p);
	faultdrill_state_hash(train.ring, step, FAULTDRILL_OPTIMIZER, o);
	faultdrill_state_hash(train.ring, step, FAULTDRILL_SAMPLER, h);
	if (!train.rank)
		printf("state step %lld parameters %016llx optimizer %016llx "
		       "sampler %016llx\n",
		       (long long)step, (unsigned long long)p,
		       (unsigned long long)o, (unsigned long long)h);
}

/* What travels with the gradients: the loss and the checkpoint's votes. */
static double sum_gradients(struct model *m, double loss)
{
	float *extra = m->host + m->n;

	phase(FAULTDRILL_COMM, true);
	extra[EXTRA_LOSS] = (float)loss;
	ckpt_votes(&extra[EXTRA_DURABLE], &extra[EXTRA_FAILED]);
	comm_sum(m->host, m->n + EXTRA_SUMS);
	ckpt_counted(extra[EXTRA_DURABLE], extra[EXTRA_FAILED]);
	phase(FAULTDRILL_COMM, false);
	return (double)extra[EXTRA_LOSS] / train.world;
}

/* Numbers that are none are noticed once; the run goes on as users' runs do. */
static void check_numbers(double loss)
{
	static bool said;

	if (isfinite(loss) || said)
		return;
	said = true;
	faultdrill_detected(train.ring, FAULTDRILL_BY_NUMERICS, -1,
			    "loss not finite");
	train_say("loss is not finite");
}

/* One training step; the mean loss over all ranks, this rank's in *own. */
static double step(struct model *m, int64_t s, double *own)
{
	const int *batch;
	double mean;

	phase(FAULTDRILL_DATA, true);
	batch = data_next();
	phase(FAULTDRILL_DATA, false);
	phase(FAULTDRILL_COMPUTE, true);
	*own = pass_step(m, batch, true);
	phase(FAULTDRILL_COMPUTE, false);
	mean = sum_gradients(m, *own);
	phase(FAULTDRILL_COMPUTE, true);
	pass_update(m, s, 1.0f / (float)train.world);
	CU(cuStreamSynchronize, m->stream);
	phase(FAULTDRILL_COMPUTE, false);
	check_numbers(mean);
	return mean;
}

static bool checkpoint_due(int64_t s)
{
	return train.o.checkpoint_every && s % train.o.checkpoint_every == 0;
}

/* What was not compared is not kept, and the end is kept too. */
static bool hash_due(int64_t s)
{
	return train.o.hash_every && (s % train.o.hash_every == 0 ||
				      checkpoint_due(s) || s == train.o.steps);
}

static void train_on(struct model *m, int64_t from, struct sampler *at)
{
	const struct train_options *o = &train.o;
	int64_t s, t0 = faultdrill_now(), t1, last = from;
	double mean, own;

	for (s = from + 1; s <= o->steps; s++) {
		const int64_t mine = at->next + (int64_t)train.rank * o->batch;

		train.step = s;
		faultdrill_step_begin(train.ring, s);
		mean = step(m, s, &own);
		at->next += (int64_t)o->batch * train.world;
		faultdrill_step_end(train.ring, s, m->rows, mine, o->batch,
				    own);
		if (hash_due(s)) {
			phase(FAULTDRILL_COMM, true);
			replica_compare(m, s);
			phase(FAULTDRILL_COMM, false);
		}
		if (checkpoint_due(s)) {
			phase(FAULTDRILL_CHECKPOINT, true);
			ckpt_take(s, *at);
			phase(FAULTDRILL_CHECKPOINT, false);
		}
		if (train.rank || s % o->log_every)
			continue;
		t1 = faultdrill_now();
		printf("step %lld loss %.4f %.1f ms a step\n", (long long)s,
		       mean, (double)(t1 - t0) / 1e6 / (double)(s - last));
		fflush(stdout);
		t0 = t1;
		last = s;
	}
}

/* After the last step: until every checkpoint taken is committed or failed. */
static void settle(void)
{
	const struct timespec nap = { 0, 1000000 };
	float votes[2];

	phase(FAULTDRILL_CHECKPOINT, true);
	while (ckpt_pending()) {
		ckpt_votes(&votes[0], &votes[1]);
		comm_sum(votes, 2);
		ckpt_counted(votes[0], votes[1]);
		nanosleep(&nap, NULL);
	}
	ckpt_close();
	comm_barrier();
	phase(FAULTDRILL_CHECKPOINT, false);
}

static void open_all(struct model *m)
{
	phase(FAULTDRILL_INIT, true);
	store_open();
	model_shape(m, &train.o);
	device_open(train.o.step_s > 0 ? pass_flops(m) / train.o.step_s : 1e12);
	model_open(m);
	model_init_parameters(m, train.o.seed);
	phase(FAULTDRILL_INIT, false);
}

static int64_t restore(struct model *m, struct sampler *at)
{
	int64_t from;

	phase(FAULTDRILL_RESTORE, true);
	ckpt_open(m);
	from = ckpt_restore(m, at);
	faultdrill_restore_done(train.ring, from);
	phase(FAULTDRILL_RESTORE, false);
	if (!train.rank && from)
		printf("restored step %lld\n", (long long)from);
	return from;
}

static void run(void)
{
	struct sampler at = { train.o.seed, 0 };
	struct model m;
	int64_t from;

	open_all(&m);
	from = restore(&m, &at);
	phase(FAULTDRILL_INIT, true);
	data_open(&at);
	phase(FAULTDRILL_INIT, false);
	if (!train.rank)
		printf("%zu parameters, %d ranks, from step %lld, on %s\n", m.n,
		       train.world, (long long)from, device_name);
	train_on(&m, from, &at);
	settle();
	emit_state(&m, train.o.steps > from ? train.o.steps : from, at);
	data_close();
	model_close(&m);
	device_close();
}

int main(int argc, char **argv)
{
	const char *why;

	find_home();
	options_parse(argc, argv, &train.o);
	if (train.o.self_test)
		return check_gradients();
	prctl(PR_SET_TIMERSLACK, 1000); /* short naps in collectives are short */
	train.ring = faultdrill_open(-1, -1, -1);
	if (!train.ring && errno)
		train_say("unwatched: %s: %s", getenv("FAULTDRILL_RING"),
			  strerror(errno));
	phase(FAULTDRILL_CONNECT, true);
	comm_init(&argc, &argv);
	phase(FAULTDRILL_CONNECT, false);
	why = layout_check(&train.o.layout, train.world);
	if (why)
		train_die(TRAIN_USAGE, "%s", why);
	watch_open();
	run();
	watch_close();
	comm_close();
	faultdrill_close(train.ring, 0);
	return 0;
}
