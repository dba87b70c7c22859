/* device_page.c - makes a page of devices, and has one of them fail
 * SPDX-License-Identifier: MIT
 *
 * usage: device_page make PATH HOST DEVICES
 *        device_page fail PATH DEVICE WORD=NUMBER...
 *        device_page health PATH DEVICE     prints its number
 *        device_page clients PATH           a line for each that said hello
 *
 * The words: xid, health, pending, failure, recovery, ecc, mhz, reasons,
 * links. All of a fail are one step; its line goes to kernel.log beside the
 * page, where the host's agent would write it.
 */
#include "injectors/hooks/device_step.h"
#include "injectors/hooks/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set(struct drill_device_step *s, const char *word)
{
	const char *eq = strchr(word, '=');
	unsigned long long n = eq ? strtoull(eq + 1, NULL, 0) : 0;
	size_t len = eq ? (size_t)(eq - word) : strlen(word);

#define IS(name) (len == strlen(name) && !strncmp(word, name, len))
	if (IS("xid"))
		s->xid = (uint32_t)n;
	else if (IS("health"))
		s->health = (uint32_t)n;
	else if (IS("pending"))
		s->pending_1 = (uint32_t)n + 1;
	else if (IS("failure"))
		s->failure_1 = (uint32_t)n + 1;
	else if (IS("recovery"))
		s->recovery_action_1 = (uint32_t)n + 1;
	else if (IS("ecc"))
		s->ecc_uncorrected = (uint32_t)n;
	else if (IS("mhz"))
		s->clock_mhz = (uint32_t)n;
	else if (IS("reasons"))
		s->clock_reasons = n;
	else if (IS("links"))
		s->links_down = n;
	else
		exit(2);
}

/* As the agent drains them, but only what is new since @from. */
static void write_lines(struct drill_devices *d, const char *path,
			uint64_t from)
{
	struct drill_device_line l;
	char log[4096];
	FILE *f;

	snprintf(log, sizeof(log), "%.*s/kernel.log",
		 (int)(strrchr(path, '/') - path), path);
	f = fopen(log, "a");
	while (f && drill_devices_line(d, &from, &l) == 0)
		if (l.text[0])
			fprintf(f, "%s\n", l.text);
	if (f)
		fclose(f);
}

static int fail(const char *path, int device, char **words,
		struct drill_err *err)
{
	struct drill_device_fault order = {
		.device = device, .rank = -1, .steps = 1,
	};
	struct drill_device_armed armed;
	struct drill_devices d;
	uint64_t from;
	int rc = drill_devices_open(&d, path, err);

	order.step[0].device = (uint32_t)device;
	strcpy(order.step[0].text, "said by a test");
	for (; *words; words++)
		set(&order.step[0], *words);
	if (rc == 0)
		rc = drill_devices_pick(&d, &armed, err);
	if (rc == 0)
		rc = drill_devices_arm_at(&d, &order, &armed, err);
	if (rc < 0)
		return rc;
	from = atomic_load(&d.page->lines);
	drill_device_fire(d.page, (unsigned int)armed.fault, (int)getpid(),
			  "test");
	write_lines(&d, path, from);
	return 0;
}

static int show_clients(const char *path, struct drill_err *err)
{
	struct drill_device_seen c[DRILL_DEVICE_CLIENTS];
	struct drill_devices d;
	int rc = drill_devices_open(&d, path, err), n;

	if (rc < 0)
		return rc;
	n = drill_devices_clients(&d, c, DRILL_DEVICE_CLIENTS);
	for (int i = 0; i < n; i++)
		printf("%s here=%d linked=%s remapped=%d passed=%d bypassed=%d "
		       "launches=%d audited=%d\n", c[i].program, c[i].here,
		       c[i].linked ? "some" : "none", (int)c[i].remapped,
		       (int)c[i].passed, (int)c[i].bypassed,
		       (int)c[i].launches, c[i].audited);
	return 0;
}

int main(int argc, char **argv)
{
	struct drill_err err = { 0 };
	struct drill_devices d;
	char text[600];
	int rc = -1;

	if (argc == 5 && !strcmp(argv[1], "make"))
		rc = drill_devices_create(&d, argv[2], argv[3], atoi(argv[4]),
					  &err);
	else if (argc > 4 && !strcmp(argv[1], "fail"))
		rc = fail(argv[2], atoi(argv[3]), argv + 4, &err);
	else if (argc == 4 && !strcmp(argv[1], "health") &&
		 (rc = drill_devices_open(&d, argv[2], &err)) == 0)
		printf("%u\n", d.page->device[atoi(argv[3]) % DRILL_DEVICES]
				       .health);
	else if (argc == 3 && !strcmp(argv[1], "clients"))
		rc = show_clients(argv[2], &err);
	if (rc < 0)
		fprintf(stderr, "device_page: %s\n",
			drill_err_text(&err, text, sizeof(text)));
	return rc < 0;
}
