/* nvml_proxy.h - the NVML proxy's parts, and how a call is answered
 * SPDX-License-Identifier: MIT
 *
 * One library, libnvidia-ml.so.1, in front of the next one or alone:
 *
 *   with a next library (FAULTDRILL_NVML_NEXT=path, or one that is found) each
 *   call goes on to it, and what the host's device page says is laid over the
 *   answer for devices of the same UUID. Handles are the next library's.
 *
 *   as software NVML (FAULTDRILL_NVML_NEXT=soft, or nothing is found) the page
 *   alone answers. Handles are ours; what the page does not know is
 *   NVML_ERROR_NOT_SUPPORTED.
 *
 * A function of a device asks drill_nvml_ask() first: it says what stands in
 * the way of an answer (lost, to be reset, firmware that does not answer), or
 * gives the device as the page has it. A device that the page does not know is
 * all zeroes there, so that laying it over changes nothing.
 *
 * nvml_next.c finds the next library, nvml_start.c starts and ends, nvml_pass.c
 * passes on what has no function here, nvml_page.c reads the page; identity,
 * state, errors, links, fields and events have a file each.
 */
#ifndef DRILL_NVML_PROXY_H
#define DRILL_NVML_PROXY_H

#include "device_step.h"

#include <pthread.h>
#include <stdbool.h>

#pragma GCC visibility push(default)
#include "faultdrill/nvml_api.h"
#pragma GCC visibility pop

#pragma GCC visibility push(hidden)

struct drill_nvml {
	pthread_mutex_t lock;
	unsigned int refs;		  /* nvmlInit less nvmlShutdown */
	struct drill_device_page *page;	  /* NULL: passive */
	struct drill_device_client *client;
	void *next;			  /* handle of dlopen; NULL: software */
	const char *next_path;
	/* As they were counted when NVML was started. */
	struct drill_nvml_device {
		nvmlDevice_t handle;
		int page; /* index on the page; -1: not there */
	} device[DRILL_DEVICES];
	unsigned int devices;
};

extern struct drill_nvml drill_nvml;

/* Opens the next library, once; with @why it was named and cannot be. */
void drill_nvml_next_open(const char **why);
/* Its function of that name; one that says FUNCTION_NOT_FOUND if it has none.
 * Only with drill_nvml.next. */
void *drill_nvml_next_find(const char *name);
#define NVML_NEXT(name) ((__typeof__(&name))drill_nvml_next_find(#name))

/* Goes on to the next library, if there is one, with these arguments. */
#define NVML_PASS(name, ...)                                                   \
	do {                                                                   \
		if (drill_nvml.next)                                           \
			return NVML_NEXT(name)(__VA_ARGS__);                   \
	} while (0)

/* Once on stderr. */
void drill_nvml_complain(const char *what, const char *why);

enum drill_nvml_kind {
	DRILL_NVML_WHO,	  /* who it is: known without the device */
	DRILL_NVML_COUNT, /* what it counted: also from one to be reset */
	DRILL_NVML_LIVE,  /* how it stands now */
};

/* NVML_SUCCESS, with the device in *@ret, or what the call is to return. May
 * block as long as the device says. @out: what the call must be able to write
 * to, NULL is an invalid argument. */
nvmlReturn_t drill_nvml_ask(nvmlDevice_t device, enum drill_nvml_kind kind,
			    const void *out, struct drill_device *ret);

/* How most functions of a device begin: it is asked, and @d is it; whatever else
 * there is to say the next library says. */
#define NVML_ASK(d, kind, out, name, ...)                                      \
	do {                                                                   \
		nvmlReturn_t asked =                                           \
			drill_nvml_ask(device, DRILL_NVML_##kind, out, d);     \
                                                                               \
		if (asked)                                                     \
			return asked;                                          \
		NVML_PASS(name, device, __VA_ARGS__);                          \
	} while (0)

/* A whole one, that gives one @value, which may name the device @d. */
#define NVML_GIVES(name, kind, type, value)                                    \
	nvmlReturn_t name(nvmlDevice_t device, type *ret)                      \
	{                                                                      \
		struct drill_device d;                                         \
                                                                               \
		NVML_ASK(&d, kind, ret, name, ret);                            \
		*ret = (value);                                                \
		return NVML_SUCCESS;                                           \
	}

/* How the page's device stands for NVML. */
uint32_t drill_nvml_health(unsigned int page_index);
/* NVML_ERROR_UNINITIALIZED before nvmlInit. */
nvmlReturn_t drill_nvml_ready(void);
/* Place in drill_nvml.device, or -1. */
int drill_nvml_place(nvmlDevice_t device);
/* The handle of the page's device, NULL: not counted. */
nvmlDevice_t drill_nvml_handle(unsigned int page_index);
/* Counts the devices anew; under the lock. */
nvmlReturn_t drill_nvml_list(void);

/* As nvmlDeviceGetPciInfo_v3 gives it; @head bytes of it only. */
void drill_nvml_pci(const struct drill_device *d, nvmlPciInfo_t *pci,
		    size_t head);
/* Copies a text out. NVML_ERROR_INSUFFICIENT_SIZE when it does not fit. */
nvmlReturn_t drill_nvml_text(char *to, unsigned int length, const char *from);

/* Is that link of the device there, and is it up? */
bool drill_nvml_link_there(const struct drill_device *d, unsigned int link);
bool drill_nvml_link_up(const struct drill_device *d, unsigned int link);

#pragma GCC visibility pop

#endif
