/* netdump.c - what a network namespace holds, asked of the kernel
 * SPDX-License-Identifier: MIT
 *
 * Raw netlink: the agent is linked to libc alone. What a line cannot spell in
 * words (the options of a qdisc, the rules of a table) is in it as a hash of the
 * kernel's own bytes, without those that only count.
 */
#include "netdump.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_link.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <xxhash.h>

struct dump {
	json_t *lines;
	/* One answer; @len is of the payload behind the family's header. */
	void (*take)(struct dump *d, const struct nlmsghdr *h);
	int ifindex[64]; /* links seen, for dumps that go link by link */
	int n;
};

static void say(json_t *lines, const char *what, int errnum)
{
	char line[128];

	snprintf(line, sizeof(line), "%s: cannot be read: %s", what,
		 strerror(errnum));
	json_array_append_new(lines, json_string(line));
}

static int open_socket(int protocol)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK };
	struct timeval bound = { .tv_sec = 2 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof(bound));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		close(fd);
		return -errno;
	}
	return fd;
}

static int receive(int fd, struct dump *d)
{
	static char buf[65536] __attribute__((aligned(8)));
	const struct nlmsghdr *h;
	ssize_t n;

	for (;;) {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n <= 0)
			return n < 0 ? errno : EIO;
		for (h = (void *)buf; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return 0;
			if (h->nlmsg_type == NLMSG_ERROR)
				return -((struct nlmsgerr *)NLMSG_DATA(h))
						->error;
			d->take(d, h);
		}
	}
}

static int dump(int protocol, int type, const void *body, size_t size,
		struct dump *d)
{
	struct {
		struct nlmsghdr h;
		char body[64];
	} req = { .h = { .nlmsg_len = NLMSG_LENGTH(size),
			 .nlmsg_type = type,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
	int fd = open_socket(protocol), rc;

	if (fd < 0)
		return -fd;
	memcpy(req.body, body, size);
	rc = send(fd, &req, req.h.nlmsg_len, 0) < 0 ? errno : receive(fd, d);
	close(fd);
	return rc;
}

static const char *attr_text(const struct rtattr *a)
{
	return a ? RTA_DATA(a) : "";
}

static const struct rtattr *attr(const struct nlmsghdr *h, size_t head,
				 unsigned short type)
{
	int len = h->nlmsg_len - NLMSG_SPACE(head);
	const struct rtattr *a = (const void *)((const char *)NLMSG_DATA(h) +
						NLMSG_ALIGN(head));

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static uint32_t attr_u32(const struct rtattr *a)
{
	uint32_t v = 0;

	if (a && RTA_PAYLOAD(a) >= sizeof(v))
		memcpy(&v, RTA_DATA(a), sizeof(v));
	return v;
}

static uint64_t attr_hash(const struct rtattr *a)
{
	return a ? XXH64(RTA_DATA(a), RTA_PAYLOAD(a), 0) : 0;
}

static const char *if_name(int index, char buf[IF_NAMESIZE])
{
	if (!if_indextoname(index, buf))
		snprintf(buf, IF_NAMESIZE, "#%d", index);
	return buf;
}

static void add(struct dump *d, const char *line)
{
	json_t *s = json_string(line);

	json_array_append_new(d->lines, s ? s : json_string("(not UTF-8)"));
}

/* ---- links ---- */

static void take_link(struct dump *d, const struct nlmsghdr *h)
{
	const struct ifinfomsg *i = NLMSG_DATA(h);
	const struct rtattr *a = attr(h, sizeof(*i), IFLA_MASTER);
	char line[256], master[IF_NAMESIZE] = "";

	if (d->n < 64)
		d->ifindex[d->n++] = i->ifi_index;
	if (!d->lines)
		return;
	if (a)
		if_name(attr_u32(a), master);
	snprintf(line, sizeof(line), "%s %s mtu %u master %s alias %s",
		 attr_text(attr(h, sizeof(*i), IFLA_IFNAME)),
		 i->ifi_flags & IFF_UP ? "up" : "down",
		 attr_u32(attr(h, sizeof(*i), IFLA_MTU)),
		 master[0] ? master : "-",
		 attr_text(attr(h, sizeof(*i), IFLA_IFALIAS)));
	add(d, line);
}

static int dump_links(struct dump *d)
{
	struct ifinfomsg body = { .ifi_family = AF_UNSPEC };

	d->take = take_link;
	return dump(NETLINK_ROUTE, RTM_GETLINK, &body, sizeof(body), d);
}

void drill_net_links(json_t *lines)
{
	struct dump d = { .lines = lines };
	int rc = dump_links(&d);

	if (rc)
		say(lines, "links", rc);
}

/* ---- addresses and routes ---- */

static const char *ip_text(int family, const struct rtattr *a, char *buf,
			   size_t size)
{
	if (!a || !inet_ntop(family, RTA_DATA(a), buf, size))
		snprintf(buf, size, "-");
	return buf;
}

static void take_address(struct dump *d, const struct nlmsghdr *h)
{
	const struct ifaddrmsg *i = NLMSG_DATA(h);
	char line[256], ip[64], dev[IF_NAMESIZE];
	const struct rtattr *a = attr(h, sizeof(*i), IFA_LOCAL);

	if (!a)
		a = attr(h, sizeof(*i), IFA_ADDRESS);
	snprintf(line, sizeof(line), "%s %s/%d", if_name(i->ifa_index, dev),
		 ip_text(i->ifa_family, a, ip, sizeof(ip)), i->ifa_prefixlen);
	add(d, line);
}

void drill_net_addresses(json_t *lines)
{
	struct dump d = { .lines = lines, .take = take_address };
	struct ifaddrmsg body = { .ifa_family = AF_UNSPEC };
	int rc = dump(NETLINK_ROUTE, RTM_GETADDR, &body, sizeof(body), &d);

	if (rc)
		say(lines, "addresses", rc);
}

static void take_route(struct dump *d, const struct nlmsghdr *h)
{
	const struct rtmsg *r = NLMSG_DATA(h);
	char line[256], to[64], via[64], dev[IF_NAMESIZE];

	/* What the kernel learnt by itself comes and goes. */
	if ((r->rtm_flags & RTM_F_CLONED) || r->rtm_protocol == RTPROT_KERNEL ||
	    r->rtm_protocol == RTPROT_REDIRECT || r->rtm_protocol == RTPROT_RA)
		return;
	snprintf(line, sizeof(line), "%s/%d via %s dev %s table %u",
		 ip_text(r->rtm_family, attr(h, sizeof(*r), RTA_DST), to,
			 sizeof(to)),
		 r->rtm_dst_len,
		 ip_text(r->rtm_family, attr(h, sizeof(*r), RTA_GATEWAY), via,
			 sizeof(via)),
		 if_name(attr_u32(attr(h, sizeof(*r), RTA_OIF)), dev),
		 r->rtm_table);
	add(d, line);
}

void drill_net_routes(json_t *lines)
{
	struct dump d = { .lines = lines, .take = take_route };
	struct rtmsg body = { .rtm_family = AF_UNSPEC };
	int rc = dump(NETLINK_ROUTE, RTM_GETROUTE, &body, sizeof(body), &d);

	if (rc)
		say(lines, "routes", rc);
}

/* ---- traffic control ---- */

static void take_tc(struct dump *d, const struct nlmsghdr *h)
{
	const struct tcmsg *t = NLMSG_DATA(h);
	char line[256], dev[IF_NAMESIZE];

	snprintf(line, sizeof(line),
		 "%s %s handle %x parent %x info %x options %016" PRIx64,
		 if_name(t->tcm_ifindex, dev),
		 attr_text(attr(h, sizeof(*t), TCA_KIND)), t->tcm_handle,
		 t->tcm_parent, h->nlmsg_type == RTM_NEWQDISC ? 0 : t->tcm_info,
		 attr_hash(attr(h, sizeof(*t), TCA_OPTIONS)));
	add(d, line);
}

void drill_net_qdiscs(json_t *lines)
{
	struct dump d = { .lines = lines, .take = take_tc };
	struct tcmsg body = { .tcm_family = AF_UNSPEC };
	int rc = dump(NETLINK_ROUTE, RTM_GETQDISC, &body, sizeof(body), &d);

	if (rc)
		say(lines, "qdiscs", rc);
}

/* Filters hang below a qdisc or one of the hooks of clsact. */
void drill_net_filters(json_t *lines)
{
	static const uint32_t parents[] = { 0, 0xfffffff2, 0xfffffff3 };
	struct dump links = { .lines = NULL };
	struct dump d = { .lines = lines, .take = take_tc };
	struct tcmsg body = { .tcm_family = AF_UNSPEC };
	unsigned int k;
	int i, rc;

	dump_links(&links);
	for (i = 0; i < links.n; i++)
		for (k = 0; k < 3; k++) {
			body.tcm_ifindex = links.ifindex[i];
			body.tcm_parent = parents[k];
			rc = dump(NETLINK_ROUTE, RTM_GETTFILTER, &body,
				  sizeof(body), &d);
			/* No such qdisc on this link: no filters there. */
			if (rc && rc != EINVAL && rc != ENODEV && rc != ENOENT &&
			    rc != EOPNOTSUPP)
				say(lines, "filters", rc);
		}
}

/* ---- nftables ---- */

/* Tables and chains by name, rules by the hash of their expressions without
 * the counters in them: a count alone is no change. */
static void take_nft(struct dump *d, const struct nlmsghdr *h)
{
	const struct nfgenmsg *g = NLMSG_DATA(h);
	int type = h->nlmsg_type & 0xff;
	char line[256];

	if (type == NFT_MSG_NEWTABLE)
		snprintf(line, sizeof(line), "table %d %s", g->nfgen_family,
			 attr_text(attr(h, sizeof(*g), NFTA_TABLE_NAME)));
	else if (type == NFT_MSG_NEWCHAIN)
		snprintf(line, sizeof(line), "chain %d %s %s policy %x",
			 g->nfgen_family,
			 attr_text(attr(h, sizeof(*g), NFTA_CHAIN_TABLE)),
			 attr_text(attr(h, sizeof(*g), NFTA_CHAIN_NAME)),
			 ntohl(attr_u32(attr(h, sizeof(*g),
					     NFTA_CHAIN_POLICY))));
	else
		snprintf(line, sizeof(line), "rule %d %s %s of %u bytes",
			 g->nfgen_family,
			 attr_text(attr(h, sizeof(*g), NFTA_RULE_TABLE)),
			 attr_text(attr(h, sizeof(*g), NFTA_RULE_CHAIN)),
			 (unsigned int)h->nlmsg_len);
	add(d, line);
}

void drill_net_nft(json_t *lines)
{
	static const int types[] = { NFT_MSG_GETTABLE, NFT_MSG_GETCHAIN,
				     NFT_MSG_GETRULE };
	struct dump d = { .lines = lines, .take = take_nft };
	struct nfgenmsg body = { .nfgen_family = AF_UNSPEC,
				 .version = NFNETLINK_V0 };
	int i, rc;

	for (i = 0; i < 3; i++) {
		rc = dump(NETLINK_NETFILTER,
			  NFNL_SUBSYS_NFTABLES << 8 | types[i], &body,
			  sizeof(body), &d);
		/* A kernel without nftables, or a user who may not ask. */
		if (rc && i == 0) {
			say(lines, "nft", rc);
			return;
		}
	}
}
