/* lab_agent.c - a test program that is its own agent
 * SPDX-License-Identifier: MIT
 */
#include "lab_agent.h"

#include "harness/agent/host_init.h"
#include "harness/agent/process.h"
#include "harness/core/clock.h"
#include "harness/core/frame.h"
#include "harness/core/proto.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(json_t *msg)
{
	size_t n;
	char *data = drill_frame_encode(msg, &n, NULL);

	if (data && write(1, data, n) != (ssize_t)n)
		exit(1);
	free(data);
	json_decref(msg);
}

static void answer(json_t *msg)
{
	const char *kind = json_string_value(json_object_get(msg, "kind"));

	if (strcmp(kind, "ping") == 0)
		say(json_pack("{s:s, s:O, s:I}", "kind", "pong", "n",
			      json_object_get(msg, "n"), "h_ns",
			      (json_int_t)drill_raw_ns(drill_clock_system())));
	else if (strcmp(kind, "bye") == 0)
		exit(0);
	else
		say(json_pack("{s:s, s:O}", "kind", "echo", "of", msg));
}

static int on_message(void *ctx, json_t *msg, struct drill_err *err)
{
	(void)ctx;
	(void)err;
	answer(msg);
	return 0;
}

static int agent(void)
{
	struct drill_frame_reader r = {.on_message = on_message};
	const char *fake = getenv("FAKE_AGENT");
	char host[64] = "", buf[4096];
	ssize_t n;

	if (!fake)
		fake = "";
	if (strcmp(fake, "exit") == 0) {
		fputs("first line\nthe last words\n", stderr);
		return 3;
	}
	gethostname(host, sizeof(host) - 1);
	if (strcmp(fake, "garbage") == 0 && write(1, "\xff\xff\xff\xff", 4) < 0)
		return 1;
	if (strcmp(fake, "silent") != 0)
		say(json_pack("{s:s, s:s, s:s, s:i, s:s}", "kind", "hello",
			      "build",
			      strcmp(fake, "build") ? drill_build_id() : "old",
			      "host", host, "pid", (int)getpid(), "boot_id",
			      drill_boot_id()));
	while ((n = read(0, buf, sizeof(buf))) > 0)
		drill_frame_feed(&r, buf, (size_t)n, NULL);
	return 0;
}

bool drill_test_lab_agent(int argc, char **argv, int *ret_status)
{
	char self[PATH_MAX];
	ssize_t n;

	if (argc > 1 && strcmp(argv[1], "host-init") == 0)
		return *ret_status = drill_host_init_main(argc - 1, argv + 1),
		       true;
	if (argc > 1 && strcmp(argv[1], "enter") == 0)
		return *ret_status = drill_enter_main(argc - 1, argv + 1), true;
	if (getenv("FAULTDRILL_AGENT"))
		return *ret_status = agent(), true;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n < 0 ? 0 : n] = '\0';
	setenv("FAULTDRILL_AGENT", self, 1);
	return false;
}
