/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that callers name for push notifications. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "a2a/serve/push.h"
#include "base/mem.h"
#include "data/json.h"
#include "net/http/client.h"

enum { URL_BYTES = 2048 };

/* "host" or "host:port" in it: what stands between the scheme and the path. */
static struct span target_authority(const char *url)
{
	const char *from = strstr(url, "://");

	return from ? span_of(from + 3, strcspn(from + 3, "/?#")) : SPAN("");
}

/* Without a port. */
static struct span target_host_name(struct span authority)
{
	const char *end = authority.len && authority.data[0] == '[' ?
		memchr(authority.data, ']', authority.len) :
		memchr(authority.data, ':', authority.len);

	if (!end)
		return authority;
	return span_head(authority, (size_t)(end - authority.data) + (*end == ']'));
}

char *a2a_target_host(const char *url)
{
	const struct span host = target_host_name(target_authority(url));

	return mem_dup(host.data, host.len);
}

static bool target_is_named(struct span name, struct span authority)
{
	const struct span host = target_host_name(authority);

	return (name.len == authority.len && !strncasecmp(name.data, authority.data, name.len)) ||
	       (name.len == host.len && !strncasecmp(name.data, host.data, name.len));
}

bool a2a_target_check(const char *url, const json_t *allow, bool *ret_named, struct err *err)
{
	const bool secure = !strncasecmp(url, "https://", 8);
	const struct span authority = target_authority(url);
	_cleanup_free_ char *host = a2a_target_host(url);
	bool named = false, plain = strlen(url) <= URL_BYTES;
	size_t i;
	json_t *name;

	for (const char *c = url; *c; c++)
		plain = plain && (unsigned char)*c > 0x20 && (unsigned char)*c < 0x7f && *c != '\\';
	if (!plain || !*host || (!secure && strncasecmp(url, "http://", 7) != 0))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "It is not an https address of at most %d plain characters.",
		               URL_BYTES);
	if (memchr(authority.data, '@', authority.len))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A user name or a password may not stand in it: use "
		               "authentication.");
	json_array_foreach(allow, i, name)
		named |= target_is_named(json_span(name), authority);
	if (!secure && !named)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Only https is allowed, apart from hosts that "
		               "hasp.a2a.push.allow names.");
	if (!named && http_host_is_private(host))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%.200s is a private address, which hasp.a2a.push.allow does "
		               "not name.", host);
	*ret_named = named;
	return true;
}
