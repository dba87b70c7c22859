/* nvml_start.c - NVML starts and ends; what it says of itself
 * SPDX-License-Identifier: MIT
 */
#include "nvml_proxy.h"

#include "hook_ticks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"

/* What software NVML calls itself: the driver branch of the CUDA version that
 * the software device implements. */
#define SOFT_DRIVER "580.00"
#define SOFT_NVML "13.580.00"
#define SOFT_CUDA 13000

static void map_page(void)
{
	const char *path = getenv("FAULTDRILL_DEVICES"), *why = "";

	if (drill_nvml.page || !path || !*path)
		return;
	drill_nvml.page = drill_device_map(path, &why);
	if (!drill_nvml.page && *why)
		drill_nvml_complain(path, why);
}

static void fill_client(struct drill_device_client *c)
{
	c->pid = getpid();
	c->rank = drill_env_rank();
	c->attempt = drill_env_attempt();
	c->proxies = DRILL_PROXY_NVML;
	c->hello_ns = hook_raw_ns();
	snprintf(c->build, sizeof(c->build), "%s", DRILL_BUILD_ID);
	snprintf(c->program, sizeof(c->program), "%s",
		 program_invocation_short_name);
	snprintf(c->next, sizeof(c->next), "%s", drill_nvml.next_path);
}

/* A monitor that is dead: monitors come and go, their slots are used again. A
 * rank's slot is evidence. */
static bool is_left(const struct drill_device_client *c)
{
	int e = errno;
	bool left = c->proxies == DRILL_PROXY_NVML && c->rank < 0 && c->pid > 0 &&
		    kill(c->pid, 0) && errno == ESRCH;

	errno = e;
	return left;
}

static bool take_slot(struct drill_device_client *c, bool left)
{
	uint32_t seen = atomic_load(&c->claimed);

	if (left ? !seen || !is_left(c) : seen != 0)
		return false;
	return atomic_compare_exchange_strong(&c->claimed, &seen, seen + 1);
}

static struct drill_device_client *find_slot(struct drill_device_page *p)
{
	bool is_rank = drill_env_rank() >= 0;

	for (int left = !is_rank; left >= 0; left--)
		for (int i = 0; i < DRILL_DEVICE_CLIENTS; i++)
			if (take_slot(&p->client[i], left))
				return &p->client[i];
	atomic_fetch_add(&p->refused, 1);
	return NULL;
}

/* A process without a slot is served all the same. */
static void say_hello(void)
{
	if (!drill_nvml.page)
		return;
	if (!drill_nvml.client) {
		drill_nvml.client = find_slot(drill_nvml.page);
		if (!drill_nvml.client)
			return;
		fill_client(drill_nvml.client);
	}
	atomic_store_explicit(&drill_nvml.client->hello, DRILL_HELLO_HERE,
			      memory_order_release);
}

static nvmlReturn_t start_next(unsigned int flags)
{
	if (!flags)
		return NVML_NEXT(nvmlInit_v2)();
	return NVML_NEXT(nvmlInitWithFlags)(flags);
}

static nvmlReturn_t start(unsigned int flags)
{
	const char *why;
	nvmlReturn_t r;

	drill_nvml_next_open(&why);
	if (why) {
		drill_nvml_complain(drill_nvml.next_path, why);
		return NVML_ERROR_LIBRARY_NOT_FOUND;
	}
	map_page();
	r = drill_nvml.next ? start_next(flags) : NVML_SUCCESS;
	if (r)
		return r;
	r = drill_nvml_list();
	if (r && drill_nvml.next)
		NVML_NEXT(nvmlShutdown)();
	if (!r)
		say_hello();
	return r;
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
	nvmlReturn_t r = NVML_SUCCESS;

	if (flags & ~3u)
		return NVML_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&drill_nvml.lock);
	if (!drill_nvml.refs)
		r = start(flags);
	if (!r)
		drill_nvml.refs++;
	pthread_mutex_unlock(&drill_nvml.lock);
	return r;
}

nvmlReturn_t nvmlInit_v2(void)
{
	return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlInit(void)
{
	return nvmlInitWithFlags(0);
}

static nvmlReturn_t stop(void)
{
	if (drill_nvml.client)
		atomic_store_explicit(&drill_nvml.client->hello,
				      DRILL_HELLO_BYE, memory_order_release);
	NVML_PASS(nvmlShutdown);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown(void)
{
	nvmlReturn_t r = NVML_SUCCESS;

	pthread_mutex_lock(&drill_nvml.lock);
	if (!drill_nvml.refs)
		r = NVML_ERROR_UNINITIALIZED;
	else if (!--drill_nvml.refs)
		r = stop();
	pthread_mutex_unlock(&drill_nvml.lock);
	return r;
}

__attribute__((visibility("default")))
const char *nvmlErrorString(nvmlReturn_t result)
{
#define TEXT(name, value, text) case value: return text;
	switch ((int)result) {
	FAULTDRILL_NVML_RETURNS(TEXT)
	}
	return "Unknown Error";
}

nvmlReturn_t drill_nvml_text(char *to, unsigned int length, const char *from)
{
	if (!to)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (strlen(from) >= length)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(to, from, strlen(from) + 1);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	nvmlReturn_t r = drill_nvml_ready();

	if (r)
		return r;
	NVML_PASS(nvmlSystemGetDriverVersion, version, length);
	return drill_nvml_text(version, length, SOFT_DRIVER);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
	nvmlReturn_t r = drill_nvml_ready();

	if (r)
		return r;
	NVML_PASS(nvmlSystemGetNVMLVersion, version, length);
	return drill_nvml_text(version, length, SOFT_NVML);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	nvmlReturn_t r = drill_nvml_ready();

	if (r)
		return r;
	NVML_PASS(nvmlSystemGetCudaDriverVersion_v2, version);
	if (!version)
		return NVML_ERROR_INVALID_ARGUMENT;
	*version = SOFT_CUDA;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version)
{
	return nvmlSystemGetCudaDriverVersion_v2(version);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name,
				      unsigned int length)
{
	nvmlReturn_t r = drill_nvml_ready();
	char path[32], comm[64] = "";
	FILE *f;

	if (r)
		return r;
	NVML_PASS(nvmlSystemGetProcessName, pid, name, length);
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return NVML_ERROR_NOT_FOUND;
	if (!fgets(comm, sizeof(comm), f))
		*comm = '\0';
	fclose(f);
	comm[strcspn(comm, "\n")] = '\0';
	return drill_nvml_text(name, length, comm);
}
