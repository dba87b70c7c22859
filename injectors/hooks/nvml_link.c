/* nvml_link.c - a device's NVLinks, and whether it reaches another device
 * SPDX-License-Identifier: MIT
 *
 * Software NVML has the links of the page. On a device of the next library, a
 * link is what that says, less those that a fault took down, with the page's
 * error counts added.
 */
#include "nvml_proxy.h"

#include <string.h>

bool drill_nvml_link_there(const struct drill_device *d, unsigned int link)
{
	return link < DRILL_NVLINKS && d->link[link].peer;
}

bool drill_nvml_link_up(const struct drill_device *d, unsigned int link)
{
	return drill_nvml_link_there(d, link) && d->link_mask >> link & 1;
}

static nvmlReturn_t ask_link(nvmlDevice_t device, enum drill_nvml_kind kind,
			     unsigned int link, const void *out,
			     struct drill_device *d)
{
	nvmlReturn_t r = drill_nvml_ask(device, kind, out, d);

	if (!r && link >= NVML_NVLINK_MAX_LINKS)
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (!r && !drill_nvml.next && !drill_nvml_link_there(d, link))
		r = NVML_ERROR_NOT_SUPPORTED;
	return r;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
				      unsigned int *active)
{
	struct drill_device d;
	nvmlReturn_t r = ask_link(device, DRILL_NVML_LIVE, link, active, &d);

	if (r)
		return r;
	*active = drill_nvml_link_up(&d, link);
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetNvLinkState)(device, link, active);
	if (!r && d.links_down >> link & 1)
		*active = NVML_FEATURE_DISABLED;
	return r;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link,
					unsigned int *version)
{
	struct drill_device d;
	nvmlReturn_t r = ask_link(device, DRILL_NVML_LIVE, link, version, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetNvLinkVersion, device, link, version);
	*version = NVML_NVLINK_VERSION_4_0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device,
					   unsigned int link,
					   unsigned int capability,
					   unsigned int *result)
{
	struct drill_device d;
	nvmlReturn_t r = ask_link(device, DRILL_NVML_LIVE, link, result, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetNvLinkCapability, device, link, capability,
		  result);
	if (capability > NVML_NVLINK_CAP_VALID)
		return NVML_ERROR_INVALID_ARGUMENT;
	*result = capability == NVML_NVLINK_CAP_VALID ||
		  (capability == NVML_NVLINK_CAP_P2P_SUPPORTED && !d.no_peer);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device,
						 unsigned int link,
						 nvmlPciInfo_t *pci)
{
	struct drill_device d, peer;
	nvmlReturn_t r = ask_link(device, DRILL_NVML_LIVE, link, pci, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetNvLinkRemotePciInfo_v2, device, link, pci);
	drill_device_read(drill_nvml.page, d.link[link].peer - 1, &peer);
	drill_nvml_pci(&peer, pci, sizeof(*pci));
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device,
					      unsigned int link,
					      nvmlPciInfo_t *pci)
{
	struct drill_device d, peer;
	nvmlReturn_t r = ask_link(device, DRILL_NVML_LIVE, link, pci, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetNvLinkRemotePciInfo, device, link, pci);
	drill_device_read(drill_nvml.page, d.link[link].peer - 1, &peer);
	drill_nvml_pci(&peer, pci, offsetof(nvmlPciInfo_t, pciSubSystemId));
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device,
						 unsigned int link,
						 unsigned int *type)
{
	struct drill_device d;
	nvmlReturn_t r = ask_link(device, DRILL_NVML_LIVE, link, type, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetNvLinkRemoteDeviceType, device, link, type);
	*type = NVML_NVLINK_DEVICE_TYPE_GPU;
	return NVML_SUCCESS;
}

static unsigned long long counted(const struct drill_device *d,
				  unsigned int link, unsigned int counter)
{
	switch (counter) {
	case NVML_NVLINK_ERROR_DL_REPLAY: return d->link[link].replay;
	case NVML_NVLINK_ERROR_DL_RECOVERY: return d->link[link].recovery;
	case NVML_NVLINK_ERROR_DL_CRC_FLIT: return d->link[link].crc;
	default: return 0;
	}
}

nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device,
					     unsigned int link,
					     unsigned int counter,
					     unsigned long long *value)
{
	struct drill_device d;
	nvmlReturn_t r = ask_link(device, DRILL_NVML_COUNT, link, value, &d);

	if (!r && counter > NVML_NVLINK_ERROR_DL_ECC_DATA)
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (r)
		return r;
	*value = 0;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetNvLinkErrorCounter)(device, link,
							       counter, value);
	*value += r ? 0 : counted(&d, link, counter);
	return r;
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t peer,
				    unsigned int index, unsigned int *status)
{
	struct drill_device a, b;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, status, &a);

	if (!r)
		r = drill_nvml_ask(peer, DRILL_NVML_LIVE, status, &b);
	if (r)
		return r;
	*status = NVML_P2P_STATUS_OK;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetP2PStatus)(device, peer, index,
						      status);
	else if (index > NVML_P2P_CAPS_INDEX_ATOMICS)
		r = NVML_ERROR_NOT_SUPPORTED;
	if (!r && (a.no_peer || b.no_peer))
		*status = NVML_P2P_STATUS_NOT_SUPPORTED;
	return r;
}
