/* nvml_state.c - how a device stands now: modes, heat, power, clocks
 * SPDX-License-Identifier: MIT
 */
#include "nvml_proxy.h"

#define ALL_REASONS                                                            \
	(nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonSwPowerCap |      \
	 nvmlClocksThrottleReasonHwSlowdown |                                  \
	 nvmlClocksEventReasonSwThermalSlowdown |                              \
	 nvmlClocksThrottleReasonHwThermalSlowdown |                           \
	 nvmlClocksThrottleReasonHwPowerBrakeSlowdown)

NVML_GIVES(nvmlDeviceGetPersistenceMode, LIVE, unsigned int,
	   NVML_FEATURE_ENABLED)
NVML_GIVES(nvmlDeviceGetComputeMode, LIVE, unsigned int,
	   NVML_COMPUTEMODE_DEFAULT)

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor,
				      unsigned int *celsius)
{
	struct drill_device d;

	NVML_ASK(&d, LIVE, celsius, nvmlDeviceGetTemperature, sensor, celsius);
	if (sensor != NVML_TEMPERATURE_GPU)
		return NVML_ERROR_INVALID_ARGUMENT;
	*celsius = d.temperature_c;
	return NVML_SUCCESS;
}

NVML_GIVES(nvmlDeviceGetPowerUsage, LIVE, unsigned int, d.power_mw)

/* The three limits of a device whose limit nobody set are one. */
NVML_GIVES(nvmlDeviceGetPowerManagementLimit, LIVE, unsigned int,
	   d.power_limit_mw)
NVML_GIVES(nvmlDeviceGetPowerManagementDefaultLimit, LIVE, unsigned int,
	   d.power_limit_mw)
NVML_GIVES(nvmlDeviceGetEnforcedPowerLimit, LIVE, unsigned int,
	   d.power_limit_mw)

NVML_GIVES(nvmlDeviceGetPerformanceState, LIVE, unsigned int, NVML_PSTATE_0)

static bool is_slowed(const struct drill_device *d)
{
	return d->clock_reasons & ~nvmlClocksEventReasonGpuIdle;
}

/* The page's clock holds where the page slows the device; a device of the next
 * library has its own ones else. */
static nvmlReturn_t lay_clock(const struct drill_device *d, unsigned int type,
			      nvmlReturn_t r, unsigned int *mhz)
{
	if (type > NVML_CLOCK_VIDEO)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (drill_nvml.next && (r || !is_slowed(d) || type == NVML_CLOCK_MEM))
		return r;
	if (drill_nvml.next && *mhz < d->sm_mhz)
		return r; /* slower than that already */
	*mhz = type == NVML_CLOCK_MEM ? d->mem_mhz : d->sm_mhz;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int type,
				    unsigned int *mhz)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, mhz, &d);

	if (r)
		return r;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetClockInfo)(device, type, mhz);
	return lay_clock(&d, type, r, mhz);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned int type,
				       unsigned int *mhz)
{
	struct drill_device d;

	NVML_ASK(&d, LIVE, mhz, nvmlDeviceGetMaxClockInfo, type, mhz);
	if (type > NVML_CLOCK_VIDEO)
		return NVML_ERROR_INVALID_ARGUMENT;
	*mhz = type == NVML_CLOCK_MEM ? d.mem_max_mhz : d.sm_max_mhz;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, unsigned int type,
				unsigned int id, unsigned int *mhz)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, mhz, &d);

	if (r)
		return r;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetClock)(device, type, id, mhz);
	if (id == NVML_CLOCK_ID_CURRENT)
		return lay_clock(&d, type, r, mhz);
	if (drill_nvml.next)
		return r;
	if (id > NVML_CLOCK_ID_CUSTOMER_BOOST_MAX)
		return NVML_ERROR_INVALID_ARGUMENT;
	return nvmlDeviceGetMaxClockInfo(device, type, mhz);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(
	nvmlDevice_t device, unsigned long long *reasons)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, reasons, &d);
	unsigned long long next = 0;

	/* The older name of the two: every library has it. */
	if (!r && drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetCurrentClocksThrottleReasons)(
			device, &next);
	if (r)
		return r;
	if (is_slowed(&d))
		next &= ~nvmlClocksEventReasonGpuIdle;
	*reasons = next | d.clock_reasons;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(
	nvmlDevice_t device, unsigned long long *reasons)
{
	return nvmlDeviceGetCurrentClocksThrottleReasons(device, reasons);
}

NVML_GIVES(nvmlDeviceGetSupportedClocksThrottleReasons, WHO, unsigned long long,
	   ALL_REASONS)

nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(
	nvmlDevice_t device, unsigned long long *reasons)
{
	return nvmlDeviceGetSupportedClocksThrottleReasons(device, reasons);
}
