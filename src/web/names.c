/* SPDX-License-Identifier: Apache-2.0 */
/* Under which addresses the page may be asked for besides 127.0.0.1 and ::1: the one that is
 * served; of 0.0.0.0 and :: those that this machine has when the server starts. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "web/private.h"

/* As a Host header has it: a new text; NULL: it cannot be asked for. */
static char *name_of_address(const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN];

	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)address;

		inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
		return mem_strdup(text);
	}
	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const void *)address;

		/* A link-local one needs the name of an interface, which browsers do not take. */
		if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
			return NULL;
		inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
		return mem_printf("[%s]", text);
	}
	return NULL;
}

static void name_add(struct web *web, const struct sockaddr *address)
{
	char *name = web->name_count < LIMIT_WEB_NAMES ? name_of_address(address) : NULL;

	if (name)
		web->names[web->name_count++] = name;
}

/* All addresses by which other machines reach this one now. */
static void names_add_interfaces(struct web *web, sa_family_t family)
{
	struct ifaddrs *all = NULL;

	if (getifaddrs(&all) != 0)
		return;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next)
		if ((one->ifa_flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP && one->ifa_addr &&
		    one->ifa_addr->sa_family == family)
			name_add(web, one->ifa_addr);
	freeifaddrs(all);
}

void web_names_make(struct web *web)
{
	const char *address = web->options.address;
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	if (!address)
		return;
	if (inet_pton(AF_INET, address, &v4.sin_addr) == 1) {
		if (v4.sin_addr.s_addr == INADDR_ANY)
			names_add_interfaces(web, AF_INET);
		else
			name_add(web, (const struct sockaddr *)&v4);
	} else if (inet_pton(AF_INET6, address, &v6.sin6_addr) == 1) {
		if (IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr))
			names_add_interfaces(web, AF_INET6);
		else
			name_add(web, (const struct sockaddr *)&v6);
	}
}

void web_names_release(struct web *web)
{
	for (size_t i = 0; i < web->name_count; i++)
		free(web->names[i]);
}

const char *web_name_of_links(const struct web *web)
{
	const struct web_options *options = &web->options;

	if (options->host_count && !strchr(options->hosts[0], ':'))
		return options->hosts[0];
	if (web->name_count)
		return web->names[0];
	return options->address && strchr(options->address, ':') ? "[::1]" : "127.0.0.1";
}
