/* SPDX-License-Identifier: Apache-2.0 */
/* One entry of the setting mcpServers, as Gemini CLI has it. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "config/servers.h"
#include "data/json.h"
#include "data/schema.h"
#include "mcp/client/client.h"
#include "mcp/servers/entry.h"
#include "worker/provider.h"

enum {
	TIMEOUT_MS = 600000, /* Gemini CLI's */
	TIMEOUT_MS_MAX = 24 * 3600 * 1000,
	MEMBERS_REPORTED = 5, /* unknown members of one entry */
};

struct entry_reading {
	struct server_entry *entry;
	const json_t *value;
	const struct mcp_servers_options *options;
	const char *root;        /* the first of the workspace */
};

static void entry_warn(const struct entry_reading *reading, const char *member, const char *what)
{
	_cleanup_free_ char *text = mem_printf("mcpServers.%s.%s %s.", reading->entry->name, member,
	                                       what);

	notices_say(&reading->options->notices, SEVERITY_WARNING, text);
}

static void entry_off(const struct entry_reading *reading, const char *why)
{
	if (!reading->entry->off)
		reading->entry->off = mem_strdup(why);
}

static const char *entry_text(const struct entry_reading *reading, const char *name)
{
	const json_t *value = json_object_get(reading->value, name);

	if (value && !json_is_string(value))
		entry_warn(reading, name, "is no text, and does not count");
	return json_string_length(value) ? json_string_value(value) : NULL;
}

/* The texts of a list, NULL-terminated; others are left out with a warning. */
static char **entry_texts(const struct entry_reading *reading, const json_t *list, const char *name)
{
	char **texts = mem_alloc(json_array_size(list) + 1, sizeof(*texts));
	size_t i, count = 0;
	json_t *text;

	if (list && !json_is_array(list))
		entry_warn(reading, name, "is no list, and does not count");
	json_array_foreach(list, i, text) {
		if (json_is_string(text))
			texts[count++] = mem_strdup(json_string_value(text));
		else
			entry_warn(reading, name, "has an element that is no text");
	}
	return texts;
}

/* ---- variables and headers ---- */

/* "$NAME" or "${NAME}" and nothing else, which the settings leave as it is when there is no such
 * variable. */
static bool is_unset_variable(struct span text)
{
	bool braces = span_starts(text, SPAN("${")) && span_ends(text, SPAN("}"));

	if (!span_starts(text, SPAN("$")))
		return false;
	text = span_skip(text, braces ? 2 : 1);
	text.len -= braces;
	for (size_t i = 0; i < text.len; i++)
		if (!ascii_is_alnum(text.data[i]) && text.data[i] != '_')
			return false;
	return text.len > 0 && !ascii_is_digit(text.data[0]);
}

static char *entry_value(const json_t *value)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_SETTINGS_BYTES);

	if (json_is_string(value))
		return mem_strdup(is_unset_variable(json_span(value)) ? "" :
		                  json_string_value(value));
	if (!json_is_number(value) && !json_is_boolean(value))
		return NULL;
	json_print(&out, value, 0);
	return buf_steal(&out);
}

/* Members of an entry, Gemini CLI's and hasp's own; also those of no use here. */
static const char *const known_members[] = {
	"args", "authProviderType", "command", "cwd", "description", "env", "excludeTools",
	"extension", "headers", "headersHelper", "httpUrl", "includeTools", "oauth", "sandbox",
	"startupTimeout", "targetAudience", "targetServiceAccount", "tcp", "timeout", "trust",
	"type", "url",
};

static bool is_known_member(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(known_members); i++)
		if (!strcmp(known_members[i], name))
			return true;
	return false;
}

/* A mistyped name has no effect, and the user would not notice. */
static void warn_of_members(const struct entry_reading *reading)
{
	size_t reported = 0;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)reading->value, name, value) {
		const char *nearest;
		_cleanup_free_ char *what = NULL, *shown = NULL;

		if (is_known_member(name) || ++reported > MEMBERS_REPORTED)
			continue;
		nearest = schema_nearest_name(name, known_members, ARRAY_LEN(known_members));
		what = nearest ? mem_printf("is no member that hasp knows; \"%s\" is like it",
		                            nearest) :
		                 mem_strdup("is no member that hasp knows");
		shown = mem_printf("%.100s", name);
		entry_warn(reading, shown, what);
	}
}

static char **entry_pairs(const struct entry_reading *reading, const char *member,
                          const char *between, bool fields)
{
	json_t *object = json_object_get(reading->value, member);
	char **pairs = mem_alloc(json_object_size(object) + 1, sizeof(*pairs));
	const char *name;
	json_t *value;
	size_t count = 0;

	if (object && !json_is_object(object))
		entry_warn(reading, member, "is no object, and does not count");
	json_object_foreach(object, name, value) {
		_cleanup_free_ char *text = entry_value(value);

		if (text && (fields ? mcp_is_field(name, text) : (*name && !strchr(name, '='))))
			pairs[count++] = mem_printf("%s%s%s", name, between, text);
		else
			entry_warn(reading, member, "has a member that cannot be used");
	}
	return pairs;
}

/* ---- the sandbox ---- */

/* Absolute: "~" is the user's home, others begin at the project. */
static char *setting_path(const struct entry_reading *reading, const char *path)
{
	const char *home = getenv("HOME");

	if (path[0] == '~' && (!path[1] || path[1] == '/') && home)
		return path_join(home, path[1] ? path + 2 : ".");
	return path_join(reading->root, path);
}

static char **setting_paths(const struct entry_reading *reading, const json_t *list,
                            const char *name)
{
	char **paths = entry_texts(reading, list, name);

	for (char **path = paths; *path; path++) {
		char *whole = setting_path(reading, *path);

		free(*path);
		*path = whole;
	}
	return paths;
}

static void entry_sandbox(const struct entry_reading *reading)
{
	struct server_entry *entry = reading->entry;
	const json_t *sandbox = json_object_get(reading->value, "sandbox");
	const json_t *workspace = json_object_get(sandbox, "workspace");
	const json_t *network = json_object_get(sandbox, "network");

	if (sandbox && !json_is_object(sandbox))
		entry_warn(reading, "sandbox", "is no object, and does not count");
	if (workspace && !span_eq(json_span(workspace), SPAN("write")) &&
	    !span_eq(json_span(workspace), SPAN("read")))
		entry_warn(reading, "sandbox.workspace", "is neither \"read\" nor \"write\"");
	if (network && !json_is_boolean(network))
		entry_warn(reading, "sandbox.network", "is neither true nor false");
	entry->write_workspace = span_eq(json_span(workspace), SPAN("write"));
	entry->network = json_is_boolean(network) ? json_is_true(network) : -1;
	if (entry->network > 0 && reading->options->no_network) {
		entry_warn(reading, "sandbox.network", "is true, but the administrator forbids the "
		           "network (tools.sandboxNetworkAccess)");
		entry->network = 0;
	}
	entry->write = setting_paths(reading, json_object_get(sandbox, "write"), "sandbox.write");
	entry->read = setting_paths(reading, json_object_get(sandbox, "read"), "sandbox.read");
}

/* ---- all of it ---- */

static unsigned entry_milliseconds(const struct entry_reading *reading, const char *member,
                                   unsigned fallback)
{
	const json_t *value = json_object_get(reading->value, member);
	const double ms = json_number_value(value);

	if (value && (!json_is_number(value) || ms < 1))
		entry_warn(reading, member, "is no number of milliseconds");
	else if (value)
		return ms > TIMEOUT_MS_MAX ? TIMEOUT_MS_MAX : (unsigned)ms;
	return fallback;
}

static void entry_program(const struct entry_reading *reading, const char *command)
{
	struct server_entry *entry = reading->entry;
	char **args = entry_texts(reading, json_object_get(reading->value, "args"), "args");
	const char *folder = entry_text(reading, "cwd");
	size_t count = 0;

	while (args[count])
		count++;
	entry->watch = json_is_object(json_object_get(reading->value, "extension")) ?
	                       json_incref(json_object_get(reading->value, "extension")) : NULL;
	entry->argv = mem_alloc(count + 2, sizeof(*entry->argv));
	entry->argv[0] = mem_strdup(command);
	for (size_t i = 0; i < count; i++)
		entry->argv[i + 1] = args[i];
	free(args);
	entry->env = entry_pairs(reading, "env", "=", false);
	entry->folder = folder ? setting_path(reading, folder) : NULL;
	entry_sandbox(reading);
	if (!reading->options->workers)
		entry_off(reading, "it is a program, and none is started where the workspace is "
		          "another machine's");
}

/* The header fields of an address, and the program that makes more of them. */
static void entry_headers(const struct entry_reading *reading)
{
	struct server_entry *entry = reading->entry;
	const char *helper = entry_text(reading, "headersHelper");

	entry->headers = entry_pairs(reading, "headers", ": ", true);
	if (!helper)
		return;
	entry->helper = mem_strdup(helper);
	entry->env = entry_pairs(reading, "env", "=", false);
	entry_sandbox(reading);
	if (!reading->options->workers)
		entry_off(reading, "its headersHelper is a program, and none is started where the "
		          "workspace is another machine's");
}

static void entry_address(const struct entry_reading *reading, const char *url)
{
	const struct span address = span_str(url);
	const json_t *type = json_object_get(reading->value, "type");

	reading->entry->http = true;
	reading->entry->kind = span_eq(json_span(type), SPAN("sse")) ? MCP_HTTP_SSE :
	                       type || json_object_get(reading->value, "httpUrl") ?
	                               MCP_HTTP_STREAMABLE : MCP_HTTP_EITHER;
	reading->entry->url = mem_strdup(url);
	entry_headers(reading);
	reading->entry->oauth = json_incref(json_object_get(reading->value, "oauth"));
	if (!span_starts(address, SPAN("http://")) && !span_starts(address, SPAN("https://")))
		entry_off(reading, "its address does not begin with http:// or https:// (one that "
		          "begins with ws:// or wss:// is given as tcp)");
}

static void entry_websocket(const struct entry_reading *reading, const char *url)
{
	const struct span address = span_str(url);

	reading->entry->websocket = true;
	reading->entry->url = mem_strdup(url);
	entry_headers(reading);
	if (!span_starts(address, SPAN("ws://")) && !span_starts(address, SPAN("wss://")))
		entry_off(reading, "its tcp does not begin with ws:// or wss://");
}

/* Without scheme, with the port; empty when there is none, or a user stands before it. */
static struct span url_host(const char *url)
{
	const char *at = strstr(url, "://");
	const struct span host = at ? span_of(at + 3, strcspn(at + 3, "/?#")) : SPAN("");

	return host.len && !memchr(host.data, '@', host.len) ? host : SPAN("");
}

static bool url_is_loopback(const char *url)
{
	static const char *const hosts[] = { "127.0.0.1", "localhost", "[::1]" };
	const struct span host = url_host(url);

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		const struct span own = span_str(hosts[i]);

		if (span_eq(host, own) || (span_starts(host, own) && host.data[own.len] == ':'))
			return true;
	}
	return false;
}

/* Whether a token that opens all of the user's Google Cloud may go there: the hosts that Gemini CLI
 * takes, and this machine. */
static bool is_google_address(const char *url)
{
	const struct span host = url_host(url);

	return url_is_loopback(url) ||
	       (span_starts(span_str(url), SPAN("https://")) &&
	        (span_ends(host, SPAN(".googleapis.com")) || span_ends(host, SPAN(".luci.app")) ||
	         span_eq(host, SPAN("luci.app"))));
}

static bool is_account_name(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!ascii_is_alnum(*c) && !strchr("-._@", *c))
			return false;
	return *text;
}

/* authProviderType, of Gemini CLI's: whose tokens a server gets. */
static void entry_provider(const struct entry_reading *reading, const char *url)
{
	struct server_entry *entry = reading->entry;
	const struct span type = json_span(json_object_get(reading->value, "authProviderType"));
	const char *audience = entry_text(reading, "targetAudience");
	const char *account = entry_text(reading, "targetServiceAccount");
	const char *iam = json_string_value(json_object_get(entry->oauth, "iamUrl"));

	if (!json_object_get(reading->value, "authProviderType") ||
	    span_eq(type, SPAN("dynamic_discovery")))
		return;
	if (!url) {
		entry_off(reading, "its authProviderType is for servers over HTTP alone");
	} else if (span_eq(type, SPAN("google_credentials"))) {
		entry->auth = MCP_AUTH_GOOGLE;
		if (!json_array_size(json_object_get(entry->oauth, "scopes")))
			entry_off(reading, "google_credentials needs oauth.scopes");
		else if (!is_google_address(url))
			entry_off(reading, "google_credentials go to hosts of googleapis.com and "
			          "luci.app alone");
	} else if (span_eq(type, SPAN("service_account_impersonation"))) {
		entry->auth = MCP_AUTH_GOOGLE_ACCOUNT;
		entry->audience = mem_strdup(audience ? audience : "");
		entry->account = mem_strdup(account ? account : "");
		if (!*entry->audience || !is_account_name(entry->account))
			entry_off(reading, "service_account_impersonation needs targetAudience and "
			          "targetServiceAccount");
		else if (iam && !is_google_address(iam))
			entry_off(reading, "its oauth.iamUrl is no host of googleapis.com, and "
			          "gets a token that opens all of your Google Cloud");
		else if (!span_starts(span_str(url), SPAN("https://")) && !url_is_loopback(url))
			entry_off(reading, "service_account_impersonation needs an https address");
	} else {
		entry_off(reading, "hasp has no logins of that authProviderType; a token can be "
		          "given as one of its headers");
	}
}

static void entry_enabled(const struct entry_reading *reading)
{
	const struct settings *settings = reading->options->settings;
	const json_t *allowed = settings_get(settings, "mcp.allowed");

	if (servers_list_has(settings_get(settings, "mcp.excluded"), reading->entry->name))
		entry_off(reading, "mcp.excluded names it");
	else if (json_is_array(allowed) && !servers_list_has(allowed, reading->entry->name))
		entry_off(reading, "mcp.allowed does not name it");
}

/* Another command, address or environment is another server; values of variables and headers are
 * secrets, and not part of it. */
static void entry_hash(struct server_entry *entry)
{
	struct sha256_stream stream;
	struct sha256 sum;
	char *const *const lists[] = { entry->argv, entry->env, entry->headers };
	const char *const texts[] = { entry->name, entry->folder, entry->url, entry->helper };
	_cleanup_free_ char *of_version = NULL;

	sha256_init(&stream);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		sha256_update(&stream, span_of(texts[i] ? texts[i] : "", texts[i] ?
		                               strlen(texts[i]) + 1 : 1));
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		for (char *const *text = lists[i]; text && *text; text++) {
			const size_t len = i == 0 ? strlen(*text) : strcspn(*text, "=:");

			sha256_update(&stream, span_of(*text, len));
			sha256_update(&stream, span_of("", 1));
		}
		sha256_update(&stream, span_of("", 1));
	}
	sum = sha256_final(&stream);
	sha256_hex(&sum, entry->identity);
	of_version = mem_printf("%s %s", HASP_VERSION, entry->identity);
	sum = sha256_of(span_str(of_version));
	sha256_hex(&sum, entry->hash);
}

void mcp_entry_read(struct server_entry *entry, const char *name, const json_t *value,
                       const struct mcp_servers_options *options)
{
	const struct entry_reading reading = {
		.entry = entry, .value = value, .options = options,
		.root = options->provider->ops->root(options->provider, 0),
	};
	const char *url, *tcp, *command;

	*entry = (struct server_entry){ .name = mem_strdup(name), .network = -1 };
	url = entry_text(&reading, "httpUrl");
	url = url ? url : entry_text(&reading, "url");
	tcp = entry_text(&reading, "tcp");
	command = entry_text(&reading, "command");
	warn_of_members(&reading);
	entry_enabled(&reading);
	entry->timeout_ms = entry_milliseconds(&reading, "timeout", TIMEOUT_MS);
	entry->startup_ms = entry_milliseconds(&reading, "startupTimeout", 0);
	entry->include = json_incref(json_object_get(value, "includeTools"));
	entry->exclude = json_incref(json_object_get(value, "excludeTools"));
	if (url)
		entry_address(&reading, url);
	else if (tcp)
		entry_websocket(&reading, tcp);
	else if (command)
		entry_program(&reading, command);
	else
		entry_off(&reading, "it has neither a command nor an address");
	entry_provider(&reading, url);
	entry_hash(entry);
}

void mcp_entry_release(struct server_entry *entry)
{
	worker_texts_free(entry->argv);
	worker_texts_free(entry->env);
	worker_texts_free(entry->headers);
	worker_texts_free(entry->write);
	worker_texts_free(entry->read);
	json_decref(entry->include);
	json_decref(entry->watch);
	json_decref(entry->oauth);
	json_decref(entry->exclude);
	free(entry->name);
	free(entry->off);
	free(entry->folder);
	free(entry->url);
	free(entry->helper);
	free(entry->audience);
	free(entry->account);
	*entry = (struct server_entry){ 0 };
}

bool mcp_entry_offers(const struct server_entry *entry, const json_t *declaration)
{
	const struct span name = json_span(json_object_get(declaration, "name"));
	size_t i;
	json_t *own;

	if (json_is_array(entry->exclude) && json_lists(entry->exclude, name))
		return false;
	if (!json_is_array(entry->include))
		return true;
	json_array_foreach(entry->include, i, own) {
		/* "NAME(prefix)", as Gemini CLI has it, names the tool. */
		const struct span text = json_span(own);

		if (span_eq(text, name) ||
		    (span_starts(text, name) && text.len > name.len && text.data[name.len] == '('))
			return true;
	}
	return false;
}
