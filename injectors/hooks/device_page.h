/* device_page.h - the page on which a host's devices stand: one file a host
 * SPDX-License-Identifier: MIT
 *
 * TRIALDIR/<host>/devices.page, made by the host's agent before the job starts:
 * a regular file of exactly sizeof(struct drill_device_page) bytes, mode 0600,
 * owned by the user the job runs as, allocated in full. The CUDA proxy, the
 * NVML proxy and the writer of the kernel log find it by FAULTDRILL_DEVICES and
 * check owner, mode, size, magic and version; anything wrong: they say so once
 * on stderr, stay passive, and the program runs as without them. The FIFO
 * `wake` beside the page gets one byte when a fault fires in a process, so that
 * the agent need not poll.
 *
 * Because all three read the same page, they tell the same story:
 *
 *   devices   what each device is and how it stands now (CUDA, NVML)
 *   faults    what is armed: written by the agent, fired by whoever meets it
 *   lines     the kernel's lines in order (NVML event sets, the log file)
 *   clients   the processes that loaded a proxy: hello, counters, evidence
 *
 * A fault is a chain of steps (48, 63, 94, say). A step is published whole,
 * under `lock`: first the device's state changes, then the line is appended.
 * drill_device_fire() of device_step.c does so for every step that is due, in
 * the process that met the trigger, before its error can be seen; steps with a
 * delay are the agent's. So whoever got the error finds line and counters.
 *
 * A fault's states:
 *
 *   FREE > ARMED (agent) > FIRED (its trigger was met: claimed by one process
 *   through compare-and-swap, or by the agent when there is no trigger inside
 *   the process) > OVER (agent: reverted) > FREE
 *
 * `lock` is a futex that names its holder's tid; a holder that does not come
 * back within DRILL_DEVICE_LOCK_NS is taken for dead and its lock taken over.
 * Everything else that two may write is atomic. All times are
 * CLOCK_MONOTONIC_RAW in ns. A page is read by whoever can open it and may be
 * damaged by a job: every index and text is bounded by its reader.
 */
#ifndef DRILL_DEVICE_PAGE_H
#define DRILL_DEVICE_PAGE_H

#include "hello.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "faultdrill/device_use.h"

#define DRILL_DEVICE_MAGIC UINT64_C(0x3156454456444c46) /* "FLDVDEV1" */
#define DRILL_DEVICE_VERSION 3u
#define DRILL_DEVICES 64
#define DRILL_DEVICE_FAULTS 16
#define DRILL_DEVICE_STEPS 8
#define DRILL_DEVICE_LINES 512
#define DRILL_DEVICE_CLIENTS 128
#define DRILL_DEVICE_CALLS 1024	 /* entry points told apart */
#define DRILL_DEVICE_SITES 16	 /* positions recorded of a corruption */
#define DRILL_DEVICE_LANES 32 /* threads of one process told apart */
#define DRILL_DEVICE_USES 16 /* devices of one process */
#define DRILL_NVLINKS 18
#define DRILL_DEVICE_LOCK_NS INT64_C(500000000)

/* What a fault does to the program (its effect). */
enum drill_device_action {
	DRILL_DEVICE_NOTHING,	/* signal only */
	DRILL_DEVICE_STICKY,	/* the context fails, asynchronously, for good:
				   the launch succeeds, the next call that
				   synchronises and every later one says error */
	DRILL_DEVICE_RETURN,	/* this call says error, once for each hit */
	DRILL_DEVICE_DELAY,	/* this call takes delay_ns longer */
	DRILL_DEVICE_HANG,	/* what was launched never ends: queries say
				   600, syncs block until the fault is over */
	DRILL_DEVICE_SLOW,	/* kernels take factor_ppm as long */
	DRILL_DEVICE_FLIP,	/* bits flip in `flip_where` */
	DRILL_DEVICE_OOM,	/* allocations beyond limit_bytes say 2 */
	DRILL_DEVICE_NO_PEER,	/* no peer access: 0 and 217 */
	DRILL_DEVICE_ABSENT,	/* not there at the next cuInit */
};

enum drill_device_flip {
	DRILL_FLIP_MEMORY = 1, /* an allocation, at the trigger */
	DRILL_FLIP_OUTPUT,     /* what the nth matching kernel wrote */
	DRILL_FLIP_COPY,       /* what the nth matching copy delivered */
};

enum drill_device_fault_state {
	DRILL_DEVICE_FREE,
	DRILL_DEVICE_ARMED,
	DRILL_DEVICE_FIRED,
	DRILL_DEVICE_OVER,
};

/* How a device stands. */
enum drill_device_health {
	DRILL_DEVICE_UNUSED, /* no such device */
	DRILL_DEVICE_OK,
	DRILL_DEVICE_LOST,	     /* off the bus: NVML 15, new contexts 999 */
	DRILL_DEVICE_RESET_REQUIRED, /* NVML 16, new contexts 46 */
	DRILL_DEVICE_GONE,	     /* not enumerated: 100, absent */
};

/* What NVML is asked and CUDA obeys. Plain numbers under `lock`; readers take
 * `seq` before and after (odd: being written). */
struct drill_device {
	_Atomic uint32_t seq;
	_Atomic uint32_t health; /* enum drill_device_health */
	uint32_t index;		 /* physical, as NVML counts */
	uint32_t minor;
	uint8_t uuid[16];	 /* as cuDeviceGetUuid gives it */
	uint32_t domain, bus, dev;
	char name[64], serial[32];
	uint64_t memory_bytes;
	_Atomic uint32_t generation; /* +1 at reset and at replace */
	_Atomic int32_t context_error; /* CUresult of every new context; 0 */
	_Atomic int32_t running_error; /* CUresult all contexts of the device
					  meet (uncontained); 0: none */
	uint32_t recovery_action; /* NVML field 230 */
	uint32_t no_peer;	  /* 1: peer access is refused */
	/* as NVML reports them */
	uint64_t ecc_volatile[2], ecc_aggregate[2]; /* corrected, uncorrected */
	uint32_t retired_sbe, retired_dbe, retired_pending;
	uint32_t remapped_cor, remapped_unc, remapped_pending, remapped_failure;
	uint32_t sm_mhz, sm_max_mhz, mem_mhz, mem_max_mhz;
	uint64_t clock_reasons;
	uint32_t temperature_c, power_mw, power_limit_mw;
	uint64_t link_mask; /* of NVLinks that are active */
	struct drill_device_link {
		uint64_t crc, replay, recovery;
		uint32_t peer;		 /* 1 + device index; 0: none */
		uint32_t room;
	} link[DRILL_NVLINKS];
	uint64_t links_down;	/* of those a fault took from link_mask */
	uint32_t nvml_block_ms; /* what NVML asks of it takes that long and
				   fails: its firmware does not answer */
	/* What NVML alone says: how it stands, if not as it does, and that its
	 * memory is full. */
	uint32_t nvml_health, memory_full;
	uint8_t room[244];
};

/* One step of a chain: a change of state and a line. What is 0 is left. */
struct drill_device_step {
	int64_t delay_ns; /* after the step before it */
	uint32_t xid;	  /* 0: no line */
	uint32_t device;  /* index it happens on (both ends of a link, say) */
	uint32_t events;  /* bits of nvmlEventType beside Xid */
	uint32_t health;  /* enum drill_device_health to go to */
	int32_t context_error, running_error;
	uint32_t recovery_action_1; /* 1 + action */
	uint32_t ecc_corrected, ecc_uncorrected; /* added */
	uint32_t remap_cor, remap_unc, retire_dbe; /* added */
	uint32_t pending_1;	    /* 1 + pending flag of remap/retirement */
	uint32_t failure_1;
	uint32_t clock_mhz;	    /* SM clock to go to */
	uint64_t clock_reasons;	    /* bits set */
	uint64_t links_down;	    /* mask taken from link_mask */
	uint32_t link_crc, link_replay, link_recovery; /* added to each of them */
	uint32_t no_peer_1;
	char text[192]; /* behind "Xid (PCI:..): N, "; %p pid, %n name */
	uint32_t nvml_block_ms;
	uint32_t nvml_health; /* for NVML alone */
	uint32_t memory_full_1;
	uint8_t room[4];
};

struct drill_device_fault {
	/* Written by the agent while FREE. */
	_Atomic uint64_t mark;
	uint32_t action, flip_where;
	int32_t device;	 /* index; -1: any */
	int32_t rank;	 /* FAULTDRILL_RANK or OMPI_COMM_WORLD_RANK; -1: any */
	int32_t attempt; /* 0: any */
	int32_t error;	 /* CUresult */
	uint32_t call;	 /* 1 + index into cuda_symbols.h; 0: by action */
	uint32_t family; /* 1: and any entry of that name (cuda_family.h) */
	uint32_t ppm, seed, bits;
	uint32_t untold; /* OOM: 1: NVML does not show it */
	int64_t nth;	 /* of the matching calls of one process, from 1 */
	int64_t every;	 /* then each every-th; 0: that one only */
	int64_t count;	 /* hits at most, over all processes; 0: no limit */
	int64_t delay_ns;
	uint64_t limit_bytes;
	uint32_t factor_ppm; /* _Atomic in spirit: closed loop rewrites it */
	uint32_t steps;
	char kernel[128]; /* name contains this; "": any */
	struct drill_device_step step[DRILL_DEVICE_STEPS];
	/* Written by whoever meets it. */
	_Alignas(64) _Atomic uint32_t state; /* a futex: hangs wait on it */
	_Atomic uint32_t steps_done;
	_Atomic uint64_t matched, hits; /* calls */
	_Atomic int64_t fired_ns, last_hit_ns;
	_Atomic int64_t surfaced_ns; /* an error was first returned, or a first
					sync blocked, or bits changed */
	_Atomic int64_t last_step_ns;
	_Atomic int32_t by_pid, by_client; /* who fired it; client 1 + index */
	_Atomic uint32_t surfaced_call; /* 1 + index of the call that said it */
	_Atomic uint64_t returned;	/* calls that said the error */
	_Atomic uint32_t waiting;	/* threads blocked now */
	_Atomic int64_t added_ns;	/* by DELAY and SLOW, in all */
	_Atomic uint32_t skipped_capture; /* not done: a stream captured */
	_Atomic uint32_t sites;
	struct drill_device_site {
		uint64_t address, size; /* the range that was picked from */
		uint64_t bit;		/* from its begin */
		int64_t t_ns;
	} site[DRILL_DEVICE_SITES];
	char by_name[16]; /* of by_pid, written under lock before the steps */
	uint8_t room[48];
};

/* A line of the log, an event of NVML, or both: an event that the kernel is
 * silent about has no text. */
struct drill_device_line {
	_Atomic uint64_t seq; /* 1 + its number, published last */
	int64_t t_ns;
	uint32_t device, xid, events, pid;
	char text[216]; /* "NVRM: Xid (PCI:0000:3b:00): 48, ..." */
};

/* What one thread called; later threads share the last lane, whose counts are
 * then a little low. */
struct drill_device_lane {
	_Alignas(64) _Atomic uint64_t calls;
	_Atomic uint64_t launches;
};

/* Which proxies a process loaded. */
enum drill_proxies { DRILL_PROXY_CUDA = 1, DRILL_PROXY_NVML = 2 };

/* A process that loaded a proxy. One that computes keeps a lock on the first
 * byte of its record in the file (F_OFD_SETLK): the kernel takes it back when the
 * process is dead or executes another program, whatever became of its pid. */
struct drill_device_client {
	_Atomic uint32_t claimed, hello; /* enum drill_hello; published last */
	int32_t pid, rank, attempt;	 /* pid as the process sees it */
	uint32_t proxies;		 /* bits of enum drill_proxies */
	int64_t hello_ns;
	_Atomic uint64_t devices; /* mask of those it has contexts on */
	char build[64], program[64], next[256]; /* next library's path */
	_Atomic uint64_t linked;   /* entries called by their own name */
	_Atomic uint64_t remapped; /* pointers of cuGetProcAddress swapped */
	_Atomic uint64_t passed;   /* pointers passed through unknown */
	_Atomic uint64_t bypassed; /* second libcudas seen in the process */
	_Atomic uint64_t contexts;
	_Atomic uint32_t forked, capturing, audited;
	_Atomic uint32_t shows; /* 1: the next library fills `use`, so that it
				   says all that there is to say */
	uint8_t room[60];
	struct drill_device_lane lane[DRILL_DEVICE_LANES]; /* CUDA's calls */
	/* What it holds and does: filled by the software device. NVML sums it
	 * up over the processes that are there. */
	struct faultdrill_device_use use[DRILL_DEVICE_USES];
};

/* Why an entry point takes the slow way. */
enum drill_device_hot {
	DRILL_HOT_NAMED = 1, /* a fault names it (agent) */
	DRILL_HOT_SICK = 2,  /* some context or device is sick: by a firing,
				never taken back in this trial */
	DRILL_HOT_KIND = 4,  /* a fault is about its kind (agent) */
};

struct drill_device_page {
	_Atomic uint64_t magic; /* published last */
	uint32_t version, size;
	uint32_t owner, mode; /* uid and mode of the file */
	int64_t created_ns;
	char build[64], path[256], host[64];
	_Alignas(64) _Atomic uint32_t lock; /* tid of the holder; 0: free */
	_Atomic uint32_t armed;	  /* bits of faults that are not FREE */
	_Atomic uint32_t unwell;  /* 1: some device is not as new */
	_Atomic uint32_t refused; /* processes that found no client slot */
	_Atomic uint64_t lines;	  /* appended so far; the ring holds the last */
	/* How far the agent has come with the log: the one with more lines
	 * holds, for `lines` is written last (xid_log.c). */
	struct drill_device_logged {
		_Atomic uint64_t lines, bytes; /* of the file, until then */
		_Atomic uint64_t said;	       /* devices introduced */
	} logged[2];
	/* By entry point, bits of drill_device_hot: not 0 sends a call through
	 * the slow way. */
	_Alignas(64) _Atomic uint8_t hot[DRILL_DEVICE_CALLS];
	_Alignas(4096) struct drill_device device[DRILL_DEVICES];
	_Alignas(4096) struct drill_device_fault fault[DRILL_DEVICE_FAULTS];
	_Alignas(4096) struct drill_device_line line[DRILL_DEVICE_LINES];
	_Alignas(4096) struct drill_device_client client[DRILL_DEVICE_CLIENTS];
};

#endif
