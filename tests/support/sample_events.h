/* sample_events.h - the events of a made-up drill with any number of ranks
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SAMPLE_EVENTS_H
#define TESTS_SAMPLE_EVENTS_H

#include <jansson.h>

/* Two baseline trials and one with two incidents: a rank is killed and its
 * host's ranks go on elsewhere from the last checkpoint; later the link of a
 * host is slow for ten seconds. @per_host ranks a host. Yours: json_decref. */
json_t *sample_events(int ranks, int per_host);

#endif
