/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on the deny list: refused, with a record. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "sandbox/apply/filter_programs.h"
#include "sandbox/supervise/internal.h"

#define FAST_OPEN 0x20000000

static const struct filter_call *first_row(int number)
{
	for (size_t i = 0; i < filter_call_count; i++) {
		if (filter_calls[i].number == number)
			return &filter_calls[i];
	}
	return NULL;
}

static const char *family_name(int family, char text[static 24])
{
	static const struct {
		int family;
		const char *name;
	} names[] = {
		{ AF_UNIX, "AF_UNIX" }, { AF_INET, "AF_INET" }, { AF_INET6, "AF_INET6" },
		{ AF_NETLINK, "AF_NETLINK" }, { AF_PACKET, "AF_PACKET" }, { AF_VSOCK, "AF_VSOCK" },
		{ AF_ALG, "AF_ALG" }, { AF_BLUETOOTH, "AF_BLUETOOTH" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].family == family)
			return names[i].name;
	}
	snprintf(text, 24, "family %d", family);
	return text;
}

static const char *type_name(int type)
{
	static const char *const names[] = { "?", "SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW",
		"SOCK_RDM", "SOCK_SEQPACKET", "SOCK_DCCP" };

	type &= 0xf;
	return (size_t)type < sizeof(names) / sizeof(names[0]) ? names[type] : names[0];
}

/* The same as the filter's table says; it has no room to say which row it was. */
static int socket_error(int family, int type, int protocol, bool pair)
{
	bool inet = family == AF_INET || family == AF_INET6;

	if (pair ? family != AF_UNIX : family != AF_UNIX && !inet && family != AF_NETLINK)
		return EAFNOSUPPORT;
	if (family == AF_NETLINK && protocol)
		return EPROTONOSUPPORT;
	if (inet && type == SOCK_STREAM && protocol != 0 && protocol != IPPROTO_TCP)
		return EPROTONOSUPPORT;
	if (inet && type == SOCK_DGRAM)
		return EPROTONOSUPPORT;
	return EPERM;
}

static void refuse_socket(const struct call *call, bool pair, struct denial *denial, int *ret_error)
{
	const struct sandbox_plan *plan = call->supervisor->plan;
	int family = (int)call->args[0], type = (int)call->args[1] & 0xf;
	char text[24];

	*ret_error = socket_error(family, type, (int)call->args[2], pair);
	if ((family == AF_INET || family == AF_INET6) && type == SOCK_DGRAM && !plan->network &&
	    plan->level != SANDBOX_FULL) {
		*ret_error = EPERM;
		denial->reason = SANDBOX_REASON_NETWORK;
	}
	snprintf(denial->what, sizeof(denial->what), "%s(%s, %s, %d)",
	         pair ? "socketpair" : "socket", family_name(family, text), type_name(type),
	         (int)call->args[2]);
}

static void refuse_ioctl(const struct call *call, struct denial *denial, int *ret_error)
{
	static const struct {
		uint32_t request;
		int error;
		const char *name;
	} names[] = {
		{ 0x5412, EPERM, "TIOCSTI" },
		{ 0x541c, EPERM, "TIOCLINUX" },
		{ 0x5423, EPERM, "TIOCSETD" },
	};
	uint32_t request = (uint32_t)call->args[1];

	*ret_error = EOPNOTSUPP; /* attributes of inodes: as a file system that has none */
	snprintf(denial->what, sizeof(denial->what), "ioctl(0x%x)", request);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].request == request) {
			*ret_error = names[i].error;
			snprintf(denial->what, sizeof(denial->what), "ioctl(%s)", names[i].name);
		}
	}
}

struct answer handle_refuse(const struct call *call, const struct handler *row)
{
	struct denial denial = { .kind = DENIAL_CALL, .reason = SANDBOX_REASON_KERNEL };
	const struct filter_call *known = first_row(call->request->data.nr);
	int error = known ? known->error : EPERM;

	(void)row;
	switch (call->request->data.nr) {
	case SYS_socket:
	case SYS_socketpair:
		refuse_socket(call, call->request->data.nr == SYS_socketpair, &denial, &error);
		break;
	case SYS_ioctl:
		refuse_ioctl(call, &denial, &error);
		break;
	default:
		if (known)
			snprintf(denial.what, sizeof(denial.what), "%s", known->name);
		else
			snprintf(denial.what, sizeof(denial.what), "call %d", call->request->data.nr);
	}
	record_denial(call, &denial);
	return answer_error(error);
}
