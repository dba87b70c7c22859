/* nvml_api.h - the part of NVIDIA's management library that is used here
 * SPDX-License-Identifier: MIT
 *
 * Used instead of the vendor's nvml.h, so that everything builds without it.
 * Names, values and layouts are those of the library's binary interface. Where
 * each is public: error codes, enumerations, structures, field numbers and
 * prototypes in NVIDIA/go-nvml (gen/nvml/nvml.h of CUDA 11.8 to 13, the
 * generated dispatch header); event bits above 0x100, the recovery action and
 * the fields from 200 on in NVIDIA/DCGM (sdk/nvidia/nvml/dcgm_nvml.h, 72fa3fe)
 * and in the Python and Rust bindings. Their sizes are asserted below.
 *
 * FAULTDRILL_NVML_FUNCTIONS(F) lists F(name, arguments): declare, or make a
 * table of pointers for dlsym, with it.
 */
#ifndef FAULTDRILL_NVML_API_H
#define FAULTDRILL_NVML_API_H

#define FAULTDRILL_NVML_RETURNS(E)                                             \
	E(NVML_SUCCESS, 0, "Success")                                          \
	E(NVML_ERROR_UNINITIALIZED, 1, "Uninitialized")                        \
	E(NVML_ERROR_INVALID_ARGUMENT, 2, "Invalid Argument")                  \
	E(NVML_ERROR_NOT_SUPPORTED, 3, "Not Supported")                        \
	E(NVML_ERROR_NO_PERMISSION, 4, "Insufficient Permissions")             \
	E(NVML_ERROR_ALREADY_INITIALIZED, 5, "Already Initialized")            \
	E(NVML_ERROR_NOT_FOUND, 6, "Not Found")                                \
	E(NVML_ERROR_INSUFFICIENT_SIZE, 7, "Insufficient Size")                \
	E(NVML_ERROR_INSUFFICIENT_POWER, 8, "Insufficient External Power")     \
	E(NVML_ERROR_DRIVER_NOT_LOADED, 9, "Driver Not Loaded")                \
	E(NVML_ERROR_TIMEOUT, 10, "Timeout")                                   \
	E(NVML_ERROR_IRQ_ISSUE, 11, "Interrupt Request Issue")                 \
	E(NVML_ERROR_LIBRARY_NOT_FOUND, 12, "NVML Shared Library Not Found")   \
	E(NVML_ERROR_FUNCTION_NOT_FOUND, 13, "Function Not Found")             \
	E(NVML_ERROR_CORRUPTED_INFOROM, 14, "Corrupted infoROM")               \
	E(NVML_ERROR_GPU_IS_LOST, 15, "GPU is lost")                           \
	E(NVML_ERROR_RESET_REQUIRED, 16, "GPU requires restart")               \
	E(NVML_ERROR_OPERATING_SYSTEM, 17,                                     \
	  "The operating system has blocked the request.")                     \
	E(NVML_ERROR_LIB_RM_VERSION_MISMATCH, 18,                              \
	  "RM has detected an NVML/RM version mismatch.")                      \
	E(NVML_ERROR_IN_USE, 19, "In use by another client")                   \
	E(NVML_ERROR_MEMORY, 20, "Insufficient Memory")                        \
	E(NVML_ERROR_NO_DATA, 21, "No data")                                   \
	E(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, 25, "Version mismatch")        \
	E(NVML_ERROR_DEPRECATED, 26, "Deprecated")                             \
	E(NVML_ERROR_NOT_READY, 27, "Not ready")                               \
	E(NVML_ERROR_UNKNOWN, 999, "Unknown Error")

#define FAULTDRILL_NVML_ENUM(name, value, text) name = value,
typedef enum nvmlReturn_enum {
	FAULTDRILL_NVML_RETURNS(FAULTDRILL_NVML_ENUM)
} nvmlReturn_t;

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct nvmlEventSet_st *nvmlEventSet_t;

enum { NVML_FEATURE_DISABLED, NVML_FEATURE_ENABLED };
enum { NVML_INIT_FLAG_NO_GPUS = 1, NVML_INIT_FLAG_NO_ATTACH = 2 };
enum { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_CLOCK_VIDEO };
enum { NVML_CLOCK_ID_CURRENT, NVML_CLOCK_ID_APP_CLOCK_TARGET,
       NVML_CLOCK_ID_APP_CLOCK_DEFAULT, NVML_CLOCK_ID_CUSTOMER_BOOST_MAX };
enum { NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED };
enum { NVML_VOLATILE_ECC, NVML_AGGREGATE_ECC };
enum { NVML_MEMORY_LOCATION_L1_CACHE, NVML_MEMORY_LOCATION_L2_CACHE,
       NVML_MEMORY_LOCATION_DRAM, NVML_MEMORY_LOCATION_REGISTER_FILE,
       NVML_MEMORY_LOCATION_TEXTURE_MEMORY, NVML_MEMORY_LOCATION_TEXTURE_SHM,
       NVML_MEMORY_LOCATION_CBU, NVML_MEMORY_LOCATION_SRAM,
       NVML_MEMORY_LOCATION_COUNT };
enum { NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
       NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR };
enum { NVML_NVLINK_ERROR_DL_REPLAY, NVML_NVLINK_ERROR_DL_RECOVERY,
       NVML_NVLINK_ERROR_DL_CRC_FLIT, NVML_NVLINK_ERROR_DL_CRC_DATA,
       NVML_NVLINK_ERROR_DL_ECC_DATA };
enum { NVML_NVLINK_CAP_P2P_SUPPORTED, NVML_NVLINK_CAP_SYSMEM_ACCESS,
       NVML_NVLINK_CAP_P2P_ATOMICS, NVML_NVLINK_CAP_SYSMEM_ATOMICS,
       NVML_NVLINK_CAP_SLI_BRIDGE, NVML_NVLINK_CAP_VALID };
enum { NVML_NVLINK_DEVICE_TYPE_GPU, NVML_NVLINK_DEVICE_TYPE_IBMNPU,
       NVML_NVLINK_DEVICE_TYPE_SWITCH, NVML_NVLINK_DEVICE_TYPE_UNKNOWN = 255 };
enum { NVML_P2P_STATUS_OK, NVML_P2P_STATUS_NOT_SUPPORTED = 5,
       NVML_P2P_STATUS_UNKNOWN };
enum { NVML_P2P_CAPS_INDEX_READ, NVML_P2P_CAPS_INDEX_WRITE,
       NVML_P2P_CAPS_INDEX_NVLINK, NVML_P2P_CAPS_INDEX_ATOMICS };
enum { NVML_TEMPERATURE_GPU };
enum { NVML_COMPUTEMODE_DEFAULT };
enum { NVML_BRAND_UNKNOWN };
enum { NVML_PSTATE_0 };
/* Version 4 of NVLink, as nvmlDeviceGetNvLinkVersion counts. */
enum { NVML_NVLINK_VERSION_4_0 = 6 };
enum { NVML_NVLINK_MAX_LINKS = 18 };

/* Bits of an event set. */
#define nvmlEventTypeSingleBitEccError 0x1ull
#define nvmlEventTypeDoubleBitEccError 0x2ull
#define nvmlEventTypePState 0x4ull
#define nvmlEventTypeXidCriticalError 0x8ull
#define nvmlEventTypeClock 0x10ull
#define nvmlEventTypeSingleBitEccErrorStorm 0x200ull
#define nvmlEventTypeDramRetirementEvent 0x400ull
#define nvmlEventTypeDramRetirementFailure 0x800ull
#define nvmlEventTypeNonFatalPoisonError 0x1000ull
#define nvmlEventTypeFatalPoisonError 0x2000ull
#define nvmlEventTypeGpuUnavailableError 0x4000ull
#define nvmlEventTypeGpuRecoveryAction 0x8000ull

/* Why clocks are below what they could be. */
#define nvmlClocksEventReasonGpuIdle 0x1ull
#define nvmlClocksEventReasonSwPowerCap 0x4ull
#define nvmlClocksThrottleReasonHwSlowdown 0x8ull
#define nvmlClocksEventReasonSwThermalSlowdown 0x20ull
#define nvmlClocksThrottleReasonHwThermalSlowdown 0x40ull
#define nvmlClocksThrottleReasonHwPowerBrakeSlowdown 0x80ull

/* Field numbers of nvmlDeviceGetFieldValues. */
enum {
	NVML_FI_DEV_ECC_CURRENT = 1,
	NVML_FI_DEV_ECC_PENDING = 2,
	NVML_FI_DEV_ECC_SBE_VOL_TOTAL = 3,
	NVML_FI_DEV_ECC_DBE_VOL_TOTAL = 4,
	NVML_FI_DEV_ECC_SBE_AGG_TOTAL = 5,
	NVML_FI_DEV_ECC_DBE_AGG_TOTAL = 6,
	NVML_FI_DEV_RETIRED_SBE = 29,
	NVML_FI_DEV_RETIRED_DBE = 30,
	NVML_FI_DEV_RETIRED_PENDING = 31,
	NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL = 38,
	NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL = 45,
	NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL = 52,
	NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL = 59,
	NVML_FI_DEV_NVLINK_LINK_COUNT = 91,
	NVML_FI_DEV_RETIRED_PENDING_SBE = 92,
	NVML_FI_DEV_RETIRED_PENDING_DBE = 93,
	NVML_FI_DEV_PCIE_REPLAY_COUNTER = 94,
	NVML_FI_DEV_REMAPPED_COR = 142,
	NVML_FI_DEV_REMAPPED_UNC = 143,
	NVML_FI_DEV_REMAPPED_PENDING = 144,
	NVML_FI_DEV_REMAPPED_FAILURE = 145,
	NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY = 161,
	NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY = 162,
	NVML_FI_DEV_NVLINK_ERROR_DL_CRC = 163,
	NVML_FI_DEV_NVLINK_GET_STATE = 165,
	NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS = 206,
	NVML_FI_DEV_NVLINK_COUNT_BUFFER_OVERRUN_ERRORS = 207,
	NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS = 208,
	NVML_FI_DEV_NVLINK_COUNT_RCV_REMOTE_ERRORS = 209,
	NVML_FI_DEV_NVLINK_COUNT_RCV_GENERAL_ERRORS = 210,
	NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS = 211,
	NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS = 212,
	NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS = 213,
	NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS = 214,
	NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS = 215,
	NVML_FI_DEV_GET_GPU_RECOVERY_ACTION = 230,
};

/* What field 230 says. */
enum {
	NVML_GPU_RECOVERY_ACTION_NONE,
	NVML_GPU_RECOVERY_ACTION_GPU_RESET,
	NVML_GPU_RECOVERY_ACTION_NODE_REBOOT,
	NVML_GPU_RECOVERY_ACTION_DRAIN_P2P,
	NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET,
};

enum {
	NVML_VALUE_TYPE_DOUBLE,
	NVML_VALUE_TYPE_UNSIGNED_INT,
	NVML_VALUE_TYPE_UNSIGNED_LONG,
	NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
};

#define NVML_VALUE_NOT_AVAILABLE (~0ull)

typedef struct nvmlPciInfo_st {
	char busIdLegacy[16]; /* "0000:3B:00.0" */
	unsigned int domain, bus, device;
	unsigned int pciDeviceId; /* device << 16 | vendor; _v1 ends here */
	unsigned int pciSubSystemId; /* _v2 has four more words instead */
	char busId[32]; /* "00000000:3B:00.0" */
} nvmlPciInfo_t;

typedef struct nvmlMemory_st {
	unsigned long long total, free, used;
} nvmlMemory_t;

typedef struct nvmlMemory_v2_st {
	unsigned int version; /* size | 2 << 24 */
	unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;

typedef struct nvmlUtilization_st {
	unsigned int gpu, memory; /* percent */
} nvmlUtilization_t;

typedef struct nvmlEccErrorCounts_st {
	unsigned long long l1Cache, l2Cache, deviceMemory, registerFile;
} nvmlEccErrorCounts_t;

typedef struct nvmlProcessInfo_v1_st {
	unsigned int pid;
	unsigned long long usedGpuMemory;
} nvmlProcessInfo_v1_t;

typedef struct nvmlProcessInfo_st {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;

typedef union nvmlValue_st {
	double dVal;
	int siVal;
	unsigned int uiVal;
	unsigned long ulVal;
	unsigned long long ullVal;
	signed long long sllVal;
} nvmlValue_t;

typedef struct nvmlFieldValue_st {
	unsigned int fieldId;
	unsigned int scopeId; /* NVLink fields: the link; ~0: all */
	long long timestamp;  /* us since 1970 */
	long long latencyUsec;
	unsigned int valueType;
	nvmlReturn_t nvmlReturn;
	nvmlValue_t value;
} nvmlFieldValue_t;

/* The first version of nvmlEventSetWait ends behind eventData. */
typedef struct nvmlEventData_st {
	nvmlDevice_t device;
	unsigned long long eventType; /* one bit */
	unsigned long long eventData; /* the Xid; 0 with other bits */
	unsigned int gpuInstanceId, computeInstanceId;
} nvmlEventData_t;

#define FAULTDRILL_NVML_SIZE(type, size)                                       \
	_Static_assert(sizeof(type) == (size), #type " as NVML lays it out")
FAULTDRILL_NVML_SIZE(nvmlReturn_t, 4);
FAULTDRILL_NVML_SIZE(nvmlPciInfo_t, 68);
FAULTDRILL_NVML_SIZE(nvmlMemory_v2_t, 40);
FAULTDRILL_NVML_SIZE(nvmlEccErrorCounts_t, 32);
FAULTDRILL_NVML_SIZE(nvmlProcessInfo_v1_t, 16);
FAULTDRILL_NVML_SIZE(nvmlProcessInfo_t, 24);
FAULTDRILL_NVML_SIZE(nvmlFieldValue_t, 40);
FAULTDRILL_NVML_SIZE(nvmlEventData_t, 32);

#define NVML_OUT unsigned int *

/* Enumerations are passed as unsigned int, as their binary form is. */
#define FAULTDRILL_NVML_FUNCTIONS(F)                                           \
	F(nvmlInit, (void))                                                    \
	F(nvmlInit_v2, (void))                                                 \
	F(nvmlInitWithFlags, (unsigned int flags))                             \
	F(nvmlShutdown, (void))                                                \
	F(nvmlSystemGetDriverVersion, (char *version, unsigned int length))    \
	F(nvmlSystemGetNVMLVersion, (char *version, unsigned int length))      \
	F(nvmlSystemGetCudaDriverVersion, (int *version))                      \
	F(nvmlSystemGetCudaDriverVersion_v2, (int *version))                   \
	F(nvmlSystemGetProcessName,                                            \
	  (unsigned int pid, char *name, unsigned int length))                 \
	F(nvmlDeviceGetCount, (NVML_OUT count))                                \
	F(nvmlDeviceGetCount_v2, (NVML_OUT count))                             \
	F(nvmlDeviceGetHandleByIndex,                                          \
	  (unsigned int index, nvmlDevice_t *device))                          \
	F(nvmlDeviceGetHandleByIndex_v2,                                       \
	  (unsigned int index, nvmlDevice_t *device))                          \
	F(nvmlDeviceGetHandleBySerial,                                         \
	  (const char *serial, nvmlDevice_t *device))                          \
	F(nvmlDeviceGetHandleByUUID, (const char *uuid, nvmlDevice_t *device)) \
	F(nvmlDeviceGetHandleByPciBusId,                                       \
	  (const char *id, nvmlDevice_t *device))                              \
	F(nvmlDeviceGetHandleByPciBusId_v2,                                    \
	  (const char *id, nvmlDevice_t *device))                              \
	F(nvmlDeviceGetName,                                                   \
	  (nvmlDevice_t device, char *name, unsigned int length))              \
	F(nvmlDeviceGetSerial,                                                 \
	  (nvmlDevice_t device, char *serial, unsigned int length))            \
	F(nvmlDeviceGetUUID,                                                   \
	  (nvmlDevice_t device, char *uuid, unsigned int length))              \
	F(nvmlDeviceGetBrand, (nvmlDevice_t device, NVML_OUT brand))           \
	F(nvmlDeviceGetIndex, (nvmlDevice_t device, NVML_OUT index))           \
	F(nvmlDeviceGetMinorNumber, (nvmlDevice_t device, NVML_OUT minor))     \
	F(nvmlDeviceGetPciInfo, (nvmlDevice_t device, nvmlPciInfo_t *pci))     \
	F(nvmlDeviceGetPciInfo_v2, (nvmlDevice_t device, nvmlPciInfo_t *pci))  \
	F(nvmlDeviceGetPciInfo_v3, (nvmlDevice_t device, nvmlPciInfo_t *pci))  \
	F(nvmlDeviceGetPersistenceMode, (nvmlDevice_t device, NVML_OUT mode))  \
	F(nvmlDeviceGetComputeMode, (nvmlDevice_t device, NVML_OUT mode))      \
	F(nvmlDeviceGetCudaComputeCapability,                                  \
	  (nvmlDevice_t device, int *major, int *minor))                       \
	F(nvmlDeviceGetMemoryInfo,                                             \
	  (nvmlDevice_t device, nvmlMemory_t *memory))                         \
	F(nvmlDeviceGetMemoryInfo_v2,                                          \
	  (nvmlDevice_t device, nvmlMemory_v2_t *memory))                      \
	F(nvmlDeviceGetUtilizationRates,                                       \
	  (nvmlDevice_t device, nvmlUtilization_t *utilization))               \
	F(nvmlDeviceGetTemperature,                                            \
	  (nvmlDevice_t device, unsigned int sensor, NVML_OUT celsius))        \
	F(nvmlDeviceGetPowerUsage, (nvmlDevice_t device, NVML_OUT mw))         \
	F(nvmlDeviceGetPowerManagementLimit,                                   \
	  (nvmlDevice_t device, NVML_OUT mw))                                  \
	F(nvmlDeviceGetPowerManagementDefaultLimit,                            \
	  (nvmlDevice_t device, NVML_OUT mw))                                  \
	F(nvmlDeviceGetEnforcedPowerLimit, (nvmlDevice_t device, NVML_OUT mw)) \
	F(nvmlDeviceGetPerformanceState, (nvmlDevice_t device, NVML_OUT state)) \
	F(nvmlDeviceGetClockInfo,                                              \
	  (nvmlDevice_t device, unsigned int type, NVML_OUT mhz))              \
	F(nvmlDeviceGetMaxClockInfo,                                           \
	  (nvmlDevice_t device, unsigned int type, NVML_OUT mhz))              \
	F(nvmlDeviceGetClock, (nvmlDevice_t device, unsigned int type,         \
			       unsigned int id, NVML_OUT mhz))                 \
	F(nvmlDeviceGetCurrentClocksThrottleReasons,                           \
	  (nvmlDevice_t device, unsigned long long *reasons))                  \
	F(nvmlDeviceGetCurrentClocksEventReasons,                              \
	  (nvmlDevice_t device, unsigned long long *reasons))                  \
	F(nvmlDeviceGetSupportedClocksThrottleReasons,                         \
	  (nvmlDevice_t device, unsigned long long *reasons))                  \
	F(nvmlDeviceGetSupportedClocksEventReasons,                            \
	  (nvmlDevice_t device, unsigned long long *reasons))                  \
	F(nvmlDeviceGetEccMode,                                                \
	  (nvmlDevice_t device, NVML_OUT current, NVML_OUT pending))           \
	F(nvmlDeviceGetTotalEccErrors,                                         \
	  (nvmlDevice_t device, unsigned int type, unsigned int counter,       \
	   unsigned long long *count))                                         \
	F(nvmlDeviceGetDetailedEccErrors,                                      \
	  (nvmlDevice_t device, unsigned int type, unsigned int counter,       \
	   nvmlEccErrorCounts_t *counts))                                      \
	F(nvmlDeviceGetMemoryErrorCounter,                                     \
	  (nvmlDevice_t device, unsigned int type, unsigned int counter,       \
	   unsigned int location, unsigned long long *count))                  \
	F(nvmlDeviceGetRetiredPages,                                           \
	  (nvmlDevice_t device, unsigned int cause, NVML_OUT count,            \
	   unsigned long long *addresses))                                     \
	F(nvmlDeviceGetRetiredPages_v2,                                        \
	  (nvmlDevice_t device, unsigned int cause, NVML_OUT count,            \
	   unsigned long long *addresses, unsigned long long *timestamps))     \
	F(nvmlDeviceGetRetiredPagesPendingStatus,                              \
	  (nvmlDevice_t device, NVML_OUT pending))                             \
	F(nvmlDeviceGetRemappedRows,                                           \
	  (nvmlDevice_t device, NVML_OUT corrected, NVML_OUT uncorrected,      \
	   NVML_OUT pending, NVML_OUT failure))                                \
	F(nvmlDeviceGetNvLinkState,                                            \
	  (nvmlDevice_t device, unsigned int link, NVML_OUT active))           \
	F(nvmlDeviceGetNvLinkVersion,                                          \
	  (nvmlDevice_t device, unsigned int link, NVML_OUT version))          \
	F(nvmlDeviceGetNvLinkCapability,                                       \
	  (nvmlDevice_t device, unsigned int link, unsigned int capability,    \
	   NVML_OUT result))                                                   \
	F(nvmlDeviceGetNvLinkRemotePciInfo,                                    \
	  (nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci))        \
	F(nvmlDeviceGetNvLinkRemotePciInfo_v2,                                 \
	  (nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci))        \
	F(nvmlDeviceGetNvLinkRemoteDeviceType,                                 \
	  (nvmlDevice_t device, unsigned int link, NVML_OUT type))             \
	F(nvmlDeviceGetNvLinkErrorCounter,                                     \
	  (nvmlDevice_t device, unsigned int link, unsigned int counter,       \
	   unsigned long long *value))                                         \
	F(nvmlDeviceGetP2PStatus,                                              \
	  (nvmlDevice_t device, nvmlDevice_t peer, unsigned int index,         \
	   NVML_OUT status))                                                   \
	F(nvmlDeviceGetFieldValues,                                            \
	  (nvmlDevice_t device, int count, nvmlFieldValue_t *values))          \
	F(nvmlDeviceGetComputeRunningProcesses,                                \
	  (nvmlDevice_t device, NVML_OUT count, nvmlProcessInfo_v1_t *infos))  \
	F(nvmlDeviceGetComputeRunningProcesses_v2,                             \
	  (nvmlDevice_t device, NVML_OUT count, nvmlProcessInfo_t *infos))     \
	F(nvmlDeviceGetComputeRunningProcesses_v3,                             \
	  (nvmlDevice_t device, NVML_OUT count, nvmlProcessInfo_t *infos))     \
	F(nvmlDeviceGetSupportedEventTypes,                                    \
	  (nvmlDevice_t device, unsigned long long *types))                    \
	F(nvmlDeviceRegisterEvents,                                            \
	  (nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set)) \
	F(nvmlEventSetCreate, (nvmlEventSet_t *set))                           \
	F(nvmlEventSetWait,                                                    \
	  (nvmlEventSet_t set, nvmlEventData_t *data, unsigned int ms))        \
	F(nvmlEventSetWait_v2,                                                 \
	  (nvmlEventSet_t set, nvmlEventData_t *data, unsigned int ms))        \
	F(nvmlEventSetFree, (nvmlEventSet_t set))

#define FAULTDRILL_NVML_DECLARE(name, arguments) nvmlReturn_t name arguments;
FAULTDRILL_NVML_FUNCTIONS(FAULTDRILL_NVML_DECLARE)
const char *nvmlErrorString(nvmlReturn_t result);

#endif
