/* xid_table.h - every Xid that can be injected: what it says, what it breaks
 * SPDX-License-Identifier: MIT
 *
 * X(code, NAME, SCOPE, e1, e2, e3, e4, new, ACTION, events, meaning, text,
 *   source). Included where the macros it names are defined.
 *
 * SCOPE: whom the error meets. All but the last three are sticky and come
 * asynchronously: the launch succeeds, the next call that synchronises fails,
 * and so does every later one of that context.
 *   CONTEXT    the context whose work failed
 *   DEVICE     every context of the device
 *   LINK       every context at both ends of an NVLink
 *   LINK_DOWN  not sticky: peer access is refused
 *   ABSENT     the device is not there at the next start
 *   NONE       nobody: the kernel only says so
 * e1 .. e4: what a program gets (CUresult); the first unless asked otherwise.
 * new: what a context that is made afterwards gets, until a reset; 0: it works.
 * ACTION: the recovery action (NVML field 230) that the device then asks for.
 * events: bits of nvmlEventType that come with the Xid.
 * text: the line behind "NVRM: Xid (PCI:dddd:bb:dd): code, ". %p pid, %n name,
 * %c channel, %l link, %i index of the device, %o %O %r %R the old and the new
 * recovery action as number and name. Where NVIDIA's text is not known, its
 * meaning stands there.
 */
#define DRILL_XIDS(X) \
	X(8, FIFO_ERROR_IDLE_TIMEOUT, \
	  CONTEXT, 702, 0, 0, 0, 0, NONE, 0, \
	  "GPU stopped processing", \
	  "pid=%p, name=%n, Channel 00000008", \
	  "Xid catalog; pytorch#10853") \
	X(13, GR_EXCEPTION, \
	  CONTEXT, 719, 700, 715, 716, 0, NONE, 0, \
	  "graphics (SM) engine exception", \
	  "pid=%p, name=%n, Graphics SM Warp Exception on (GPC 0, TPC 1, " \
	  "SM 0): Out Of Range Address", \
	  "Xid catalog; gpud testdata; gpud#46") \
	X(31, FIFO_ERROR_MMU_ERR_FLT, \
	  CONTEXT, 700, 0, 0, 0, 0, NONE, 0, \
	  "GPU memory page fault", \
	  "pid=%p, name=%n, Ch 00000008, intr 00000000. MMU Fault: ENGINE " \
	  "GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f4c_3a000000. Fault is of " \
	  "type FAULT_PDE ACCESS_TYPE_VIRT_READ", \
	  "Xid catalog; pytorch#51382; utensils/mold#543") \
	X(32, PBDMA_ERROR, \
	  CONTEXT, 719, 0, 0, 0, 0, NONE, 0, \
	  "invalid/corrupted push buffer stream", \
	  "pid=%p, name=%n, Channel ID 00000008 intr0 00040000", \
	  "Xid catalog") \
	X(38, FECS_ERR_WATCHDOG_TIMEOUT, \
	  CONTEXT, 719, 0, 0, 0, 0, NONE, 0, \
	  "driver firmware error", \
	  "pid=%p, name=%n, driver firmware error", \
	  "Xid catalog") \
	X(39, CE0_ERROR, \
	  CONTEXT, 719, 0, 0, 0, 0, NONE, 0, \
	  "copy engine exception", \
	  "pid=%p, name=%n, copy engine exception", \
	  "Xid catalog") \
	X(40, CE1_ERROR, \
	  CONTEXT, 719, 0, 0, 0, 0, NONE, 0, \
	  "copy engine exception", \
	  "pid=%p, name=%n, copy engine exception", \
	  "Xid catalog") \
	X(41, CE2_ERROR, \
	  CONTEXT, 719, 0, 0, 0, 0, NONE, 0, \
	  "copy engine exception", \
	  "pid=%p, name=%n, copy engine exception", \
	  "Xid catalog") \
	X(43, RESETCHANNEL_VERIF_ERROR, \
	  CONTEXT, 700, 710, 719, 0, 0, NONE, 0, \
	  "GPU stopped processing (channel reset after user fault)", \
	  "pid=%p, name=%n, Ch 00000008", \
	  "Xid catalog; pytorch#51382; gpud tests") \
	X(44, GR_FAULT_DURING_CTXSW, \
	  CONTEXT, 719, 0, 0, 0, 0, NONE, 0, \
	  "graphics fault during context switch", \
	  "pid=%p, name=%n, graphics fault during context switch", \
	  "Xid catalog; gpud#100") \
	X(45, PREEMPTIVE_REMOVAL, \
	  NONE, 0, 0, 0, 0, 0, NONE, 0, \
	  "preemptive cleanup after a previous error or process kill", \
	  "pid=%p, name=%n, Ch %c", \
	  "Xid catalog; OGKM kernel_rc.c krcReportXid; OGKM#1150") \
	X(46, GPU_TIMEOUT_ERROR, \
	  DEVICE, 999, 719, 0, 0, 46, RESET, 0, \
	  "GPU stopped processing", \
	  "pid=%p, name=%n, GPU stopped processing", \
	  "Xid catalog; docs: health-validation/reference/checks/xid.md") \
	X(48, GPU_ECC_DBE, \
	  CONTEXT, 214, 0, 0, 0, 0, NONE, \
	  nvmlEventTypeDoubleBitEccError, \
	  "double-bit (uncorrectable) ECC error", \
	  "pid=%p, name=%n, An uncorrectable double bit error (DBE) has " \
	  "been detected on GPU in the framebuffer at physAddr 0x2ab4c000 " \
	  "partition 3, subpartition 1.", \
	  "Xid catalog") \
	X(61, PMU_BREAKPOINT, \
	  NONE, 0, 0, 0, 0, 0, NONE, 0, \
	  "internal micro-controller breakpoint (unused from A100 on)", \
	  "pid=%p, name=%n, internal micro-controller breakpoint", \
	  "Xid catalog; gpud#100") \
	X(62, PMU_HALT_ERROR, \
	  DEVICE, 999, 719, 0, 0, 46, RESET, 0, \
	  "internal micro-controller halt", \
	  "pid=%p, name=%n, 0c4e(2a94) 00000000 00000000", \
	  "Xid catalog") \
	X(63, INFOROM_DRAM_RETIREMENT_EVENT, \
	  NONE, 0, 0, 0, 0, 0, NONE, \
	  nvmlEventTypeDramRetirementEvent, \
	  "row remap (Ampere+) / page retirement recorded", \
	  "pid=%p, name=%n, Row Remapper: New row (0x0000000002ab4c00) " \
	  "marked for remapping, reset gpu to activate.", \
	  "Xid catalog; OGKM 2026 ras events") \
	X(64, INFOROM_DRAM_RETIREMENT_FAILURE, \
	  NONE, 0, 0, 0, 0, 0, RESET, \
	  nvmlEventTypeDramRetirementFailure, \
	  "row remap / page retirement failed", \
	  "pid=%p, name=%n, Row Remapper Error: (0x0000000002ab4c00) - " \
	  "All reserved rows for bank are remapped", \
	  "Xid catalog; NVIDIA page-retirement doc") \
	X(68, NVDEC0_ERROR, \
	  CONTEXT, 719, 0, 0, 0, 0, NONE, 0, \
	  "NVDEC0 exception", \
	  "pid=%p, name=%n, NVDEC0 exception", \
	  "Xid catalog; k8s-device-plugin ignore list") \
	X(69, GR_CLASS_ERROR, \
	  CONTEXT, 719, 0, 0, 0, 0, NONE, 0, \
	  "graphics engine class error", \
	  "pid=%p, name=%n, Class Error: ChId 0008, Class 0000c7c0, " \
	  "Offset 000002b4, Data 00000000, ErrorCode 00000004", \
	  "Xid catalog") \
	X(74, NVLINK_ERROR, \
	  LINK, 220, 0, 0, 0, 0, NONE, 0, \
	  "NVLink error (NVLink 4 and older)", \
	  "pid=%p, name=%n, NVLink: fatal error detected on link " \
	  "%l(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)", \
	  "Xid catalog; OGKM kernel_nvlinkcorelibtrain.c; pytorch#58155") \
	X(79, GPU_HAS_FALLEN_OFF_THE_BUS, \
	  DEVICE, 999, 719, 0, 0, 999, REBOOT, \
	  nvmlEventTypeGpuUnavailableError, \
	  "GPU has fallen off the bus", \
	  "pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", \
	  "Xid catalog; OGKM osinit.c osHandleGpuLost") \
	X(92, EXCESSIVE_SBE_INTERRUPTS, \
	  NONE, 0, 0, 0, 0, 0, NONE, \
	  nvmlEventTypeSingleBitEccErrorStorm, \
	  "high single-bit ECC error rate", \
	  "pid=%p, name=%n, Disabling ECC single-bit error interrupts in " \
	  "framebuffer at logical partition 3, due to high error rate", \
	  "Xid catalog") \
	X(94, CONTAINED_ERROR, \
	  CONTEXT, 214, 226, 0, 0, 0, NONE, \
	  nvmlEventTypeNonFatalPoisonError, \
	  "contained memory error", \
	  "pid=%p, name=%n, Contained: SM (0x1). RST: No, D-RST: No", \
	  "Xid catalog; OGKM kern_gpu_error_cont_ga100.c") \
	X(95, UNCONTAINED_ERROR, \
	  DEVICE, 214, 999, 0, 0, 46, RESET, \
	  nvmlEventTypeFatalPoisonError, \
	  "uncontained memory error", \
	  "pid=%p, name=%n, Uncontained: LTC TAG (0x1,0x0). RST: Yes, " \
	  "D-RST: No", \
	  "Xid catalog; OGKM kern_gpu_error_cont_ga100.c") \
	X(109, CTXSW_TIMEOUT_ERROR, \
	  CONTEXT, 719, 999, 0, 0, 0, RESET, 0, \
	  "context switch timeout", \
	  "pid=%p, name=%n, Ch 00000008, errorString CTX SWITCH TIMEOUT, " \
	  "Info 0x4c000", \
	  "Xid catalog; gpud#46") \
	X(110, SEC_FAULT_ERROR, \
	  DEVICE, 999, 0, 0, 0, 46, RESET, 0, \
	  "security fault", \
	  "SEC_FAULT: _FAULT_WDG", \
	  "Xid catalog; OGKM arch/hopper/kern_gpu_gh100.c") \
	X(119, GSP_RPC_TIMEOUT, \
	  DEVICE, 999, 0, 0, 0, 46, NONE, 0, \
	  "GSP RPC timeout", \
	  "pid=%p, name=%n, Timeout after 6s of waiting for RPC response " \
	  "from GPU%i GSP! Expected function 76 (GSP_RM_CONTROL) " \
	  "(0x20800a4c 0x4).", \
	  "Xid catalog; OGKM kernel_gsp.c; gpud dmesg-with-xid-119.log") \
	X(120, GSP_ERROR, \
	  DEVICE, 999, 0, 0, 0, 46, NONE, 0, \
	  "GSP error", \
	  "GSP task crashed", \
	  "Xid catalog") \
	X(121, C2C_ERROR, \
	  NONE, 0, 0, 0, 0, 0, NONE, 0, \
	  "chip-to-chip (CPU-GPU) link error", \
	  "C2C link error", \
	  "Xid catalog") \
	X(122, SPI_PMU_RPC_READ_FAIL, \
	  NONE, 0, 0, 0, 0, 0, NONE, 0, \
	  "SPI PMU RPC read failed (unused from A100 on)", \
	  "SPI PMU RPC read failed", \
	  "Xid catalog") \
	X(123, SPI_PMU_RPC_WRITE_FAIL, \
	  NONE, 0, 0, 0, 0, 0, NONE, 0, \
	  "SPI PMU RPC write failed (unused from A100 on)", \
	  "SPI PMU RPC write failed", \
	  "Xid catalog") \
	X(136, ALI_TRAINING_FAIL, \
	  LINK_DOWN, 217, 802, 0, 0, 0, NONE, 0, \
	  "NVLink training failed", \
	  "NVLink: Link training failed for link %l(0x0, 0x0, 0x0, 0x0, " \
	  "0x0, 0x0, 0x0)", \
	  "Xid catalog; OGKM arch/hopper/kernel_nvlink_gh100.c") \
	X(137, NVLINK_PRIV_ERR, \
	  CONTEXT, 226, 700, 0, 0, 0, NONE, 0, \
	  "NVLink privilege error", \
	  "RLW_RXPIPE interrupt hit on link %l on GPU%i: PRIV Error", \
	  "Xid catalog; NVIDIA/nccl#2241") \
	X(140, UNRECOVERABLE_ECC_ERROR_ESCAPE, \
	  DEVICE, 214, 0, 0, 0, 46, RESET, 0, \
	  "ECC error seen outside normal handling", \
	  "An uncorrectable ECC error detected (possible firmware " \
	  "handling failure) DRAM:1, LTC:0, MMU:0, PCIE:0", \
	  "Xid catalog; OGKM arch/turing/kern_gpu_tu102.c") \
	X(143, GPU_INIT_ERROR, \
	  ABSENT, 100, 802, 0, 0, 100, RESET, 0, \
	  "GPU initialisation error", \
	  "Error status 0x2 while polling for FSP boot complete, 0x0, " \
	  "0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0", \
	  "Xid catalog; OGKM fsp/arch/hopper/kern_fsp_gh100.c") \
	X(144, NVLINK_SAW_ERROR, \
	  LINK, 220, 226, 0, 0, 0, NONE, 0, \
	  "NVLink5 SAW unit error", \
	  "pid=%p, name=%n, SAW_MVB Fatal XC0 i0 Link %l (0x00400000 " \
	  "0x00010000 0x00000000 0x00000000 0x00000000 0x00000000)", \
	  "Xid catalog; gpud kmsg.go/tests; OGKM#1355") \
	X(145, NVLINK_RLW_ERROR, \
	  LINK, 220, 226, 0, 0, 0, NONE, 0, \
	  "NVLink5 RLW unit error", \
	  "pid=%p, name=%n, RLW_RXPIPE Fatal XC0 i0 Link %l (0x00400000 " \
	  "0x00010000 0x00000000 0x00000000 0x00000000 0x00000000)", \
	  "Xid catalog; gpud kmsg.go/tests; OGKM#1355") \
	X(146, NVLINK_TLW_ERROR, \
	  LINK, 220, 226, 0, 0, 0, NONE, 0, \
	  "NVLink5 TLW unit error", \
	  "pid=%p, name=%n, TLW_CTRL Fatal XC0 i0 Link %l (0x00400000 " \
	  "0x00010000 0x00000000 0x00000000 0x00000000 0x00000000)", \
	  "Xid catalog; gpud kmsg.go/tests; OGKM#1355") \
	X(147, NVLINK_TREX_ERROR, \
	  LINK, 220, 226, 0, 0, 0, NONE, 0, \
	  "NVLink5 TREX unit error", \
	  "pid=%p, name=%n, TREX Fatal XC0 i0 Link %l (0x00400000 " \
	  "0x00010000 0x00000000 0x00000000 0x00000000 0x00000000)", \
	  "Xid catalog; gpud kmsg.go/tests; OGKM#1355") \
	X(148, NVLINK_NVLPW_CTRL_ERROR, \
	  LINK, 220, 226, 0, 0, 0, NONE, 0, \
	  "NVLink5 NVLPW_CTRL unit error", \
	  "pid=%p, name=%n, NVLPW_CTRL Fatal XC0 i0 Link %l (0x00400000 " \
	  "0x00010000 0x00000000 0x00000000 0x00000000 0x00000000)", \
	  "Xid catalog; gpud kmsg.go/tests; OGKM#1355") \
	X(149, NVLINK_NETIR_ERROR, \
	  LINK, 220, 226, 0, 0, 0, NONE, 0, \
	  "NVLink5 NETIR unit error", \
	  "pid=%p, name=%n, NETIR_LINK_EVT Fatal XC0 i0 Link %l " \
	  "(0x00400000 0x00010000 0x00000000 0x00000000 0x00000000 " \
	  "0x00000000)", \
	  "Xid catalog; gpud kmsg.go/tests; OGKM#1355") \
	X(150, NVLINK_MSE_ERROR, \
	  LINK, 220, 226, 0, 0, 0, NONE, 0, \
	  "NVLink5 MSE unit error", \
	  "pid=%p, name=%n, MSE_WATCHDOG Fatal XC0 i0 Link %l (0x00400000 " \
	  "0x00010000 0x00000000 0x00000000 0x00000000 0x00000000)", \
	  "Xid catalog; gpud kmsg.go/tests; OGKM#1355") \
	X(154, GPU_RECOVERY_ACTION_CHANGED, \
	  NONE, 0, 0, 0, 0, 0, NONE, \
	  nvmlEventTypeGpuRecoveryAction, \
	  "GPU recovery action changed", \
	  "GPU recovery action changed from 0x%o (%O) to 0x%r (%R)", \
	  "Xid catalog; OGKM gpu.c, ctrl2080gpu.h") \
	X(155, NVLINK_SW_DEFINED_ERROR, \
	  LINK, 220, 0, 0, 0, 0, NONE, 0, \
	  "NVLink error defined by software", \
	  "NVLink error defined by software", \
	  "Xid catalog") \
	X(156, RESOURCE_RETIREMENT_EVENT, \
	  NONE, 0, 0, 0, 0, 0, NONE, 0, \
	  "resource retirement", \
	  "Retiring TPC 1 from GPC 0. Perform GPU reset to activate " \
	  "repair.", \
	  "Xid catalog") \
	X(157, RESOURCE_RETIREMENT_FAILURE, \
	  NONE, 0, 0, 0, 0, 0, NONE, 0, \
	  "resource retirement failed", \
	  "resource retirement failed", \
	  "Xid catalog") \
	X(158, GPU_FATAL_TIMEOUT, \
	  DEVICE, 999, 0, 0, 0, 46, RESET, 0, \
	  "GPU fatal timeout", \
	  "GPU fatal timeout", \
	  "Xid catalog") \
	X(171, UNCORRECTABLE_DRAM_ERROR, \
	  CONTEXT, 214, 0, 0, 0, 0, NONE, 0, \
	  "extra detail line for Xid 48", \
	  "DRAM, Uncorrectable ECC error", \
	  "Xid catalog") \
	X(172, UNCORRECTABLE_SRAM_ERROR, \
	  CONTEXT, 214, 0, 0, 0, 0, NONE, 0, \
	  "extra detail line for Xid 48", \
	  "LTC, Uncorrectable SRAM error", \
	  "Xid catalog; OGKM gsp/arch/blackwell/kernel_gsp_ecc_gb100.c")
