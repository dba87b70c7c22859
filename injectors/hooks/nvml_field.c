/* nvml_field.c - numbered values of a device, as collectors read them
 * SPDX-License-Identifier: MIT
 *
 * NVLink fields of newer drivers name a link by scopeId, ~0 means all. How the
 * page's three counters of a link are told by the counters of NVLink 5 is our
 * reading: CRC as receive errors, replays as link integrity errors, recoveries
 * as recovery events, of which those of a link that is down failed.
 */
#include "nvml_proxy.h"

#include <time.h>

enum how { ABSENT, ADD, LAY };
enum what { CRC, REPLAY, RECOVERY, FAILED, NOTHING };

static uint64_t of_link(const struct drill_device *d, unsigned int link,
			enum what what)
{
	bool down = drill_nvml_link_there(d, link) ?
			    !drill_nvml_link_up(d, link) :
			    d->links_down >> link & 1;

	switch (what) {
	case CRC: return d->link[link].crc;
	case REPLAY: return d->link[link].replay;
	case RECOVERY: return d->link[link].recovery;
	case FAILED: return down;
	default: return 0;
	}
}

static uint64_t of_links(const struct drill_device *d, unsigned int scope,
			 enum what what)
{
	uint64_t sum = 0;

	if (scope != ~0u)
		return scope < DRILL_NVLINKS ? of_link(d, scope, what) : 0;
	for (unsigned int i = 0; i < DRILL_NVLINKS; i++)
		sum += of_link(d, i, what);
	return sum;
}

static unsigned int links_there(const struct drill_device *d)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < DRILL_NVLINKS; i++)
		n += drill_nvml_link_there(d, i);
	return n;
}

/* 32-bit: numbers that NVML gives as unsigned int. */
static bool is_short(unsigned int field)
{
	switch (field) {
	case NVML_FI_DEV_ECC_CURRENT:
	case NVML_FI_DEV_ECC_PENDING:
	case NVML_FI_DEV_NVLINK_LINK_COUNT:
	case NVML_FI_DEV_REMAPPED_COR:
	case NVML_FI_DEV_REMAPPED_UNC:
	case NVML_FI_DEV_REMAPPED_PENDING:
	case NVML_FI_DEV_REMAPPED_FAILURE:
	case NVML_FI_DEV_NVLINK_GET_STATE:
	case NVML_FI_DEV_GET_GPU_RECOVERY_ACTION:
		return true;
	default:
		return false;
	}
}

/* What the page counted: ADD to the next library's. */
static enum how counter(const struct drill_device *d, unsigned int field,
			uint64_t *v)
{
	switch (field) {
	case NVML_FI_DEV_ECC_SBE_VOL_TOTAL: *v = d->ecc_volatile[0]; break;
	case NVML_FI_DEV_ECC_DBE_VOL_TOTAL: *v = d->ecc_volatile[1]; break;
	case NVML_FI_DEV_ECC_SBE_AGG_TOTAL: *v = d->ecc_aggregate[0]; break;
	case NVML_FI_DEV_ECC_DBE_AGG_TOTAL: *v = d->ecc_aggregate[1]; break;
	case NVML_FI_DEV_RETIRED_SBE: *v = d->retired_sbe; break;
	case NVML_FI_DEV_RETIRED_DBE: *v = d->retired_dbe; break;
	case NVML_FI_DEV_REMAPPED_COR: *v = d->remapped_cor; break;
	case NVML_FI_DEV_REMAPPED_UNC: *v = d->remapped_unc; break;
	case NVML_FI_DEV_PCIE_REPLAY_COUNTER: *v = 0; break;
	default: return ABSENT;
	}
	return ADD;
}

static enum how link_counter(const struct drill_device *d, unsigned int field,
			     unsigned int scope, uint64_t *v)
{
	switch (field) {
	case NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL:
		*v = of_links(d, ~0u, CRC);
		break;
	case NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL:
		*v = of_links(d, ~0u, REPLAY);
		break;
	case NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL:
		*v = of_links(d, ~0u, RECOVERY);
		break;
	case NVML_FI_DEV_NVLINK_ERROR_DL_CRC:
	case NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS:
		*v = of_links(d, scope, CRC);
		break;
	case NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY:
	case NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS:
		*v = of_links(d, scope, REPLAY);
		break;
	case NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY:
	case NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS:
		*v = of_links(d, scope, RECOVERY);
		break;
	case NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS:
		*v = of_links(d, scope, FAILED);
		break;
	case NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS:
		*v = of_links(d, scope, RECOVERY) + of_links(d, scope, FAILED);
		break;
	case NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL:
	case NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS:
	case NVML_FI_DEV_NVLINK_COUNT_BUFFER_OVERRUN_ERRORS:
	case NVML_FI_DEV_NVLINK_COUNT_RCV_REMOTE_ERRORS:
	case NVML_FI_DEV_NVLINK_COUNT_RCV_GENERAL_ERRORS:
	case NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS:
		*v = 0;
		break;
	default:
		return ABSENT;
	}
	return ADD;
}

/* How the device stands: LAY over the next library's when it is not 0. */
static enum how state(const struct drill_device *d, unsigned int field,
		      unsigned int scope, uint64_t *v)
{
	switch (field) {
	case NVML_FI_DEV_RETIRED_PENDING:
	case NVML_FI_DEV_RETIRED_PENDING_DBE:
		*v = !!d->retired_pending;
		break;
	case NVML_FI_DEV_RETIRED_PENDING_SBE: *v = 0; break;
	case NVML_FI_DEV_REMAPPED_PENDING: *v = !!d->remapped_pending; break;
	case NVML_FI_DEV_REMAPPED_FAILURE: *v = !!d->remapped_failure; break;
	case NVML_FI_DEV_GET_GPU_RECOVERY_ACTION:
		*v = d->recovery_action;
		break;
	case NVML_FI_DEV_ECC_CURRENT:
	case NVML_FI_DEV_ECC_PENDING:
		*v = !drill_nvml.next;
		break;
	case NVML_FI_DEV_NVLINK_LINK_COUNT:
		*v = drill_nvml.next ? 0 : links_there(d);
		break;
	case NVML_FI_DEV_NVLINK_GET_STATE:
		*v = drill_nvml_link_up(d, scope) && !drill_nvml.next;
		break;
	default:
		return ABSENT;
	}
	return LAY;
}

static uint64_t number(const nvmlFieldValue_t *f)
{
	return f->valueType == NVML_VALUE_TYPE_UNSIGNED_INT ? f->value.uiVal :
							      f->value.ullVal;
}

static void set_number(nvmlFieldValue_t *f, uint64_t v)
{
	f->valueType = is_short(f->fieldId) ?
			       NVML_VALUE_TYPE_UNSIGNED_INT :
			       NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
	f->value.ullVal = 0;
	if (is_short(f->fieldId))
		f->value.uiVal = (unsigned int)v;
	else
		f->value.ullVal = v;
	f->nvmlReturn = NVML_SUCCESS;
}

/* A link that a fault took down, whatever the next library says. */
static bool took_down(const struct drill_device *d, const nvmlFieldValue_t *f)
{
	return f->fieldId == NVML_FI_DEV_NVLINK_GET_STATE &&
	       f->scopeId < DRILL_NVLINKS && d->links_down >> f->scopeId & 1;
}

static void lay_field(const struct drill_device *d, nvmlFieldValue_t *f)
{
	uint64_t v = 0;
	enum how how = counter(d, f->fieldId, &v);

	if (!how)
		how = link_counter(d, f->fieldId, f->scopeId, &v);
	if (!how)
		how = state(d, f->fieldId, f->scopeId, &v);
	if (!drill_nvml.next && !how)
		f->nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
	else if (!drill_nvml.next || took_down(d, f))
		set_number(f, v);
	else if (how && v)
		set_number(f, how == ADD && !f->nvmlReturn ? number(f) + v : v);
}

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count,
				      nvmlFieldValue_t *values)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_COUNT, values, &d);

	if (!r && count < 1)
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (!r && drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetFieldValues)(device, count, values);
	for (int i = 0; !r && i < count; i++) {
		lay_field(&d, &values[i]);
		if (drill_nvml.next)
			continue;
		values[i].timestamp = now_us();
		values[i].latencyUsec = 0;
	}
	return r;
}
