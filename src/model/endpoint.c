/* SPDX-License-Identifier: Apache-2.0 */
/* An endpoint: address, what was learnt of it, and how long its conversations may be. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "config/home.h"
#include "data/json.h"
#include "model/stream.h"
#include "model/wire.h"

/* ---- formats ----------------------------------------------------------------- */

static const struct provider_format *const formats[] = {
	&format_gemini,
	&format_openai_chat,
	&format_openai_responses,
	&format_anthropic,
	&format_replay,
};

const struct provider_format *provider_find(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

/* ---- endpoint ---------------------------------------------------------------- */

/* Context windows of unknown models until the provider has been asked.  Too small a value would
 * compress conversations needlessly; one that is too large is corrected by the provider's error. */
enum { CONTEXT_GEMINI = 1048576, CONTEXT_ANTHROPIC = 200000, CONTEXT_OTHERS = 262144 };

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7F)
			return true;
	return false;
}

static bool good_url(const char *url)
{
	size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 :
	                strncmp(url, "http://", 7) == 0  ? 7 :
	                                                   0;

	return scheme && url[scheme] && url[scheme] != '/' && !has_control(url) &&
	       !strpbrk(url, " ?#");
}

static bool check_options(const struct model_options *options, const char *base, struct err *err)
{
	const char *const *header;

	if (options->name && has_control(options->name))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The model's name has characters that no name may have.");
	if (base && !good_url(base))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The address of the model must be an http or https URL without "
		               "blanks and without a query.");
	if (options->api_key && has_control(options->api_key))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The key for %s has a line end or a control character in it.",
		               options->provider);
	for (header = options->headers; header && *header; header++)
		if (has_control(*header) || !strchr(*header, ':') || **header == ':')
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "A custom header is not of the form \"Name: value\".");
	return true;
}

static char **copy_strings(const char *const *list)
{
	size_t count = 0;
	char **copy;

	while (list && list[count])
		count++;
	copy = mem_alloc(count + 1, sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = mem_strdup(list[i]);
	return copy;
}

/* The host of a URL, with its port; without what stands before an '@'. */
static char *host_of(const char *url)
{
	const char *host = strstr(url, "://") + 3;
	size_t len = strcspn(host, "/");
	const char *at = memrchr(host, '@', len);

	return at ? mem_dup(at + 1, len - (size_t)(at + 1 - host)) : mem_dup(host, len);
}

static void copy_options(const struct model_options *options, const char *base,
                         struct model_options *ret)
{
	*ret = *options;
	ret->fallbacks = NULL;
	ret->provider = mem_strdup(options->provider);
	ret->label = mem_strdup(options->label ? options->label : options->provider);
	ret->name = mem_strdup(options->name ? options->name : "");
	ret->base_url = mem_strdup(base);
	ret->api_key = mem_strdup(options->api_key);
	ret->headers = (const char *const *)copy_strings(options->headers);
	ret->proxy = mem_strdup(options->proxy);
	ret->replay_file = mem_strdup(options->replay_file);
	ret->no_key = mem_strdup(options->no_key);
	for (size_t i = 0; i < MODEL_ADVICE_COUNT; i++)
		ret->advice[i] = mem_strdup(options->advice[i]);
	ret->learnt_file = mem_strdup(options->learnt_file);
	ret->without = NULL;
}

/* ---- what was learnt of it ---- */

/* An organisation may be verified, a server brought up to date: then it is tried again. */
enum { DROPPED_DAYS = 30 };

/* Another key is another account, which may do other things. The key itself is not kept. */
static char *learnt_key(const struct model_options *options)
{
	_cleanup_free_ char *text = mem_printf("%s\n%s\n%s\n%s", options->provider,
	                                       options->base_url ? options->base_url : "",
	                                       options->name,
	                                       options->api_key ? options->api_key : "");
	struct sha256 sum = sha256_of(span_str(text));
	char hex[SHA256_HEX_SIZE];

	explicit_bzero(text, strlen(text));
	sha256_hex(&sum, hex);
	return mem_dup(hex, 32);
}

static void endpoint_keep_tool(struct endpoint *endpoint, const char *key, json_t *until)
{
	if (!endpoint->refused_tools)
		endpoint->refused_tools = json_object();
	json_object_set(endpoint->refused_tools, key, until);
}

void endpoint_recall(struct endpoint *endpoint)
{
	json_auto_t *known = NULL;
	const char *name;
	json_t *until;

	if (endpoint->recalled || !endpoint->options.learnt_file)
		return;
	endpoint->recalled = true;
	known = home_learnt(endpoint->options.learnt_file, endpoint->learnt_key);
	json_object_foreach(json_object_get(known, "without"), name, until)
		if (home_learnt_holds(until))
			endpoint->without |= refusable_named(name);
	json_object_foreach(json_object_get(known, "tools"), name, until)
		if (home_learnt_holds(until))
			endpoint_keep_tool(endpoint, name, until);
	if (home_learnt_holds(json_object_get(known, "contextUntil")))
		endpoint->learnt_context = wire_count(known, "contextTokens");
}

void endpoint_drop_parameter(struct endpoint *endpoint, refusable_set refused)
{
	endpoint->without |= refused;
	if (endpoint->options.learnt_file && refusable_lasts(refused))
		home_learn(endpoint->options.learnt_file, endpoint->learnt_key,
		           json_pack("{s:s, s:{s:o}}", "model", endpoint->id, "without",
		                     refusable_name(refused), home_learnt_until(DROPPED_DAYS)));
}

void endpoint_leave_out_tool(struct endpoint *endpoint, const char *key, bool lasting)
{
	json_auto_t *until = lasting ? home_learnt_until(DROPPED_DAYS) : json_true();

	endpoint_keep_tool(endpoint, key, until);
	if (lasting && endpoint->options.learnt_file &&
	    json_object_size(endpoint->refused_tools) <= LIMIT_LEARNT_TOOLS)
		home_learn(endpoint->options.learnt_file, endpoint->learnt_key,
		           json_pack("{s:s, s:{s:O}}", "model", endpoint->id, "tools", key, until));
}

enum model_loading endpoint_loading(const struct endpoint *endpoint)
{
	return endpoint->format->loading ? endpoint->format->loading(&endpoint->options) :
	                                   MODEL_LOADS_NOTHING;
}

bool endpoint_open(const struct model_options *options, struct endpoint *ret, struct err *err)
{
	const struct provider_format *format = provider_find(options->provider);
	const char *base;
	void *state = NULL;

	if (!format)
		return err_set(err, ERR_INVALID_ARGUMENT, "Unknown model provider: %.64s",
		               options->provider ? options->provider : "\"\"");
	if (!format->answer && (!options->name || !options->name[0]))
		return err_set(err, ERR_INVALID_ARGUMENT, "No model name given for %s.",
		               options->provider);
	base = options->base_url && options->base_url[0] ? options->base_url : format->default_base;
	if (!check_options(options, base, err))
		return false;
	if (format->open && !format->open(options, &state, err))
		return false;
	*ret = (struct endpoint){ .format = format, .state = state };
	copy_options(options, base, &ret->options);
	for (const char *const *name = options->without; name && *name; name++)
		ret->without |= refusable_named(*name);
	ret->learnt_key = format->answer ? mem_strdup("") : learnt_key(&ret->options);
	ret->id = mem_printf("%s/%s", ret->options.label, ret->options.name);
	ret->host = base ? host_of(base) : mem_strdup("");
	return true;
}

/* A key is not left behind in memory that is used again. */
static void free_secret(const char *secret)
{
	if (secret)
		explicit_bzero((char *)secret, strlen(secret));
	free((char *)secret);
}

void endpoint_release(struct endpoint *endpoint)
{
	struct model_options *options = &endpoint->options;

	if (endpoint->format && endpoint->format->close)
		endpoint->format->close(endpoint->state);
	http_client_free(endpoint->client);
	free_secret(options->api_key);
	for (const char *const *header = options->headers; header && *header; header++)
		free_secret(*header);
	free((void *)options->headers);
	free((char *)options->provider);
	free((char *)options->label);
	free((char *)options->name);
	free((char *)options->base_url);
	free((char *)options->proxy);
	free((char *)options->replay_file);
	free((char *)options->no_key);
	for (size_t i = 0; i < MODEL_ADVICE_COUNT; i++)
		free((char *)options->advice[i]);
	free((char *)options->learnt_file);
	json_decref(endpoint->refused_tools);
	json_decref(endpoint->reported_tools);
	free(endpoint->learnt_key);
	free(endpoint->id);
	free(endpoint->host);
	*endpoint = (struct endpoint){ 0 };
}

uint64_t endpoint_context_tokens(const struct endpoint *endpoint)
{
	const struct provider_format *format = endpoint->format;
	uint64_t known = endpoint->options.context_tokens;

	if (!known)
		known = endpoint->learnt_context;
	if (!known && format->context_tokens)
		known = format->context_tokens(endpoint->options.name);
	if (known)
		return known;
	if (format == &format_gemini || format->answer)
		return CONTEXT_GEMINI;
	return strcmp(format->name, "anthropic") == 0 ? CONTEXT_ANTHROPIC : CONTEXT_OTHERS;
}

/* ---- limits asked of the provider -------------------------------------------- */

/* How long a conversation may be, in the provider's own words: one GET, remembered for a week. */

/* The window is not worth a long wait.  A value below CONTEXT_LEAST is too small for an agent: a
 * mistake, or the limit of something else. */
enum { ASK_MS = 3000, KNOWN_DAYS = 7, CONTEXT_LEAST = 2048, LIST_DEPTH = 32 };

struct endpoint_answer {
	int status;
	struct buf body;
};

static bool limits_on_head(void *data, int status, struct span headers)
{
	struct endpoint_answer *answer = data;

	(void)headers;
	answer->status = status;
	return true;
}

static bool limits_on_body(void *data, struct span bytes)
{
	struct endpoint_answer *answer = data;

	return buf_span(&answer->body, bytes);
}

static bool answer_status(const struct endpoint *endpoint, const struct endpoint_answer *answer,
                          struct err *err)
{
	const char *host = endpoint->host;

	if (answer->status == 200)
		return true;
	if (answer->status == 401 || answer->status == 403)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "%s does not accept the key (HTTP %d).", host, answer->status);
	return err_set(err, ERR_MODEL_ERROR, "%s answered with HTTP %d.", host, answer->status);
}

/* Sends the GET that `build` describes; *ret_value is the answer's JSON, a new reference. */
static bool endpoint_get(struct endpoint *endpoint,
                         bool (*build)(const struct model_options *options,
                                       struct wire_request *ret),
                         const struct cancel *cancel, json_t **ret_value, struct err *err)
{
	static const struct http_events events = { .head = limits_on_head, .body = limits_on_body };
	struct wire_request wire = { .format = endpoint->format->name,
	                             .url = BUF_INIT(LIMIT_URI_BYTES),
	                             .body = BUF_INIT(1) };
	struct endpoint_answer answer = { .body = BUF_INIT(LIMIT_MODEL_LIST_BYTES) };
	const char *const *header = endpoint->options.headers;
	bool ok;

	wire_header(&wire, "Accept: application/json");
	wire_header(&wire, "User-Agent: hasp/%s", HASP_VERSION);
	ok = build && build(&endpoint->options, &wire);
	for (; header && *header; header++)
		wire_header(&wire, "%s", *header);
	const struct http_client_request http = {
		.method = "GET",
		.url = wire.url.data,
		.headers = (const char *const *)wire.headers,
		.proxy = endpoint->options.proxy,
		.total_ms = ASK_MS,
		.max_bytes = LIMIT_MODEL_LIST_BYTES,
		.cancel = cancel,
	};

	if (!endpoint->client)
		endpoint->client = http_client_new();
	if (!ok)
		err_set(err, ERR_INVALID_ARGUMENT, "%s has no list of models.",
		        endpoint->options.label);
	else
		ok = http_client_send(endpoint->client, &http, &events, &answer, err) &&
		     answer_status(endpoint, &answer, err) &&
		     json_parse_foreign(buf_view(&answer.body), LIST_DEPTH, ret_value, NULL, err);
	buf_release(&answer.body);
	wire_request_release(&wire);
	return ok;
}

void endpoint_learn_limits(struct endpoint *endpoint, const struct cancel *cancel)
{
	struct err ignored = ERR_INIT;
	json_auto_t *value = NULL;
	uint64_t found = 0;

	if (endpoint->asked_limits || endpoint->learnt_context ||
	    endpoint->options.context_tokens ||
	    !endpoint->format->limits_build)
		return;
	endpoint->asked_limits = true;
	if (endpoint_get(endpoint, endpoint->format->limits_build, cancel, &value, &ignored))
		found = endpoint->format->limits_read(&endpoint->options, value);
	if (found < CONTEXT_LEAST)
		return;
	endpoint->learnt_context = found;
	if (endpoint->options.learnt_file)
		home_learn(endpoint->options.learnt_file, endpoint->learnt_key,
		           json_pack("{s:s, s:o, s:o}", "model", endpoint->id, "contextTokens",
		                     json_size(found), "contextUntil",
		                     home_learnt_until(KNOWN_DAYS)));
}

/* ---- the list of models ---- */

json_t *endpoint_list(struct endpoint *endpoint, const char *file, bool kept,
                      const struct cancel *cancel, struct err *err)
{
	json_auto_t *known = file ? home_learnt(file, endpoint->learnt_key) : NULL, *value = NULL;
	json_t *list;

	if (kept && home_learnt_holds(json_object_get(known, "modelsUntil")))
		return json_incref(json_object_get(known, "models"));
	if (!endpoint_get(endpoint, endpoint->format->list_build, cancel, &value, err))
		return NULL;
	list = json_array();
	endpoint->format->list_read(value, list);
	if (!file)
		return list;
	home_learn(file, endpoint->learnt_key,
	           json_pack("{s:s, s:O, s:o}", "provider", endpoint->options.label, "models", list,
	                     "modelsUntil", home_learnt_until(1)));
	return list;
}
