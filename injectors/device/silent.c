/* silent.c - a signal for failures that have none of their own
 * SPDX-License-Identifier: MIT
 */
#include "silent.h"

#include "injectors/hooks/device_step.h"

#include <errno.h>

int drill_silent_tell(int64_t code, int form,
		      const struct drill_device_aim *aim,
		      struct drill_device_fault *f, struct drill_err *err)
{
	int codes[DRILL_XID_CHAIN];
	struct drill_xid_story s = {
		.code = codes,
		.gap_ns = -1,
		.device = aim->device < 0 ? 0 : aim->device,
		.peer = -1,
		.signal = true,
	};

	if (form == DRILL_FORM_EFFECT)
		return 0;
	s.n = drill_xid_chain(code, "", true, codes, err);
	return s.n < 0 ? s.n : drill_xid_steps(&s, f, err);
}

int drill_silent_check(int64_t code, int form, struct drill_err *err)
{
	int codes[DRILL_XID_CHAIN], n;

	if (form == DRILL_FORM_EFFECT)
		return 0;
	n = drill_xid_chain(code, "", true, codes, err);
	return n < 0 ? n : 0;
}

static int find_link(const struct drill_device *d, int64_t peer)
{
	for (int i = 0; i < DRILL_NVLINKS; i++)
		if (d->link[i].peer && (peer < 0 || d->link[i].peer == peer + 1))
			return i;
	return -1;
}

int drill_silent_link(const struct drill_device_aim *aim, int64_t peer,
		      struct drill_xid_story *s, struct drill_err *err)
{
	struct drill_device d;

	drill_device_read(aim->devices.page, (unsigned int)s->device, &d);
	s->link = find_link(&d, peer);
	if (s->link < 0)
		return drill_err_set(err, -ENXIO, "device",
				     "device %d has no NVLink%s", s->device,
				     peer < 0 ? "" : " to that peer");
	s->peer = (int)d.link[s->link].peer - 1;
	return 0;
}
