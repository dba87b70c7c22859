# Makefile - builds, tests, drills; `make help` lists the targets
# SPDX-License-Identifier: MIT
#
# V=1 shows the commands, SAN=1 adds ASan and UBSan, SAN=thread TSan,
# CC=clang works. Everything made goes to $(BUILD), nothing else is touched.
BUILD  ?= build
CC     ?= cc
MPICC  ?= mpicc
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wformat=2 -Wwrite-strings
BASE := -std=gnu11 $(WARN) -I. -Iworkloads/include -D_GNU_SOURCE \
	$(if $(WERROR),-Werror)
ifeq ($(SAN),1)
BASE += -fsanitize=address,undefined -fno-omit-frame-pointer
else ifeq ($(SAN),thread)
BASE += -fsanitize=thread -fno-omit-frame-pointer
endif

Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-5s %s\n' $(1) $@)
obj  = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

# What proxies, agent and starter do to a device page alike.
PAGE_SRC  := $(sort $(wildcard injectors/hooks/device_*.c))
CORE_SRC  := $(sort $(wildcard harness/core/*.c))
AGENT_SRC := $(sort $(filter-out %/main.c,$(wildcard harness/agent/*.c)) \
	$(wildcard injectors/*.c) \
	$(filter-out injectors/hooks/%,$(wildcard injectors/*/*.c)) \
	injectors/hooks/hooks.c injectors/hooks/hook_words.c \
	$(PAGE_SRC) injectors/hooks/devices.c injectors/hooks/devices_told.c \
	injectors/hooks/xid_log.c)
CTRL_SRC  := $(sort $(filter-out %/main.c,$(wildcard harness/lab/*.c \
	harness/engine/*.c harness/lua/*.c harness/measure/*.c \
	harness/cli/*.c reports/*.c)))
UNIT_SRC  := $(sort $(wildcard tests/unit/test_*.c))
UNIT      := $(patsubst tests/%.c,$(BUILD)/tests/%,$(UNIT_SRC))
PROGRAM := $(if $(shell which $(MPICC) 2>/dev/null),$(patsubst %.c,$(BUILD)/%,\
	$(sort $(filter-out tests/programs/cuda_%,$(wildcard tests/programs/*.c)))))
HELP_SRC  := $(sort $(wildcard tests/support/*.c))

CTRL_PKG  := lua5.4 yaml-0.1 libuv jansson libnl-3.0 libnl-route-3.0
PKG_CFLAGS := $(shell pkg-config --cflags $(CTRL_PKG) 2>/dev/null)
CTRL_LIBS := $(shell pkg-config --libs $(CTRL_PKG) 2>/dev/null) -lxxhash -lm
# The agent is copied to hosts that have nothing: libc only, the rest static.
AGENT_LIBS := -Wl,-Bstatic -luv_a -ljansson -lxxhash -Wl,-Bdynamic -lpthread -ldl

# Packages first, in a make of their own: pkg-config is asked when this file is
# read, so what was missing then would still be missing.
ifndef DRILL_DEPS
#all: ## build everything (as root: installs what is missing first)
#drill: ## break a real training run and show its cost (root)
all drill:
	$(Q)harness/deps.sh build
	$(Q)$(MAKE) --no-print-directory DRILL_DEPS=build $@
#check: ## run all tests (without root some are skipped)
#unit: ## run the unit tests
check bench lint unit:
	$(Q)harness/deps.sh check
	$(Q)$(MAKE) --no-print-directory DRILL_DEPS=check $@
else
all: $(BUILD)/faultdrill $(BUILD)/faultdrill-agent workloads hooks

drill: all
	$(Q)$(BUILD)/faultdrill run scenarios/host/rank_killed.lua

unit: $(UNIT)
	$(Q)BUILD=$(BUILD) tests/run $(UNIT)

# What has threads, for SAN=thread.
threads: $(addprefix $(BUILD)/tests/unit/,test_hook test_progress \
	test_softcuda test_softcuda_graphs)
	$(Q)BUILD=$(BUILD) tests/run $^

check: all $(UNIT) $(PROGRAM) gpu-programs $(BUILD)/tests/browser/render
	$(Q)BUILD=$(BUILD) tests/run $(UNIT) $(sort $(wildcard tests/lint/*.sh)) \
		$(sort $(wildcard tests/e2e/*.sh)) \
		$(sort $(wildcard tests/browser/*.sh))
endif

$(BUILD)/flags: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(CC) $(BASE) $(CFLAGS)' | cmp -s - $@ || \
		echo '$(CC) $(BASE) $(CFLAGS)' > $@

# The build id that both ends of a connection compare.
$(BUILD)/build_id.h: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)id=$$(cat harness/core/*.[ch] harness/agent/*.[ch] injectors/*.[ch] \
		injectors/*/*.[ch] workloads/include/faultdrill/*.h 2>/dev/null \
		| sha256sum | cut -c1-16); \
	ver=$$(git describe --always --tags 2>/dev/null || echo unknown); \
	printf '#define DRILL_BUILD_ID "%s"\n#define DRILL_VERSION "%s"\n' \
		"$$id" "$$ver" | cmp -s - $@ || \
	printf '#define DRILL_BUILD_ID "%s"\n#define DRILL_VERSION "%s"\n' \
		"$$id" "$$ver" > $@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(BUILD)/build_id.h
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(PKG_CFLAGS) -I$(BUILD) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libcore.a: $(call obj,$(CORE_SRC))
$(BUILD)/libagent.a: $(call obj,$(AGENT_SRC))
$(BUILD)/libctrl.a: $(call obj,$(CTRL_SRC))
$(BUILD)/libsupport.a: $(call obj,$(HELP_SRC))
$(BUILD)/lib%.a:
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/faultdrill: $(call obj,harness/cli/main.c) $(BUILD)/libctrl.a \
		$(BUILD)/libagent.a $(BUILD)/libcore.a
	$(call say,LD)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CTRL_LIBS)

$(BUILD)/faultdrill-agent: $(call obj,harness/agent/main.c) \
		$(BUILD)/libagent.a $(BUILD)/libcore.a
	$(call say,LD)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(AGENT_LIBS)

# Writes reports for tests/browser/report.sh, and for looking at them.
$(BUILD)/tests/browser/render: $(call obj,tests/browser/render.c) \
		$(BUILD)/libsupport.a $(BUILD)/libctrl.a $(BUILD)/libcore.a
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $< \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(CTRL_LIBS)

# Its allocations can be made to fail.
$(BUILD)/tests/unit/test_malloc_core: LDFLAGS += \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/libsupport.a \
		$(BUILD)/libctrl.a $(BUILD)/libagent.a $(BUILD)/libcore.a
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $< \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(CTRL_LIBS) -lcheck -lsubunit -lm -lrt -lpthread

# Test objects are kept: they are no intermediate files.
.SECONDARY:

# The software CUDA device; where a toolkit is, our header is checked with it.
NVCC      ?= $(shell which nvcc 2>/dev/null)
CUDA_HOME ?= $(if $(NVCC),$(patsubst %/bin/,%,$(dir $(realpath $(NVCC)))))
CUDA_INC  := $(wildcard $(CUDA_HOME)/include/cuda.h)
SOFT_SRC  := $(filter-out %/check_api.c,$(sort $(wildcard workloads/softcuda/*.c)))

$(BUILD)/pic/%.o: %.c $(BUILD)/flags | $(BUILD)/build_id.h
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) -I$(BUILD) -fPIC -fvisibility=hidden $(CFLAGS) -MMD \
		-MP -c -o $@ $<

$(BUILD)/libsoftcuda.a: $(patsubst %.c,$(BUILD)/pic/%.o,$(SOFT_SRC))

$(BUILD)/softcuda/libcuda.so.1: $(BUILD)/libsoftcuda.a
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -o $@ \
		-Wl,-Bsymbolic -Wl,--whole-archive $< -Wl,--no-whole-archive \
		-lpthread -ldl
	$(Q)ln -sf $(@F) $(@D)/libcuda.so

$(BUILD)/softcuda/checked: workloads/softcuda/check_api.c \
		workloads/include/faultdrill/cuda_api.h $(BUILD)/flags
	$(if $(CUDA_INC),$(call say,CHECK))
	$(Q)mkdir -p $(@D)
	$(if $(CUDA_INC),$(Q)$(CC) $(BASE) -isystem $(dir $(CUDA_INC)) \
		-fsyntax-only $<)
	$(Q)touch $@

$(BUILD)/tests/unit/test_softcuda $(BUILD)/tests/unit/test_softcuda_graphs: \
	$(BUILD)/libsoftcuda.a

# Jobs for tests; without an MPI compiler those tests say that they skipped.
# Never with a sanitizer: it would judge the MPI library.
$(BUILD)/tests/programs/%: tests/programs/%.c $(BUILD)/flags
	$(call say,MPICC)
	$(Q)mkdir -p $(@D)
	$(Q)OMPI_CC='$(CC)' $(MPICC) $(filter-out -fsanitize=%,$(BASE)) \
		$(CFLAGS) -MMD -MP -o $@ $<

# CUDA programs for tests, each reaching the driver in its own way; those of the
# CUDA runtime only where a toolkit is.
CUDA_LIB   := $(dir $(firstword $(wildcard $(CUDA_HOME)/lib64/libcudart_static.a)))
CUDA_TESTS := $(patsubst %.c,$(BUILD)/%,$(filter-out %_runtime.c,\
	$(sort $(wildcard tests/programs/cuda_*.c)))) $(if $(CUDA_LIB),\
	$(addprefix $(BUILD)/tests/programs/cuda_runtime_,static shared))

cuda-programs: $(CUDA_TESTS) $(BUILD)/tests/cuda/libcuda.so.1

$(BUILD)/tests/cuda/libcuda.so.1: tests/support/cuda/every.S \
		tests/support/cuda/every.c injectors/hooks/cuda_symbols.h $(BUILD)/flags
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fsanitize=%,$(BASE)) $(CFLAGS) -fPIC -shared \
		-Wl,-soname,$(@F) -o $@ $(filter %.S %.c,$^)

$(BUILD)/tests/programs/cuda_%: tests/programs/cuda_%.c $(BUILD)/flags \
		$(wildcard tests/programs/*.h) $(BUILD)/softcuda/libcuda.so.1
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fsanitize=%,$(BASE)) $(CFLAGS) -o $@ $< \
		$(CUDA_LINK) -ldl -lpthread
$(BUILD)/tests/programs/cuda_linked: CUDA_LINK = -L$(BUILD)/softcuda -lcuda

$(BUILD)/tests/programs/cuda_runtime_%: tests/programs/cuda_runtime.c $(BUILD)/flags
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) $(CFLAGS) -isystem $(CUDA_HOME)/include \
		-o $@ $< $(CUDART_$*) -ldl -lpthread -lrt
CUDART_static = $(CUDA_LIB)libcudart_static.a
CUDART_shared = -L$(CUDA_LIB) -lcudart -Wl,-rpath,$(CUDA_LIB)

# For a machine with a GPU and nothing else: no library is needed.
ONE_SRC := harness/cli/exec_place.c injectors/device/xid.c harness/core/err.c \
	injectors/hooks/devices.c injectors/hooks/devices_told.c $(PAGE_SRC)
$(BUILD)/gpu/one: $(call obj,tests/gpu/one.c $(ONE_SRC))
$(BUILD)/gpu/identity: $(call obj,tests/gpu/identity.c)
$(BUILD)/gpu/one $(BUILD)/gpu/identity:
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -ldl

# Not a job: it plays the agent's part for the test of the health check.
$(BUILD)/tests/programs/device_page: $(call obj,tests/programs/device_page.c) \
		$(BUILD)/libagent.a $(BUILD)/libcore.a
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(AGENT_LIBS)

# The training job. Its kernels: one object an instruction set, chosen at run
# time, never -march=native; contraction off, so that all give the same bits.
KERNEL_ISA := $(if $(filter x86_64,$(shell uname -m)),x86-64 avx2 avx512,generic)
ISA_x86-64 := -march=x86-64
ISA_avx2   := -march=x86-64 -mavx2
ISA_avx512 := -march=x86-64 -mavx512f -mavx512vl -mavx512dq -mavx512bw
KERNELS    := $(KERNEL_ISA:%=$(BUILD)/train-kernels.%.so)
TRAIN_SRC  := $(filter-out %/kernels.c %/comm_mpi.c %/comm_none.c,\
	$(sort $(wildcard workloads/train/*.c)))
TRAIN      := $(BUILD)/train-solo $(if $(shell which $(MPICC) 2>/dev/null),$(BUILD)/train)

workloads: $(TRAIN) $(KERNELS)

# What tests/gpu/check needs: no library beyond libc.
gpu-programs: hooks cuda-programs $(BUILD)/gpu/one $(BUILD)/gpu/identity \
	$(BUILD)/train-solo $(KERNELS)

$(BUILD)/train-kernels.%.so: workloads/train/kernels.c $(BUILD)/flags \
		$(wildcard workloads/train/*.h) workloads/include/faultdrill/softcuda.h
	$(call say,CC)
	$(Q)$(CC) -std=gnu11 $(WARN) -I. -Iworkloads/include -O3 -fPIC -shared \
		-fvisibility=hidden -ffp-contract=off -fno-math-errno $(ISA_$*) \
		-DKERNELS_ISA='"$*"' -o $@ $< -lm

$(BUILD)/train-solo: $(call obj,$(TRAIN_SRC) workloads/train/comm_none.c)
	$(call say,LD)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread -ldl -lm

$(BUILD)/obj/workloads/train/comm_mpi.o: workloads/train/comm_mpi.c $(BUILD)/flags
	$(call say,MPICC)
	$(Q)mkdir -p $(@D)
	$(Q)OMPI_CC=$(CC) $(MPICC) $(BASE) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/train: $(call obj,$(TRAIN_SRC) workloads/train/comm_mpi.c)
	$(call say,LD)
	$(Q)OMPI_CC=$(CC) $(MPICC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $^ \
		-lpthread -ldl -lm

cuda: $(BUILD)/train-kernels.fatbin ## build the kernels for real GPUs (needs nvcc)
$(BUILD)/train-kernels.fatbin: workloads/train/kernels.c \
		$(wildcard workloads/train/*.h)
	$(call say,NVCC)
	$(Q)$(NVCC) -x cu -fatbin --fmad=false -Iworkloads/include -o $@ $<

.PHONY: all drill workloads cuda cuda-programs gpu-programs hooks check unit bench lint format install help clean FORCE
workloads: $(BUILD)/launch $(BUILD)/launch-rank
workloads: $(BUILD)/softcuda/libcuda.so.1 $(BUILD)/softcuda/checked

# The reference launcher, and the rank starter that is copied to hosts.
STARTER_SRC := $(sort $(wildcard workloads/launch/starter*.c))
LAUNCH_SRC  := $(sort $(filter-out %/launch.c $(STARTER_SRC),\
	$(wildcard workloads/launch/*.c)))
$(BUILD)/liblaunch.a: $(call obj,$(LAUNCH_SRC))
$(BUILD)/tests/unit/test_launch_blame: $(BUILD)/liblaunch.a
$(BUILD)/tests/unit/test_launch_health: $(BUILD)/liblaunch.a

$(BUILD)/launch: $(call obj,workloads/launch/launch.c) $(BUILD)/liblaunch.a \
		$(BUILD)/libcore.a
	$(call say,LD)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $^ \
		$(shell pkg-config --libs libuv jansson) -lm

$(BUILD)/launch-rank: $(call obj,$(STARTER_SRC) workloads/launch/xid_line.c \
		workloads/launch/policy.c $(PAGE_SRC) \
		harness/core/environ.c)
	$(call say,LD)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread -ldl

# What is loaded into a job: libc only, no symbol newer than GLIBC_2.28, never
# with a sanitizer (the job has none). Built with the MPI it is for.
HOOK_SRC   := injectors/hooks/hook.c injectors/hooks/hook_faults.c
MPIHOOK    := $(patsubst %.c,$(BUILD)/hook/%.o,$(HOOK_SRC) \
	$(sort $(wildcard injectors/hooks/mpi_*.c)))
HOOK_FLAGS := -std=gnu11 $(WARN) $(if $(WERROR),-Werror) -D_GNU_SOURCE -I. \
	-Iworkloads/include -I$(BUILD) -O2 -g -fPIC -fvisibility=hidden \
	-ftls-model=initial-exec -fno-stack-protector -U_FORTIFY_SOURCE

ifneq ($(shell command -v $(MPICC) 2>/dev/null),)
hooks: $(BUILD)/libfaultdrill-mpi.so
else
hooks:
	@echo '  no $(MPICC): the MPI hook is not built'
endif

$(BUILD)/hook/%.o: %.c | $(BUILD)/build_id.h
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC) $(HOOK_FLAGS) -MMD -MP \
		-c -o $@ $<

$(BUILD)/libfaultdrill-mpi.so: $(MPIHOOK)
	$(call say,LD)
	$(Q)$(CC) -shared -Wl,-z,defs,-z,relro,-soname,$(@F) -o $@ $^ -ldl \
		-lpthread

-include $(MPIHOOK:.o=.d)

# The CUDA proxy, called like the driver library; never unloaded, for threads
# and pointers may outlive the program's dlclose.
CUDA_HOOK := $(patsubst %,$(BUILD)/hook/%.o,$(basename \
	$(sort $(wildcard injectors/hooks/cuda_*.c injectors/hooks/cuda_*.S)) \
	$(PAGE_SRC)))
CUDA_HOOK := $(filter-out %/cuda_audit.o,$(CUDA_HOOK))

hooks: $(BUILD)/hooks/cuda/libcuda.so.1 $(BUILD)/hooks/cuda_audit.so

$(BUILD)/hook/injectors/hooks/cuda_%.o $(BUILD)/hook/injectors/hooks/device_%.o: \
		MPICC = $(CC)
# Any x86-64 runs it; the generic tuning clears a struct by a slow `rep stos`.
$(BUILD)/hook/injectors/hooks/cuda_%.o: HOOK_FLAGS += \
	$(if $(filter x86_64,$(shell uname -m)),-mtune=skylake-avx512)

# By their old names, which an old libc still has apart.
OLD_LIBS := -Wl,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0

$(BUILD)/hook/%.o: %.S
	$(call say,AS)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -MMD -MP -c -o $@ $<

$(BUILD)/hooks/cuda/libcuda.so.1: $(CUDA_HOOK)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-z,defs,-z,now,-z,relro,-z,nodelete \
		-Wl,-soname,$(@F) -o $@ $^ $(OLD_LIBS)
	$(Q)ln -sf $(@F) $(@D)/libcuda.so

# The proxy inside a test program, where sanitizers see it.
CUDA_EFFECTS := $(addprefix $(BUILD)/tests/unit/,test_cuda_devices \
	test_cuda_effects test_cuda_load test_cuda_streams test_cuda_threads)
$(CUDA_EFFECTS): $(BUILD)/libcudahook.a | $(BUILD)/softcuda/libcuda.so.1
$(BUILD)/libcudahook.a: $(patsubst $(BUILD)/hook/%,$(BUILD)/obj/%,\
	$(filter-out %/cuda_trampoline.o,$(CUDA_HOOK))) \
	$(BUILD)/hook/injectors/hooks/cuda_trampoline.o
threads: $(CUDA_EFFECTS)

# The proxy between a program of threads and the device, where a sanitizer sees
# all three: a tree of its own.
WATCHED := $(BUILD)/watched
$(WATCHED)/hooks/cuda/libcuda.so.1: $(patsubst $(BUILD)/hook/%,$(BUILD)/pic/%,\
		$(filter-out %/cuda_trampoline.o,$(CUDA_HOOK))) \
		$(BUILD)/hook/injectors/hooks/cuda_trampoline.o \
		| $(BUILD)/softcuda/libcuda.so.1
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,nodelete \
		-Wl,-soname,$(@F) -o $@ $^ -lpthread -ldl
	$(Q)ln -sfn ../softcuda $(WATCHED)/softcuda

$(WATCHED)/cuda_threads: tests/programs/cuda_threads.c $(BUILD)/flags \
		$(wildcard tests/programs/*.h)
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) -o $@ $< -ldl -lpthread

threads: tests/threads/cuda_program.sh | $(WATCHED)/cuda_threads \
	$(WATCHED)/hooks/cuda/libcuda.so.1 $(BUILD)/gpu/one

$(BUILD)/hooks/cuda_audit.so: $(BUILD)/hook/injectors/hooks/cuda_audit.o
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-z,defs,-z,now,-z,relro,-soname,$(@F) -o $@ $^ \
		$(OLD_LIBS)

-include $(CUDA_HOOK:.o=.d) $(BUILD)/hook/injectors/hooks/cuda_audit.d

# In front of the management library, or alone.
NVML_HOOK := $(patsubst %.c,$(BUILD)/hook/%.o,\
	$(sort $(wildcard injectors/hooks/nvml_*.c)) \
	$(PAGE_SRC))

hooks: $(BUILD)/hooks/cuda/libnvidia-ml.so.1

$(BUILD)/hook/injectors/hooks/nvml_%.o: MPICC = $(CC)

$(BUILD)/hooks/cuda/libnvidia-ml.so.1: $(NVML_HOOK)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-z,defs,-z,now,-z,relro,-z,nodelete \
		-Wl,-soname,$(@F) -o $@ $^ $(OLD_LIBS)

-include $(NVML_HOOK:.o=.d)

# A management library with two devices, behind the proxy in tests.
$(BUILD)/tests/nvml/toy/libnvidia-ml.so.1: tests/support/nvml/toy.c \
		workloads/include/faultdrill/nvml_api.h
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -I. -Iworkloads/include -O2 -fPIC -shared \
		-Wl,-soname,$(@F) -o $@ $<

$(addprefix $(BUILD)/tests/unit/test_nvml,_start _software _events \
	_next) $(BUILD)/tests/unit/test_cuda_load: \
	| $(BUILD)/hooks/cuda/libnvidia-ml.so.1 \
	$(BUILD)/tests/nvml/toy/libnvidia-ml.so.1 $(BUILD)/tests/programs/nvml_show

# What a monitor sees: needs no MPI.
$(BUILD)/tests/programs/nvml_show: MPICC = $(CC)
check: $(BUILD)/tests/programs/nvml_show

# A driver that tells who called, behind the proxy in tests.
$(BUILD)/tests/cuda/toy/libcuda.so.1: $(wildcard tests/support/cuda/toy.*) \
		injectors/hooks/cuda_symbols.h
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -I. -Iworkloads/include -O2 -fPIC -shared \
		-Wl,-soname,$(@F) -o $@ $(filter %.S %.c,$^)

$(BUILD)/tests/unit/test_contract: | $(BUILD)/hooks/cuda/libcuda.so.1 \
	$(BUILD)/softcuda/libcuda.so.1 $(BUILD)/tests/programs/cuda_goes_on

$(addprefix $(BUILD)/tests/unit/,test_cuda_proxy test_cuda_process \
	test_cuda_threads): | \
	$(BUILD)/hooks/cuda/libcuda.so.1 \
	$(BUILD)/tests/cuda/toy/libcuda.so.1 $(BUILD)/softcuda/libcuda.so.1

# Tests without MPI use the hook's core itself.
$(BUILD)/libsupport.a: $(call obj,$(HOOK_SRC))

# MPI programs for the tests of the hook, and the test that drives them. A
# Fortran program that does not compile here is a skip there.
MPI_TESTS := $(addprefix $(BUILD)/tests/mpi/,drive words threads classic modern)
ifneq ($(and $(DRILL_DEPS),$(shell command -v $(MPICC) 2>/dev/null)),)
check: $(MPI_TESTS)
endif

$(BUILD)/tests/mpi/%: tests/support/mpi/%.c
	$(call say,MPICC)
	$(Q)mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(WARN) -D_GNU_SOURCE -I. -Iworkloads/include \
		-O2 -g -o $@ $< -lpthread

$(BUILD)/tests/mpi/%: tests/support/mpi/%.f90
	$(call say,FC)
	$(Q)mkdir -p $(@D)
	-$(Q)mpif90 -O2 -J $(@D) -o $@ $< 2>$@.log || \
		echo '  (no MPI for Fortran: $@ is not built)'

$(BUILD)/tests/mpi/drive: $(call obj,tests/support/mpi/drive.c) \
		$(BUILD)/libagent.a $(BUILD)/libcore.a
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -o $@ $^ -ljansson -lcheck \
		-lsubunit -lm -lrt -lpthread

# Benches: tests/bench/*.sh run programs of tests/bench/*.c, each in turns of A
# and B within one run.
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,\
	$(filter-out %/toy_mpi.c,$(wildcard tests/bench/*.c)))
BENCH_SH := $(sort $(wildcard tests/bench/*.sh))

ifdef DRILL_DEPS
lint: all ## check the shape of the sources and what is linked
	$(Q)BUILD=$(BUILD) tests/run $(sort $(wildcard tests/lint/*.sh))

bench: all $(BENCHES) ## measure what faultdrill costs, against the limits (root)
	$(Q)BUILD=$(BUILD) tests/bench/table $(BENCH_SH)
endif

$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/libagent.a $(BUILD)/libcore.a \
		$(BUILD)/flags
	$(call say,BENCH)
	$(Q)mkdir -p $(@D)
	$(Q)$(BENCH_CC) $(BASE) -O2 -g -I$(BUILD) -o $@ $< $(BENCH_LIBS) \
		$(BUILD)/libagent.a $(BUILD)/libcore.a -ljansson -lm -lpthread

$(BUILD)/bench/libtoy_mpi.so: tests/bench/toy_mpi.c
	$(call say,BENCH)
	$(Q)mkdir -p $(@D)
	$(Q)$(MPICC) $(BASE) -O2 -fPIC -shared -Wl,-soname,$(@F) -o $@ $< \
		-Wl,--as-needed

$(BUILD)/bench/hook_cost: $(BUILD)/bench/libtoy_mpi.so
$(BUILD)/bench/hook_cost: BENCH_CC = $(CC) $(filter -I%,$(shell $(MPICC) -show))
$(BUILD)/bench/hook_cost: BENCH_LIBS = -L$(BUILD)/bench -ltoy_mpi \
	-Wl,-rpath,'$$ORIGIN'
$(BUILD)/bench/cuda_hook: | $(BUILD)/tests/cuda/libcuda.so.1 \
	$(BUILD)/softcuda/libcuda.so.1 $(BUILD)/hooks/cuda/libcuda.so.1
$(BUILD)/bench/cuda_hook: BENCH_LIBS = -ldl
$(BUILD)/bench/allreduce: BENCH_CC = $(MPICC)
$(BUILD)/bench/lab: $(BUILD)/libctrl.a
$(BUILD)/bench/lab: BENCH_LIBS = $(BUILD)/libctrl.a $(BUILD)/libagent.a \
	$(BUILD)/libcore.a $(CTRL_LIBS)
BENCH_CC = $(CC)

install: all ## copy program, parts and scenarios below $(PREFIX)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/faultdrill \
		$(DESTDIR)$(PREFIX)/share/faultdrill
	install $(BUILD)/faultdrill $(DESTDIR)$(PREFIX)/bin
	install $(BUILD)/faultdrill-agent $(BUILD)/launch $(BUILD)/launch-rank \
		$(BUILD)/train $(BUILD)/train-kernels.*.so \
		$(BUILD)/libfaultdrill-mpi.so $(DESTDIR)$(PREFIX)/lib/faultdrill
	cp -a $(BUILD)/softcuda $(BUILD)/hooks $(DESTDIR)$(PREFIX)/lib/faultdrill/
	cp -a scenarios $(DESTDIR)$(PREFIX)/share/faultdrill/

format: ## lay out the sources with clang-format
	clang-format -i $$(git ls-files '*.c' '*.h')

clean: ## remove what was built
	rm -rf $(BUILD)

help: ## list the targets
	@sed -n 's/^#*\([a-z]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 12

-include $(shell find $(BUILD)/obj $(BUILD)/pic -name '*.d' 2>/dev/null)
