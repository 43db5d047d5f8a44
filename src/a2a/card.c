/* SPDX-License-Identifier: Apache-2.0 */
/* Cards of agents, and the addresses in them.
 *
 * Source: A2A 1.0, section 4.4 (AgentCard.supportedInterfaces); 0.3, section 5.5 (url,
 * preferredTransport, additionalInterfaces).  Of several interfaces the first counts that is
 * JSON-RPC or, of 1.0, HTTP+JSON; 1.0 before 0.3.  Not here: signatures (section 8.4), which
 * nothing here relies on.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "a2a/private.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"

/* ---- addresses -------------------------------------------------------------------- */

static struct span address_authority(struct span url)
{
	const size_t skip = span_starts(url, SPAN("https://")) ? 8 : 7;
	size_t len = 0;

	url = span_skip(url, skip < url.len ? skip : url.len);
	while (len < url.len && !strchr("/?", url.data[len]))
		len++;
	return span_head(url, len);
}

static struct span authority_host(struct span authority)
{
	size_t len = 0;

	if (span_starts(authority, SPAN("["))) {
		while (len < authority.len && authority.data[len] != ']')
			len++;
		return span_head(authority, len < authority.len ? len + 1 : len);
	}
	while (len < authority.len && authority.data[len] != ':')
		len++;
	return span_head(authority, len);
}

struct span a2a_url_host(const char *url)
{
	return authority_host(address_authority(span_str(url)));
}

static bool url_is_https(const char *url)
{
	return span_starts(span_str(url), SPAN("https://"));
}

unsigned long a2a_url_port(const char *url)
{
	const struct span authority = address_authority(span_str(url));
	const struct span rest = span_skip(authority, authority_host(authority).len);

	return rest.len > 1 ? strtoul(rest.data + 1, NULL, 10) : url_is_https(url) ? 443 : 80;
}

bool a2a_host_is_loopback(struct span host)
{
	if (span_eq(host, SPAN("[::1]")) ||
	    (host.len == 9 && strncasecmp(host.data, "localhost", 9) == 0))
		return true;
	if (!span_starts(host, SPAN("127.")))
		return false;
	for (size_t i = 0; i < host.len; i++)
		if (!ascii_is_digit(host.data[i]) && host.data[i] != '.')
			return false;
	return true;
}

/* Letters, digits, and what stands in names and in addresses of either kind. */
static bool authority_is_plain(struct span authority)
{
	for (size_t i = 0; i < authority.len; i++)
		if (!ascii_is_alnum(authority.data[i]) && !strchr(".-_:[]", authority.data[i]))
			return false;
	return authority_host(authority).len > 0;
}

bool a2a_url_check(struct span url, const char *what, struct err *err)
{
	const bool secure = span_starts(url, SPAN("https://"));
	const struct span authority = address_authority(url);

	if (!secure && !span_starts(url, SPAN("http://")))
		return err_set(err, ERR_INVALID_ARGUMENT, "%s is no https address.", what);
	if (url.len > A2A_URL_BYTES)
		return err_set(err, ERR_INVALID_ARGUMENT, "%s is longer than %d bytes.", what,
		               A2A_URL_BYTES);
	for (size_t i = 0; i < url.len; i++)
		if (url.data[i] < 0x21 || url.data[i] > 0x7e || strchr("\\#", url.data[i]))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "%s has characters that no address has.", what);
	if (!authority_is_plain(authority))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s has no host, or more than a host and a port before its path.",
		               what);
	if (!secure && !a2a_host_is_loopback(authority_host(authority)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s is plain http to another machine; hasp takes https alone.",
		               what);
	return true;
}

/* ---- cards ------------------------------------------------------------------------ */

struct card_choice {
	const json_t *url, *tenant;
	bool is_v1, is_rest;
	struct buf others;   /* bindings that are no use here */
};

static bool binding_is(const json_t *value, const char *word)
{
	return json_is_string(value) && strcasecmp(json_string_value(value), word) == 0;
}

/* Whether a version is 0.3 or one of before, whose messages are the same here. */
static bool version_is_old(const json_t *version)
{
	return span_starts(json_span(version), SPAN("0."));
}

static bool version_is_v1(const json_t *version)
{
	const struct span text = json_span(version);

	return span_eq(text, SPAN("1")) || span_starts(text, SPAN("1."));
}

static void note_other(struct card_choice *choice, const json_t *binding, const json_t *version)
{
	const struct span name = utf8_head(json_span(binding), 40);
	const struct span number = utf8_head(json_span(version), 20);

	if (!name.len)
		return;
	buf_str(&choice->others, choice->others.len ? ", " : "");
	name_line(&choice->others, name);
	if (number.len) {
		buf_char(&choice->others, ' ');
		name_line(&choice->others, number);
	}
}

/* An interface of 1.0's form; also of 0.3's, whose binding is called "transport". */
static void consider(struct card_choice *choice, const json_t *interface, const json_t *version)
{
	const json_t *own = json_object_get(interface, "protocolVersion");
	const json_t *binding = json_object_get(interface, "protocolBinding");
	const json_t *url = json_object_get(interface, "url");
	bool is_v1, is_rest;

	version = own ? own : version;
	binding = binding ? binding : json_object_get(interface, "transport");
	is_v1 = version_is_v1(version);
	is_rest = is_v1 && binding_is(binding, "HTTP+JSON");
	if (!json_is_string(url) || !(is_rest || binding_is(binding, "JSONRPC")) ||
	    (!is_v1 && !version_is_old(version))) {
		note_other(choice, binding, version);
		return;
	}
	if (choice->url && (choice->is_v1 || !is_v1))
		return;
	choice->url = url;
	choice->tenant = json_object_get(interface, "tenant");
	choice->is_v1 = is_v1;
	choice->is_rest = is_rest;
}

static void consider_all(struct card_choice *choice, const json_t *card)
{
	static const char *const lists[] = { "supportedInterfaces", "additionalInterfaces" };
	const json_t *version = json_object_get(card, "protocolVersion");
	const json_t *preferred = json_object_get(card, "preferredTransport");
	size_t i;
	json_t *interface;

	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		json_array_foreach(json_object_get(card, lists[k]), i, interface)
			consider(choice, interface, version);
	if (choice->url || !json_is_string(json_object_get(card, "url")))
		return;
	if (preferred && !binding_is(preferred, "JSONRPC")) {
		note_other(choice, preferred, version);
		return;
	}
	/* 0.2 has no version in its card. */
	choice->url = json_object_get(card, "url");
	choice->is_v1 = version_is_v1(version);
}

/* Where tasks go is the card's word: it is held to what may be asked. */
static bool check_where(const char *from, struct a2a_card *card, struct err *err)
{
	const struct span host = a2a_url_host(card->url);
	const struct span own = from ? a2a_url_host(from) : host;
	struct err why = ERR_INIT;

	if (!a2a_url_check(span_str(card->url), "the address that its card sends tasks to", &why))
		return err_set(err, ERR_TOOL_FAILED, "%s", why.message);
	card->elsewhere = own.len != host.len || strncasecmp(own.data, host.data, own.len) != 0;
	card->other_origin = card->elsewhere ||
			     (from && (a2a_url_port(from) != a2a_url_port(card->url) ||
	                               url_is_https(from) != url_is_https(card->url)));
	if (a2a_host_is_loopback(own) && a2a_host_is_loopback(host))
		card->elsewhere = false;
	if (card->elsewhere && a2a_host_is_loopback(host))
		return err_set(err, ERR_TOOL_FAILED,
		               "its card sends tasks to this machine, and is not from here.");
	if (from && url_is_https(from) && !url_is_https(card->url))
		return err_set(err, ERR_TOOL_FAILED,
		               "its card came over https and sends tasks over plain http.");
	return true;
}

static bool take_tenant(const json_t *tenant, struct a2a_card *card, struct err *err)
{
	if (!json_string_length(tenant))
		return true;
	if (json_string_length(tenant) > A2A_ID_BYTES ||
	    strlen(json_string_value(tenant)) != json_string_length(tenant))
		return err_set(err, ERR_TOOL_FAILED, "the tenant in its card cannot be sent.");
	card->tenant = mem_strdup(json_string_value(tenant));
	return true;
}

bool a2a_card_read(struct span text, const char *from, struct a2a_card *ret, struct err *err)
{
	struct card_choice choice = { .others = BUF_INIT(400) };
	struct a2a_card card = { 0 };
	json_auto_t *value = NULL;
	struct err why = ERR_INIT;
	bool lone, ok;

	if (!json_parse_lenient(text, A2A_DEPTH_MAX, &value, &lone, &why))
		return err_set(err, ERR_TOOL_FAILED, "its card cannot be read: %s", why.message);
	if (!json_is_object(value))
		return err_set(err, ERR_TOOL_FAILED, "its card is no JSON object.");
	consider_all(&choice, value);
	if (!choice.url) {
		err_set(err, ERR_TOOL_FAILED,
		        "its card has no address for JSON-RPC of A2A 1.0 or 0.3, or for HTTP+JSON "
		        "of 1.0%s%s%s.", choice.others.len ? "; it offers " : "",
		        choice.others.len ? choice.others.data : "",
		        choice.others.len && strstr(choice.others.data, "GRPC") ?
		                ", and hasp does not speak gRPC" : "");
		buf_release(&choice.others);
		return false;
	}
	buf_release(&choice.others);
	card.is_v1 = choice.is_v1;
	card.is_rest = choice.is_rest;
	card.streams = json_is_true(json_object_get(json_object_get(value, "capabilities"),
	                                            "streaming"));
	card.url = mem_dup(json_string_value(choice.url), json_string_length(choice.url));
	ok = strlen(card.url) == json_string_length(choice.url) ?
	             check_where(from, &card, err) && take_tenant(choice.tenant, &card, err) :
	             err_set(err, ERR_TOOL_FAILED, "the address in its card is none.");
	if (ok)
		*ret = card;
	else
		a2a_card_release(&card);
	return ok;
}

void a2a_card_release(struct a2a_card *card)
{
	free(card->url);
	free(card->tenant);
	*card = (struct a2a_card){ 0 };
}
