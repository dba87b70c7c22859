/* devices.c - makes and opens device pages, arms faults and reads them back
 * SPDX-License-Identifier: MIT
 */
#include "devices.h"

#include "cuda_family.h"
#include "cuda_kind.h"
#include "device_step.h"
#include "hook_ticks.h"

#include "faultdrill/soft_identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "build_id.h"

#define WHO "devices"
#define PAGE_BYTES sizeof(struct drill_device_page)
#define DRIVER "/proc/driver/nvidia/gpus"

/* What NVML says of a device that does nothing wrong. */
#define SM_MHZ 1980
#define MEM_MHZ 2619
#define IDLE_C 34
#define IDLE_MW 74000
#define LIMIT_MW 700000

/* ---- what the devices are ---- */

/* Every device has a link to each other one of its host, in turn. */
static void join_links(struct drill_device *d, int n)
{
	for (int i = 0; i < DRILL_NVLINKS && n > 1; i++) {
		d->link[i].peer =
			1 + (d->index + 1 + (uint32_t)(i % (n - 1))) %
				    (uint32_t)n;
		d->link_mask |= 1ull << i;
	}
}

static void make_well(struct drill_device *d, int index)
{
	d->index = d->minor = (uint32_t)index;
	d->sm_mhz = d->sm_max_mhz = SM_MHZ;
	d->mem_mhz = d->mem_max_mhz = MEM_MHZ;
	d->temperature_c = IDLE_C;
	d->power_mw = IDLE_MW;
	d->power_limit_mw = LIMIT_MW;
	d->health = DRILL_DEVICE_OK;
}

static int make_software(struct drill_device_page *p, const char *host, int n)
{
	struct faultdrill_soft_identity id;
	struct drill_device *d;

	for (int i = 0; i < n; i++) {
		d = &p->device[i];
		faultdrill_soft_identity(&id, host, i);
		memcpy(d->uuid, id.uuid, sizeof(d->uuid));
		d->domain = id.domain;
		d->bus = id.bus;
		d->dev = id.dev;
		memcpy(d->name, id.name, sizeof(d->name));
		memcpy(d->serial, id.serial, sizeof(d->serial));
		d->memory_bytes = faultdrill_soft_memory();
		make_well(d, i);
		join_links(d, n);
	}
	return n;
}

/* "GPU-8f3a.. " into bytes; hyphens count for nothing. */
static void read_uuid(const char *text, uint8_t ret[16])
{
	int digits = 0;

	if (!strncmp(text, "GPU-", 4))
		text += 4;
	for (; *text && digits < 32; text++) {
		char c[2] = { *text, 0 }, *end;
		unsigned long v = strtoul(c, &end, 16);

		if (end == c)
			continue;
		ret[digits / 2] = (uint8_t)(ret[digits / 2] << 4 | v);
		digits++;
	}
}

/* One "Key:   value" line of an information file. */
static void take_line(struct drill_device *d, char *line)
{
	char *value = strchr(line, ':');

	if (!value)
		return;
	*value++ = '\0';
	value += strspn(value, " \t");
	value[strcspn(value, "\n")] = '\0';
	if (!strcmp(line, "Model"))
		snprintf(d->name, sizeof(d->name), "%s", value);
	else if (!strcmp(line, "GPU UUID"))
		read_uuid(value, d->uuid);
	else if (!strcmp(line, "Bus Location"))
		sscanf(value, "%x:%x:%x", &d->domain, &d->bus, &d->dev);
	else if (!strcmp(line, "Device Minor"))
		sscanf(value, "%u", &d->minor);
}

static int by_bus(const void *a, const void *b)
{
	const struct drill_device *x = a, *y = b;
	uint64_t i = (uint64_t)x->domain << 32 | x->bus << 8 | x->dev;
	uint64_t k = (uint64_t)y->domain << 32 | y->bus << 8 | y->dev;

	return i < k ? -1 : i > k;
}

static bool read_device(const char *id, struct drill_device *d)
{
	char path[400], line[256];
	FILE *f;

	snprintf(path, sizeof(path), DRIVER "/%.200s/information", id);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		take_line(d, line);
	fclose(f);
	return true;
}

int drill_devices_of_driver(void)
{
	DIR *dir = opendir(DRIVER);
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)))
		n += e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

/* NVML, and CUDA with CUDA_DEVICE_ORDER=PCI_BUS_ID, count as the bus does. Their
 * links cannot be seen from here. */
static int make_real(struct drill_device_page *p)
{
	DIR *dir = opendir(DRIVER);
	struct dirent *e;
	uint32_t minor;
	int n = 0;

	while (dir && n < DRILL_DEVICES && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			n += read_device(e->d_name, &p->device[n]);
	if (dir)
		closedir(dir);
	qsort(p->device, (size_t)n, sizeof(p->device[0]), by_bus);
	for (int i = 0; i < n; i++) {
		minor = p->device[i].minor;
		make_well(&p->device[i], i);
		p->device[i].minor = minor;
	}
	return n;
}

/* ---- the file ---- */

static int fill_page(struct drill_device_page *p, const char *path,
		     const char *host, int software)
{
	int n = software ? make_software(p, host, software) : make_real(p);

	if (!n)
		return -ENODEV;
	p->version = DRILL_DEVICE_VERSION;
	p->size = PAGE_BYTES;
	p->owner = geteuid();
	p->mode = 0600;
	p->created_ns = hook_raw_ns();
	snprintf(p->build, sizeof(p->build), "%s", DRILL_BUILD_ID);
	snprintf(p->path, sizeof(p->path), "%s", path);
	snprintf(p->host, sizeof(p->host), "%s", host);
	atomic_store_explicit(&p->magic, DRILL_DEVICE_MAGIC,
			      memory_order_release);
	return 0;
}

/* Allocated, not sparse: a full filesystem must not become a SIGBUS. */
static int fill_file(int fd, const char *path, const char *host, int software)
{
	struct drill_device_page *p;
	int r = posix_fallocate(fd, 0, PAGE_BYTES);

	if (r)
		return -r;
	p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r = fill_page(p, path, host, software);
	munmap(p, PAGE_BYTES);
	return r;
}

int drill_devices_create(struct drill_devices *d, const char *path,
			 const char *host, int software, struct drill_err *err)
{
	char tmp[PATH_MAX];
	int fd, r;

	*d = (struct drill_devices){ 0 };
	if (software < 0 || software > DRILL_DEVICES)
		return drill_err_set(err, -EINVAL, WHO,
				     "a host has 1 to %d devices, not %d",
				     DRILL_DEVICES, software);
	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp))
		return drill_err_set(err, -ENAMETOOLONG, WHO,
				     "the path of the device page is too long");
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return drill_err_errno(err, errno, WHO, "cannot make '%s'", tmp);
	r = fill_file(fd, path, host, software);
	/* Linked when whole, so that no proxy ever sees half of it. */
	if (!r && link(tmp, path))
		r = -errno;
	unlink(tmp);
	close(fd);
	if (r == -ENODEV)
		return drill_err_set(err, r, WHO, "no device below " DRIVER);
	if (r)
		return drill_err_errno(err, -r, WHO, "cannot make '%s'", path);
	return drill_devices_open(d, path, err);
}

int drill_devices_open(struct drill_devices *d, const char *path,
		       struct drill_err *err)
{
	const char *why;

	d->page = drill_device_map(path, &why);
	if (d->page)
		return 0;
	if (!*why)
		return drill_err_errno(err, ENOENT, WHO, "cannot open '%s'",
				       path);
	return drill_err_set(err, -EPROTO, WHO, "'%s' %s", path, why);
}

void drill_devices_close(struct drill_devices *d)
{
	if (d->page)
		munmap(d->page, PAGE_BYTES);
	d->page = NULL;
}

/* ---- how they stand ---- */

int drill_devices_count(const struct drill_devices *d)
{
	int n = 0;

	while (n < DRILL_DEVICES &&
	       atomic_load(&d->page->device[n].health) != DRILL_DEVICE_UNUSED)
		n++;
	return n;
}

const char *drill_device_health_name(uint32_t health)
{
	static const char *const names[] = { "unused", "ok", "lost",
					     "reset_required", "gone" };

	return health < sizeof(names) / sizeof(names[0]) ? names[health] : "?";
}

int drill_devices_by_name(const struct drill_devices *d, const char *name)
{
	uint8_t uuid[16] = { 0 };

	read_uuid(name, uuid);
	return drill_device_by_uuid(d->page, uuid);
}

static uint64_t all_links(const struct drill_device *d)
{
	uint64_t mask = 0;

	for (int i = 0; i < DRILL_NVLINKS; i++)
		mask |= d->link[i].peer ? 1ull << i : 0;
	return mask;
}

static uint64_t link_errors(const struct drill_device *d)
{
	uint64_t sum = 0;

	for (int i = 0; i < DRILL_NVLINKS; i++)
		sum += d->link[i].crc + d->link[i].replay + d->link[i].recovery;
	return sum;
}

bool drill_devices_as_new(const struct drill_devices *d, unsigned int device,
			  char *why, size_t size)
{
	struct drill_device v;
	int i;

	drill_device_read(d->page, device, &v);
	const struct {
		const char *what;
		uint64_t is, new;
	} rows[] = {
		{ "health", v.health, DRILL_DEVICE_OK },
		{ "error of new contexts", (uint32_t)v.context_error, 0 },
		{ "error of running contexts", (uint32_t)v.running_error, 0 },
		{ "health by NVML", v.nvml_health, 0 },
		{ "memory full by NVML", v.memory_full, 0 },
		{ "recovery action", v.recovery_action, 0 },
		{ "peer access refused", v.no_peer, 0 },
		{ "corrected ECC errors", v.ecc_aggregate[0], 0 },
		{ "uncorrected ECC errors", v.ecc_aggregate[1], 0 },
		{ "volatile ECC errors", v.ecc_volatile[0] + v.ecc_volatile[1],
		  0 },
		{ "retired pages", v.retired_sbe + v.retired_dbe, 0 },
		{ "remapped rows", v.remapped_cor + v.remapped_unc, 0 },
		{ "repair pending", v.retired_pending + v.remapped_pending, 0 },
		{ "repair failed", v.remapped_failure, 0 },
		{ "SM clock", v.sm_mhz, v.sm_max_mhz },
		{ "memory clock", v.mem_mhz, v.mem_max_mhz },
		{ "clock reasons", v.clock_reasons, 0 },
		{ "links", v.link_mask, all_links(&v) },
		{ "link errors", link_errors(&v), 0 },
	};

	for (i = 0; i < (int)(sizeof(rows) / sizeof(rows[0])); i++)
		if (rows[i].is != rows[i].new)
			break;
	if (i == (int)(sizeof(rows) / sizeof(rows[0])))
		return true;
	snprintf(why, size, "%s: %llu, was %llu", rows[i].what,
		 (unsigned long long)rows[i].is,
		 (unsigned long long)rows[i].new);
	return false;
}

/* ---- faults ---- */

/* Has a process something to do for it? A mere signal that the agent gives has
 * no such trigger. */
static bool is_met(const struct drill_device_fault *f)
{
	return f->action != DRILL_DEVICE_NOTHING || f->nth || f->kernel[0];
}

static void heat_call(const struct drill_device_fault *f,
		      uint8_t hot[DRILL_DEVICE_CALLS])
{
	uint16_t family[DRILL_CUDA_CALLS];
	uint32_t call = f->call - 1;

	if (call >= DRILL_CUDA_CALLS)
		return;
	hot[call] |= DRILL_HOT_NAMED;
	drill_cuda_families(family);
	for (int i = 0; f->family && i < DRILL_CUDA_CALLS; i++)
		if (family[i] == family[call])
			hot[i] |= DRILL_HOT_NAMED;
}

/* Once fired it may concern any call. */
static void heat_kinds(const struct drill_device_fault *f,
		       uint8_t hot[DRILL_DEVICE_CALLS])
{
	bool fired = atomic_load(&f->state) != DRILL_DEVICE_ARMED;
	uint8_t kind[DRILL_CUDA_CALLS];

	drill_cuda_kinds(kind);
	for (int i = 0; i < DRILL_CUDA_CALLS; i++)
		if (fired || drill_kind_asks(f, kind[i]))
			hot[i] |= DRILL_HOT_KIND;
}

/* Which entry points are to look at the page. DRILL_HOT_SICK is the firings'. */
static void publish_armed(struct drill_device_page *p)
{
	const uint8_t ours = DRILL_HOT_NAMED | DRILL_HOT_KIND;
	uint8_t hot[DRILL_DEVICE_CALLS] = { 0 };
	uint32_t armed = 0;

	for (int i = 0; i < DRILL_DEVICE_FAULTS; i++) {
		if (atomic_load(&p->fault[i].state) == DRILL_DEVICE_FREE)
			continue;
		armed |= 1u << i;
		if (p->fault[i].call)
			heat_call(&p->fault[i], hot);
		else if (is_met(&p->fault[i]))
			heat_kinds(&p->fault[i], hot);
	}
	atomic_store(&p->armed, armed);
	for (int i = 0; i < DRILL_DEVICE_CALLS; i++) {
		atomic_fetch_or(&p->hot[i], hot[i]);
		atomic_fetch_and(&p->hot[i],
				 (uint8_t)~(ours & ~hot[i]));
	}
}

static int check_order(const struct drill_devices *d,
		       const struct drill_device_fault *o,
		       struct drill_err *err)
{
	int n = drill_devices_count(d);

	if (o->action > DRILL_DEVICE_ABSENT || o->flip_where > DRILL_FLIP_COPY ||
	    o->call > DRILL_CUDA_CALLS || o->family > 1 || o->steps > DRILL_DEVICE_STEPS ||
	    o->ppm > 1000000 || o->nth < 0 || o->every < 0 || o->count < 0 ||
	    o->delay_ns < 0)
		return drill_err_set(err, -EINVAL, WHO,
				     "a number of the order is out of range");
	if (o->device < -1 || o->device >= n)
		return drill_err_set(err, -EINVAL, WHO,
				     "no device %d: the host has 0 to %d",
				     o->device, n - 1);
	for (uint32_t i = 0; i < o->steps; i++)
		if (o->step[i].device >= (uint32_t)n)
			return drill_err_set(err, -EINVAL, WHO,
					     "step %u: no device %u", i,
					     o->step[i].device);
	return 0;
}

int drill_devices_pick(const struct drill_devices *d,
		       struct drill_device_armed *ret, struct drill_err *err)
{
	uint64_t mark = 0;
	int i = 0;

	while (i < DRILL_DEVICE_FAULTS &&
	       atomic_load(&d->page->fault[i].state) != DRILL_DEVICE_FREE)
		i++;
	if (i == DRILL_DEVICE_FAULTS)
		return drill_err_set(err, -ENOSPC, WHO,
				     "all %d faults of the device page are "
				     "taken", DRILL_DEVICE_FAULTS);
	while (!mark)
		if (getrandom(&mark, sizeof(mark), 0) < 0)
			return drill_err_errno(err, errno, WHO, "getrandom");
	*ret = (struct drill_device_armed){ i, mark };
	return 0;
}

int drill_devices_arm_at(struct drill_devices *d,
			 const struct drill_device_fault *order,
			 const struct drill_device_armed *a,
			 struct drill_err *err)
{
	const size_t begin = sizeof(order->mark),
		     end = offsetof(struct drill_device_fault, state);
	struct drill_device_fault *f;
	int r = check_order(d, order, err);

	if (r)
		return r;
	f = &d->page->fault[a->fault];
	if (atomic_load(&f->state) != DRILL_DEVICE_FREE)
		return drill_err_set(err, -EBUSY, WHO,
				     "fault %d has been taken meanwhile",
				     a->fault);
	memset((char *)f + begin, 0, sizeof(*f) - begin);
	memcpy((char *)f + begin, (const char *)order + begin, end - begin);
	f->kernel[sizeof(f->kernel) - 1] = '\0';
	atomic_store(&f->mark, a->mark);
	atomic_store_explicit(&f->state, DRILL_DEVICE_ARMED,
			      memory_order_release);
	publish_armed(d->page);
	return 0;
}

int drill_devices_read(const struct drill_devices *d,
		       const struct drill_device_armed *a,
		       struct drill_device_fault *ret, struct drill_err *err)
{
	const struct drill_device_fault *f = &d->page->fault[a->fault];

	if (atomic_load(&f->state) == DRILL_DEVICE_FREE)
		return drill_err_set(err, -ENOENT, WHO, "fault %d is free",
				     a->fault);
	if (atomic_load(&f->mark) != a->mark)
		return drill_err_set(err, -ESTALE, WHO,
				     "fault %d is not ours any more", a->fault);
	memcpy(ret, f, sizeof(*ret));
	return 0;
}

int drill_devices_disarm(struct drill_devices *d,
			 const struct drill_device_armed *a,
			 struct drill_err *err)
{
	struct drill_device_fault *f;

	if (a->fault < 0 || a->fault >= DRILL_DEVICE_FAULTS)
		return drill_err_set(err, -EINVAL, WHO, "no fault %d",
				     a->fault);
	f = &d->page->fault[a->fault];
	if (atomic_load(&f->mark) != a->mark)
		return 0; /* a mark is drawn once: ours is off */
	atomic_store(&f->state, DRILL_DEVICE_OVER);
	syscall(SYS_futex, &f->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	drill_device_restore(d->page, (unsigned int)a->fault);
	atomic_store(&f->mark, 0);
	atomic_store(&f->state, DRILL_DEVICE_FREE);
	publish_armed(d->page);
	return 0;
}
