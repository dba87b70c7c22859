/* environ.c - the environment that another process was started with
 * SPDX-License-Identifier: MIT
 */
#include "environ.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES 500 /* of a millisecond */
#define CHUNK 4096

/* Of linux/sched.h; a field of /proc/PID/stat, as are the places. */
#define PF_EXITING 0x4ul
#define PF_KTHREAD 0x200000ul
#define FIELD_FLAGS 9
#define FIELD_START_CODE 26
#define FIELD_ENV_END 51

#define NO_IMAGE 1ul /* and there will be none */

static int open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* What tells a process's image from others: where its environment ends. 0: it is
 * being made; the kernel says where the code begins when all is there. */
static unsigned long image(pid_t pid)
{
	unsigned long value[FIELD_ENV_END + 1] = { 0 };
	int fd = open_file(pid, "stat"), field = 2;
	char buf[1024], *p;
	ssize_t n;

	if (fd < 0)
		return NO_IMAGE;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	/* The name before may hold spaces and parentheses. */
	p = strrchr(buf, ')');
	while (p && field < FIELD_ENV_END && (p = strchr(p + 1, ' ')))
		value[++field] = strtoul(p, NULL, 10);
	if (!p || value[FIELD_FLAGS] & (PF_EXITING | PF_KTHREAD))
		return NO_IMAGE;
	return value[FIELD_START_CODE] ? value[FIELD_ENV_END] : 0;
}

static char *read_once(pid_t pid, size_t *ret_size)
{
	int fd = open_file(pid, "environ");
	char *env = NULL, *more;
	ssize_t n = -1;
	size_t size = 0;

	while (fd >= 0 && n) {
		more = realloc(env, size + CHUNK + 1);
		if (!more)
			break;
		env = more;
		n = read(fd, env + size, CHUNK);
		if (n < 0)
			break;
		size += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	if (n) {
		free(env);
		return NULL;
	}
	env[size] = '\0';
	*ret_size = size;
	return env;
}

char *drill_environ(pid_t pid, size_t *ret_size)
{
	unsigned long now, before = image(pid);
	char *env;

	for (int i = 0; i < TRIES; i++) {
		env = read_once(pid, ret_size);
		if (!env || *ret_size || before == NO_IMAGE)
			return env;
		now = image(pid);
		if (before && before == now)
			return env; /* it is empty */
		free(env);
		if (!now)
			poll(NULL, 0, 1);
		before = now ? now : image(pid);
	}
	return NULL;
}

const char *drill_environ_find(const char *env, size_t size, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = env; p < env + size; p += strlen(p) + 1)
		if (!strncmp(p, name, n) && p[n] == '=')
			return p + n + 1;
	return NULL;
}
