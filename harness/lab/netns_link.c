/* netns_link.c - the networks of a namespace lab, by netlink in batches
 * SPDX-License-Identifier: MIT
 *
 * One send a namespace, then the acknowledgements: a lab of 16 hosts costs 17
 * round trips instead of some 200. Interface numbers are ours to choose in a
 * new namespace, which saves asking for them.
 */
#include "netns_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "lab.net";

/* Above what a new namespace is born with (lo, fallback tunnels). */
#define DATA 1001
#define MGMT 1002
#define PROBE 1003
#define PORTS 2000 /* the head's ends: PORTS + 2 i, + 1 */

#define MESSAGES 512

/* A batch: messages for one namespace, sent together. */
struct batch {
	char *buf;
	size_t len, size;
	uint32_t n;
	char what[MESSAGES][40]; /* of message i, for the error */
	bool may_fail[MESSAGES]; /* IPv6 on a kernel without */
	bool failed;		 /* one of those did */
	int error;
};

const char *drill_link_v4(int net, int i, char *buf, size_t size)
{
	snprintf(buf, size, "10.%d.%d.%d", net, (i + 1) >> 8, (i + 1) & 255);
	return buf;
}

const char *drill_link_v6(int net, int i, char *buf, size_t size)
{
	snprintf(buf, size, "fd%d::%x", net, (unsigned int)i + 1);
	return buf;
}

static struct nl_msg *message(int type, int flags, const void *head, size_t n)
{
	struct nl_msg *m = nlmsg_alloc_simple(type, flags | NLM_F_REQUEST |
							    NLM_F_ACK);

	if (m && nlmsg_append(m, (void *)(uintptr_t)head, n, NLMSG_ALIGNTO)) {
		nlmsg_free(m);
		return NULL;
	}
	return m;
}

static struct nl_msg *link_message(int flags, int index, bool up)
{
	struct ifinfomsg i = {.ifi_family = AF_UNSPEC, .ifi_index = index};

	if (up)
		i.ifi_flags = i.ifi_change = IFF_UP;
	return message(RTM_NEWLINK, flags, &i, sizeof(i));
}

static void add(struct batch *b, struct nl_msg *m, bool may_fail,
		const char *what)
{
	struct nlmsghdr *h = m ? nlmsg_hdr(m) : NULL;

	if (!h || b->n == MESSAGES || b->len + h->nlmsg_len > b->size) {
		b->error = -ENOMEM;
		nlmsg_free(m);
		return;
	}
	h->nlmsg_seq = b->n + 1;
	memcpy(b->buf + b->len, h, h->nlmsg_len);
	b->len += NLMSG_ALIGN(h->nlmsg_len);
	snprintf(b->what[b->n], sizeof(b->what[0]), "%s", what);
	b->may_fail[b->n++] = may_fail;
	nlmsg_free(m);
}

/* Snooping would hold back the first neighbour solicitations. */
static void add_bridge(struct batch *b, const char *name, int index,
		       const char *mark)
{
	struct nl_msg *m = link_message(NLM_F_CREATE | NLM_F_EXCL, index, true);
	struct nlattr *info, *data;

	if (m) {
		nla_put_string(m, IFLA_IFNAME, name);
		info = nla_nest_start(m, IFLA_LINKINFO);
		nla_put_string(m, IFLA_INFO_KIND, "bridge");
		data = nla_nest_start(m, IFLA_INFO_DATA);
		nla_put_u8(m, IFLA_BR_MCAST_SNOOPING, 0);
		nla_put_u32(m, IFLA_BR_FORWARD_DELAY, 0);
		nla_nest_end(m, data);
		nla_nest_end(m, info);
	}
	add(b, m, false, name);
	m = link_message(0, index, false);
	if (m)
		nla_put_string(m, IFLA_IFALIAS, mark);
	add(b, m, false, "alias of a bridge");
}

/* The other end is born in the host, named and numbered. It cannot be born up:
 * it has no peer yet when it would be. */
static void put_peer(struct nl_msg *m, const char *name, int index, int host)
{
	struct ifinfomsg i = {.ifi_index = index};
	struct nlattr *peer = nla_nest_start(m, VETH_INFO_PEER);

	nlmsg_append(m, &i, sizeof(i), 0);
	nla_put_string(m, IFLA_IFNAME, name);
	nla_put_u32(m, IFLA_NET_NS_FD, (uint32_t)host);
	nla_nest_end(m, peer);
}

static void add_pair(struct batch *b, int i, int bridge, int host)
{
	int index = PORTS + 2 * i + (bridge == MGMT);
	struct nl_msg *m = link_message(NLM_F_CREATE | NLM_F_EXCL, index, true);
	const char *peer = bridge == DATA ? DRILL_IF_DATA : DRILL_IF_MGMT;
	struct nlattr *info, *data;
	char name[IFNAMSIZ];

	snprintf(name, sizeof(name), "%c.h%d", bridge == DATA ? 'd' : 'm', i);
	if (m) {
		nla_put_string(m, IFLA_IFNAME, name);
		nla_put_u32(m, IFLA_MASTER, (uint32_t)bridge);
		info = nla_nest_start(m, IFLA_LINKINFO);
		nla_put_string(m, IFLA_INFO_KIND, "veth");
		data = nla_nest_start(m, IFLA_INFO_DATA);
		put_peer(m, peer, bridge == DATA ? DATA : MGMT, host);
		nla_nest_end(m, data);
		nla_nest_end(m, info);
	}
	add(b, m, false, name);
}

static void add_address(struct batch *b, int index, int family,
			const char *text)
{
	struct ifaddrmsg a = {.ifa_family = (uint8_t)family,
			      .ifa_prefixlen = family == AF_INET ? 16 : 64,
			      .ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0,
			      .ifa_index = (uint32_t)index};
	size_t size = family == AF_INET ? 4 : 16;
	unsigned char raw[16];
	struct nl_msg *m;

	inet_pton(family, text, raw);
	m = message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &a, sizeof(a));
	if (m) {
		nla_put(m, IFA_LOCAL, (int)size, raw);
		nla_put(m, IFA_ADDRESS, (int)size, raw);
	}
	add(b, m, family == AF_INET6, text);
}

static int take_answer(struct batch *b, const struct nlmsghdr *h,
		       struct drill_err *err)
{
	const struct nlmsgerr *e = nlmsg_data(h);
	uint32_t i = h->nlmsg_seq - 1;

	if (h->nlmsg_type != NLMSG_ERROR || i >= b->n || e->error == 0)
		return 0;
	if (b->may_fail[i] && (e->error == -EOPNOTSUPP ||
			       e->error == -EAFNOSUPPORT ||
			       e->error == -EACCES)) {
		b->failed = true;
		return 0;
	}
	return drill_err_errno(err, e->error, who, "the kernel refuses '%s'",
			       b->what[i]);
}

static int take_answers(struct nl_sock *sk, struct batch *b,
			struct drill_err *err)
{
	uint32_t left = b->n;
	char buf[16384];
	struct nlmsghdr *h;
	int rc = 0, n;

	while (left > 0) {
		n = (int)recv(nl_socket_get_fd(sk), buf, sizeof(buf), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return drill_err_errno(err, errno, who,
					       "no answer by netlink");
		for (h = (struct nlmsghdr *)buf; nlmsg_ok(h, n) && left > 0;
		     h = nlmsg_next(h, &n), left--)
			if (take_answer(b, h, err) < 0)
				rc = err && err->code ? err->code : -EIO;
	}
	return rc;
}

static int run_batch(struct nl_sock *sk, struct batch *b, struct drill_err *err)
{
	if (b->error)
		return drill_err_errno(err, b->error, who,
				       "too much for one batch");
	if (send(nl_socket_get_fd(sk), b->buf, b->len, 0) < 0)
		return drill_err_errno(err, errno, who, "cannot send");
	return take_answers(sk, b, err);
}

/* A socket belongs for ever to the namespace it was made in. */
static int socket_in(int pidfd, struct nl_sock **ret, struct drill_err *err)
{
	int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), rc = 0;

	*ret = nl_socket_alloc();
	if (own < 0 || !*ret || (pidfd >= 0 && setns(pidfd, CLONE_NEWNET) < 0))
		rc = drill_err_errno(err, errno, who,
				     "cannot enter the network namespace");
	if (rc == 0) {
		rc = nl_connect(*ret, NETLINK_ROUTE);
		if (rc < 0)
			rc = drill_err_set(err, -EIO, who,
					   "no netlink socket: %s",
					   nl_geterror(rc));
		else if (nl_socket_set_buffer_size(*ret, 1 << 20, 1 << 20) < 0)
			rc = drill_err_set(err, -ENOMEM, who, "no buffer");
	}
	if (own >= 0 && pidfd >= 0 && setns(own, CLONE_NEWNET) < 0)
		rc = drill_err_errno(err, errno, who, "cannot come back");
	if (own >= 0)
		close(own);
	return rc;
}

static struct batch *batch_new(struct drill_err *err)
{
	struct batch *b = calloc(1, sizeof(*b));

	if (b) {
		b->size = MESSAGES * 256;
		b->buf = malloc(b->size);
	}
	if (b && b->buf)
		return b;
	free(b);
	drill_err_set(err, -ENOMEM, who, "no memory");
	return NULL;
}

static void batch_free(struct batch *b)
{
	free(b->buf);
	free(b);
}

static int send_in(int pidfd, struct batch *b, struct drill_err *err)
{
	struct nl_sock *sk;
	int rc = socket_in(pidfd, &sk, err);

	if (rc == 0)
		rc = run_batch(sk, b, err);
	nl_socket_free(sk);
	return rc;
}

static int head_up(int head, const int *nets, int n, const char *mark,
		   struct drill_err *err)
{
	struct batch *b = batch_new(err);
	int i, rc;

	if (!b)
		return -ENOMEM;
	add(b, link_message(0, 1, true), false, "lo");
	add_bridge(b, DRILL_IF_DATA, DATA, mark);
	add_bridge(b, DRILL_IF_MGMT, MGMT, mark);
	add_address(b, MGMT, AF_INET, DRILL_HEAD_MGMT);
	add_address(b, MGMT, AF_INET6, "fd78::ffff");
	for (i = 0; i < n; i++) {
		add_pair(b, i, DATA, nets[i]);
		add_pair(b, i, MGMT, nets[i]);
	}
	rc = send_in(head, b, err);
	batch_free(b);
	return rc;
}

static int host_up(int host, int i, bool *v6, struct drill_err *err)
{
	struct batch *b = batch_new(err);
	char text[48];
	int rc;

	if (!b)
		return -ENOMEM;
	add(b, link_message(0, 1, true), false, "lo");
	add(b, link_message(0, DATA, true), false, DRILL_IF_DATA);
	add(b, link_message(0, MGMT, true), false, DRILL_IF_MGMT);
	add_address(b, DATA, AF_INET, drill_link_v4(77, i, text, sizeof(text)));
	add_address(b, MGMT, AF_INET, drill_link_v4(78, i, text, sizeof(text)));
	add_address(b, DATA, AF_INET6,
		    drill_link_v6(77, i, text, sizeof(text)));
	add_address(b, MGMT, AF_INET6,
		    drill_link_v6(78, i, text, sizeof(text)));
	rc = send_in(host, b, err);
	if (b->failed)
		*v6 = false;
	batch_free(b);
	return rc;
}

/* Netlink takes a network namespace's own descriptor, no pidfd. */
static int open_net(int pidfd)
{
	char path[64], line[64];
	int pid = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "Pid: %d", &pid);
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	return pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

int drill_links_up(int head, const int *hosts, int n, const char *mark,
		   bool *ret_v6, struct drill_err *err)
{
	int *nets = calloc((size_t)n, sizeof(*nets));
	int i, opened, rc = 0;

	*ret_v6 = true;
	if (!nets)
		return drill_err_set(err, -ENOMEM, who, "no memory");
	for (opened = 0; opened < n && rc == 0; opened++) {
		nets[opened] = open_net(hosts[opened]);
		if (nets[opened] < 0)
			rc = drill_err_set(err, -ESRCH, who,
					   "host %d has gone", opened);
	}
	if (rc == 0)
		rc = head_up(head, nets, n, mark, err);
	for (i = 0; i < n && rc == 0; i++)
		rc = host_up(hosts[i], i, ret_v6, err);
	for (i = 0; i < opened; i++)
		if (nets[i] >= 0)
			close(nets[i]);
	free(nets);
	return rc;
}

int drill_links_probe(struct drill_err *err)
{
	int self = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), rc;
	struct batch *b = batch_new(err);

	if (!b)
		return -ENOMEM;
	add_bridge(b, "probe0", PROBE, "probe");
	add_pair(b, 0, PROBE, self);
	rc = send_in(-1, b, err);
	if (self >= 0)
		close(self);
	batch_free(b);
	return rc;
}
