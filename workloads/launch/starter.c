/* starter.c - launch-rank: starts one rank, and speaks for it to the launcher
 * SPDX-License-Identifier: MIT
 *
 *   launch-rank --hosts h0,h1 --ppn K --dir TRIALDIR [options] -- CMD ARGS...
 *   launch-rank --fence JOB ATTEMPT [MS]
 *   launch-rank --health ...               (starter_health.c)
 *
 * mpirun starts it in the place of the rank; mpirun's environment says which
 * rank it is. It never outlives the launcher, its own parent or its rank, and
 * ends as its rank did. Libc only: it is copied to hosts that have nothing.
 */
#include "starter.h"
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often the ring is looked at; a beat is sent when the watchdog's word
 * changed, else every heartbeat. */
#define LOOK_MS 50
/* A rank that failed is mourned this long, so that the launcher sees the others
 * as they were before mpirun ends them all. */
#define LINGER_MS 3000
#define CONNECT_MS 10000

struct life {
	const struct starter *s;
	int sock, sigfd, ring_fd;
	char ring[4096];
	char in[LAUNCH_LINE];
	size_t in_len;
	pid_t rank, parent;
	bool over, told, reported;
	int status;
	int64_t now, beat_ns, kill_ns, leave_ns;
	int64_t word; /* the watchdog's, as sent last */
};

static _Noreturn void die(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static _Noreturn void die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	dprintf(2, "launch-rank: ");
	vdprintf(2, fmt, ap);
	dprintf(2, "\n");
	va_end(ap);
	exit(code);
}

static int env_int(const char *name, const char *other)
{
	const char *v = getenv(name);

	if (!v)
		v = getenv(other);
	return v ? atoi(v) : -1;
}

static void host_of(struct starter *s, const char *hosts)
{
	int i, len;

	for (i = s->rank / s->ppn; i > 0 && hosts; i--) {
		hosts = strchr(hosts, ',');
		hosts = hosts ? hosts + 1 : NULL;
	}
	if (!hosts || !*hosts)
		die(2, "rank %d has no host in --hosts", s->rank);
	len = (int)strcspn(hosts, ",");
	snprintf(s->host, sizeof(s->host), "%.*s", len, hosts);
}

static const char *parse(struct starter *s, int argc, char **argv)
{
	static const struct option options[] = {
		{"hosts", 1, NULL, 'h'},     {"ppn", 1, NULL, 'p'},
		{"dir", 1, NULL, 'd'},	     {"log", 1, NULL, 'l'},
		{"preload", 1, NULL, 'P'},   {"library-path", 1, NULL, 'L'},
		{"heartbeat", 1, NULL, 'b'}, {"devices", 1, NULL, 'D'},
		{"remote", 0, NULL, 'r'},
		{NULL, 0, NULL, 0},
	};
	const char *hosts = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (c) {
		case 'h': hosts = optarg; break;
		case 'p': s->ppn = atoi(optarg); break;
		case 'd': s->dir = optarg; break;
		case 'l': s->log = optarg; break;
		case 'P': s->preload = optarg; break;
		case 'L': s->library_path = optarg; break;
		case 'b': s->heartbeat_ms = atoi(optarg); break;
		case 'D': s->devices = atoi(optarg); break;
		case 'r': s->remote = true; break;
		default: exit(2);
		}
	}
	s->argv = argv + optind;
	return hosts;
}

/* Where mpirun put us must be where the launcher meant it. */
static void settle_place(struct starter *s, const char *hosts)
{
	int local = env_int("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID");

	s->rank = env_int("OMPI_COMM_WORLD_RANK", "PMI_RANK");
	s->attempt = env_int(LAUNCH_ENV_ATTEMPT, LAUNCH_ENV_ATTEMPT);
	if (!hosts || !s->dir || !s->argv[0] || s->ppn < 1 ||
	    s->heartbeat_ms < 1)
		die(2, "needs --hosts, --ppn, --dir and a command");
	if (s->rank < 0 || s->attempt < 0)
		die(2, "no rank in the environment: not started by mpirun?");
	s->local = s->rank % s->ppn;
	if (s->devices < 1)
		s->devices = env_int("FAULTDRILL_DEVICE_COUNT", "");
	if (s->devices < 1)
		s->devices = s->ppn;
	host_of(s, hosts);
	if (s->remote && local >= 0 && local != s->local)
		die(2, "rank %d is number %d on this host, not %d: mpirun "
		       "placed it elsewhere", s->rank, local, s->local);
}

static int connect_to(const char *address, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port)};
	struct pollfd p = {.events = POLLOUT};
	int one = 1, error = 0;
	socklen_t len = sizeof(error);

	if (inet_pton(AF_INET, address, &a.sin_addr) != 1)
		die(2, "'%s' is no IPv4 address", address);
	p.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p.fd < 0)
		die(3, "socket: %s", strerror(errno));
	if (connect(p.fd, (struct sockaddr *)&a, sizeof(a)) < 0 &&
	    errno != EINPROGRESS)
		die(3, "cannot reach the launcher: %s", strerror(errno));
	if (poll(&p, 1, CONNECT_MS) != 1)
		die(3, "cannot reach the launcher: no answer");
	getsockopt(p.fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error)
		die(3, "cannot reach the launcher: %s", strerror(error));
	setsockopt(p.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return p.fd;
}

/* Lines are short and the launcher reads them: what does not fit in the
 * socket's buffer means that nobody is there any more. */
static void say(struct life *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct life *l, const char *fmt, ...)
{
	char line[LAUNCH_LINE];
	va_list ap;
	int n;

	if (l->sock < 0)
		return;
	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (send(l->sock, line, (size_t)n, MSG_NOSIGNAL) != n) {
		close(l->sock);
		l->sock = -1;
	}
}

static void signal_rank(struct life *l, int signum)
{
	if (!l->over)
		kill(-l->rank, signum);
}

static void kill_rank(struct life *l)
{
	/* KILL first: a stopped rank must not run on when CONT wakes it. */
	signal_rank(l, SIGKILL);
	signal_rank(l, SIGCONT);
}

static void beat(struct life *l, bool anyway)
{
	struct pulse p;

	starter_pulse(l->ring, &l->ring_fd, l->rank, &p);
	if (!anyway && p.watchdog == l->word && l->now < l->beat_ns)
		return;
	l->word = p.watchdog;
	l->beat_ns = l->now + l->s->heartbeat_ms * INT64_C(1000000);
	say(l, "beat %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
	       " %" PRId64 " %" PRId64 "\n", p.now, p.step, p.collective,
	    p.since, p.heartbeat, p.watchdog, p.run);
}

static void report_end(struct life *l)
{
	int code = WIFEXITED(l->status) ? WEXITSTATUS(l->status) : 0;
	int signum = WIFSIGNALED(l->status) ? WTERMSIG(l->status) : 0;

	l->over = true;
	beat(l, true);
	say(l, "exit %d %d %d\n", code, signum, l->told);
	/* What the rank left of its group goes with it. */
	kill(-l->rank, SIGKILL);
	l->leave_ns = l->now;
	if (l->status != 0 && !l->told && l->sock >= 0)
		l->leave_ns += LINGER_MS * INT64_C(1000000);
}

static void stop_rank(struct life *l, int ms)
{
	l->told = true;
	l->leave_ns = l->now;
	l->kill_ns = l->now + ms * INT64_C(1000000);
	if (ms <= 0)
		return;
	signal_rank(l, SIGTERM);
	signal_rank(l, SIGCONT);
}

static void obey(struct life *l, const char *line)
{
	int ms;

	if (strcmp(line, "ask") == 0)
		beat(l, true);
	else if (sscanf(line, "stop %d", &ms) == 1)
		stop_rank(l, ms);
}

static void hear(struct life *l)
{
	ssize_t n = recv(l->sock, l->in + l->in_len,
			 sizeof(l->in) - 1 - l->in_len, 0);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close(l->sock);
		l->sock = -1;
		return;
	}
	l->in_len += (size_t)n;
	l->in[l->in_len] = '\0';
	while ((end = strchr(l->in, '\n'))) {
		*end++ = '\0';
		obey(l, l->in);
		l->in_len -= (size_t)(end - l->in);
		memmove(l->in, end, l->in_len + 1);
	}
	if (l->in_len == sizeof(l->in) - 1)
		l->in_len = 0;
}

static void take_signal(struct life *l)
{
	struct signalfd_siginfo si;

	if (read(l->sigfd, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD) {
		if (!l->over && waitpid(l->rank, &l->status, WNOHANG) > 0)
			report_end(l);
	} else if (si.ssi_signo == SIGTERM || si.ssi_signo == SIGINT) {
		stop_rank(l, 500);
	} else {
		signal_rank(l, (int)si.ssi_signo);
	}
}

static int signals(void)
{
	static const int taken[] = {SIGCHLD, SIGTERM, SIGINT,  SIGHUP,
				    SIGQUIT, SIGUSR1, SIGUSR2};
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		sigaddset(&set, taken[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void live(struct life *l)
{
	while (!l->over || (l->now < l->leave_ns && l->sock >= 0)) {
		struct pollfd p[2] = {{l->sigfd, POLLIN, 0},
				      {l->sock, POLLIN, 0}};

		poll(p, 2, LOOK_MS);
		l->now = starter_raw_ns();
		if (p[0].revents)
			take_signal(l);
		if (l->sock >= 0 && p[1].revents)
			hear(l);
		if (!l->over)
			beat(l, false);
		if (l->sock < 0 || getppid() != l->parent ||
		    (l->kill_ns && l->now >= l->kill_ns))
			kill_rank(l);
	}
}

/* mpirun must see the end that the rank had. */
static _Noreturn void end_alike(int status)
{
	const struct rlimit none = {0, 0};
	int signum = WTERMSIG(status);
	sigset_t set;

	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &none);
	signal(signum, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signum);
	kill(getpid(), signum);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	exit(128 + signum);
}

static void run(const struct starter *s)
{
	static struct life l;
	char address[64], token[LAUNCH_TOKEN + 1];
	const char *env = getenv(LAUNCH_ENV);
	int port;

	l = (struct life){.s = s, .ring_fd = -1, .parent = getppid()};
	if (!env || sscanf(env, "%63s %d %32s", address, &port, token) != 3)
		die(2, "no launcher in %s", LAUNCH_ENV);
	starter_ring(s, l.ring, sizeof(l.ring));
	l.sigfd = signals();
	l.sock = connect_to(address, port);
	l.now = starter_raw_ns();
	l.rank = starter_spawn(s);
	if (l.rank < 0)
		die(3, "cannot start rank %d: %s", s->rank,
		    strerror(-l.rank));
	say(&l, "start %s %d %d %s %d\n", token, s->rank, s->attempt, s->host,
	    (int)l.rank);
	live(&l);
	end_alike(l.status);
}

static int fence(int argc, char **argv)
{
	int left = 0, rc;

	if (argc < 4)
		die(2, "--fence needs JOB and ATTEMPT");
	/* We may carry the mark ourselves: without it nobody fences us. */
	rc = starter_fence(argv[2], atoi(argv[3]),
			   argc > 4 ? atoi(argv[4]) : 2000, &left);
	if (rc == -ETIMEDOUT)
		die(1, "%d processes of attempts up to %s do not die", left,
		    argv[3]);
	if (rc < 0)
		die(3, "cannot look through /proc: %s", strerror(-rc));
	return 0;
}

int main(int argc, char **argv)
{
	struct starter s = {.heartbeat_ms = 500};
	const char *hosts;

	if (argc > 1 && strcmp(argv[1], "--fence") == 0)
		return fence(argc, argv);
	if (argc > 1 && strcmp(argv[1], "--health") == 0)
		return starter_health(argc, argv);
	hosts = parse(&s, argc, argv);
	settle_place(&s, hosts);
	run(&s);
}
