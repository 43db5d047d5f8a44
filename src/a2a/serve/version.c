/* SPDX-License-Identifier: Apache-2.0 */
/* A2A 0.3 as canonical JSON, and back.
 *
 * Source: A2A 0.3.0, types/src/types.ts and section 7; for its HTTP+JSON binding
 * specification/grpc/a2a.proto as ProtoJSON ("content" for a message's parts, "ROLE_USER"), which
 * is what clients of 0.3 send and read there.  Both forms of a request are understood. */
#include <string.h>

#include "a2a/serve/wire.h"
#include "base/mem.h"
#include "base/span.h"
#include "data/json.h"

/* ---- names and words ------------------------------------------------------------- */

struct version_word {
	const char *old, *canonical;
};

static const struct version_word states[] = {
	{ "submitted", "TASK_STATE_SUBMITTED" }, { "working", "TASK_STATE_WORKING" },
	{ "completed", "TASK_STATE_COMPLETED" }, { "failed", "TASK_STATE_FAILED" },
	{ "canceled", "TASK_STATE_CANCELED" }, { "input-required", "TASK_STATE_INPUT_REQUIRED" },
	{ "rejected", "TASK_STATE_REJECTED" }, { "auth-required", "TASK_STATE_AUTH_REQUIRED" },
	{ "unknown", "TASK_STATE_UNSPECIFIED" }, { NULL, NULL },
};

static const struct version_word roles[] = {
	{ "user", "ROLE_USER" }, { "agent", "ROLE_AGENT" }, { NULL, NULL },
};

/* The other word of a pair; a value that is none stays. */
static json_t *word_change(const struct version_word *words, const json_t *value, bool to_old)
{
	for (; words->old; words++)
		if (span_eq(json_span(value), span_str(to_old ? words->canonical : words->old)))
			return json_cstr(to_old ? words->old : words->canonical);
	return json_incref((json_t *)value);
}

/* Objects are copied one level deep: what is in them is shared, and not changed. */
static json_t *object_copy(const json_t *object)
{
	return json_is_object(object) ? json_copy((json_t *)object) : json_incref((json_t *)object);
}

static void member_change_word(json_t *object, const char *name, const struct version_word *words,
                               bool to_old)
{
	const json_t *value = json_object_get(object, name);

	if (value)
		json_object_set_new(object, name, word_change(words, value, to_old));
}

/* The same by a function, of a value, and of each of an array's elements. */
static void member_change(json_t *object, const char *name, json_t *(*change)(const json_t *value))
{
	const json_t *value = json_object_get(object, name);

	if (value)
		json_object_set_new(object, name, change(value));
}

static void members_change(json_t *object, const char *name, json_t *(*change)(const json_t *value))
{
	const json_t *list = json_object_get(object, name);
	json_t *changed;

	if (!json_is_array(list))
		return;
	changed = json_array();
	for (size_t i = 0; i < json_array_size(list); i++)
		json_array_append_new(changed, change(json_array_get(list, i)));
	json_object_set_new(object, name, changed);
}

/* Another name for a member that is there. */
static void member_rename(json_t *object, const char *name, const char *other)
{
	json_t *value = json_object_get(object, name);

	if (!value)
		return;
	json_object_set(object, other, value);
	json_object_del(object, name);
}

/* ---- in: 0.3 to canonical -------------------------------------------------------- */

/* The file of a part: {bytes | uri, mimeType, name}. */
static void part_take_file(json_t *part, const json_t *file)
{
	static const struct version_word names[] = {
		{ "bytes", "raw" }, { "fileWithBytes", "raw" }, { "file_with_bytes", "raw" },
		{ "uri", "url" }, { "fileWithUri", "url" }, { "file_with_uri", "url" },
		{ "mimeType", "mediaType" }, { "mime_type", "mediaType" }, { "name", "filename" },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		json_t *value = json_object_get(file, names[i].old);

		if (value)
			json_object_set(part, names[i].canonical, value);
	}
	json_object_del(part, "file");
}

static json_t *part_in(const json_t *value)
{
	json_t *part = object_copy(value);
	const json_t *file = json_object_get(part, "file");
	const json_t *data;

	if (json_is_object(file))
		part_take_file(part, file);
	/* The data of the Protocol Buffers form is an object in an object. */
	data = json_object_get(json_object_get(part, "data"), "data");
	if (!json_object_get(part, "kind") && json_is_object(data) &&
	    json_object_size(json_object_get(part, "data")) == 1)
		json_object_set(part, "data", (json_t *)data);
	json_object_del(part, "kind");
	return part;
}

static json_t *message_in(const json_t *value)
{
	json_t *message = object_copy(value);

	if (!json_is_object(message))
		return message;
	if (!json_object_get(message, "parts"))
		member_rename(message, "content", "parts");
	members_change(message, "parts", part_in);
	member_change_word(message, "role", roles, false);
	json_object_del(message, "kind");
	return message;
}

static json_t *authentication_in(const json_t *value)
{
	json_t *authentication = object_copy(value);
	json_t *first = json_array_get(json_object_get(authentication, "schemes"), 0);

	if (first)
		json_object_set(authentication, "scheme", first);
	json_object_del(authentication, "schemes");
	return authentication;
}

static json_t *config_in(const json_t *value)
{
	json_t *config = object_copy(value);

	member_change(config, "authentication", authentication_in);
	return config;
}

static json_t *configuration_in(const json_t *value)
{
	json_t *configuration = object_copy(value);
	const json_t *blocking = json_object_get(configuration, "blocking");

	if (json_is_boolean(blocking))
		json_object_set_new(configuration, "returnImmediately",
		                    json_boolean(!json_is_true(blocking)));
	else if (blocking)
		json_object_set(configuration, "returnImmediately", (json_t *)blocking);
	json_object_del(configuration, "blocking");
	member_rename(configuration, "pushNotification", "pushNotificationConfig");
	member_rename(configuration, "pushNotificationConfig", "taskPushNotificationConfig");
	member_change(configuration, "taskPushNotificationConfig", config_in);
	return configuration;
}

static json_t *send_in(const json_t *params)
{
	json_t *send = object_copy(params), *configuration;
	bool is_proto;

	if (!json_object_get(send, "message"))
		member_rename(send, "request", "message");
	is_proto = json_object_get(json_object_get(send, "message"), "content") != NULL;
	member_change(send, "message", message_in);
	member_change(send, "configuration", configuration_in);
	/* Protocol Buffers have no "not said": a false is left out. */
	configuration = json_object_get(send, "configuration");
	if (is_proto && !json_object_get(configuration, "returnImmediately"))
		json_object_set_new(configuration, "returnImmediately", json_true());
	return send;
}

/* {taskId, pushNotificationConfig: {...}}: the task's id stands in for the configuration's. */
static json_t *push_create_in(const json_t *params)
{
	json_t *inner = json_object_get(params, "pushNotificationConfig");
	json_t *task = json_object_get(params, "taskId");
	json_t *config;

	if (!json_is_object(inner))
		return config_in(params);
	config = config_in(inner);
	json_object_del(config, "taskId");
	json_object_del(config, "task_id");
	if (task)
		json_object_set(config, "taskId", task);
	if (task && !json_string_length(json_object_get(config, "id")))
		json_object_set(config, "id", task);
	return config;
}

/* {id: the task's, pushNotificationConfigId}. */
static json_t *push_one_in(const json_t *params)
{
	json_t *task = json_object_get(params, "id");
	json_t *id = json_object_get(params, "pushNotificationConfigId");
	json_t *result = json_object();

	/* Paths of the other binding have both. */
	if (json_object_get(params, "taskId")) {
		json_decref(result);
		return object_copy(params);
	}
	if (task)
		json_object_set(result, "taskId", task);
	if (id || task)
		json_object_set(result, "id", id ? id : task);
	return result;
}

static json_t *push_list_in(const json_t *params)
{
	json_t *result = object_copy(params);

	if (!json_object_get(result, "taskId"))
		member_rename(result, "id", "taskId");
	return result;
}

static json_t *list_tasks_in(const json_t *params)
{
	json_t *result = object_copy(params);

	member_change_word(result, "status", states, false);
	return result;
}

json_t *a2a_version_params(enum a2a_version version, enum a2a_operation operation,
                           const json_t *params)
{
	static json_t *(*const changes[A2A_OPERATION_COUNT])(const json_t *params) = {
		[A2A_SEND] = send_in, [A2A_STREAM] = send_in, [A2A_LIST_TASKS] = list_tasks_in,
		[A2A_PUSH_CREATE] = push_create_in, [A2A_PUSH_GET] = push_one_in,
		[A2A_PUSH_DELETE] = push_one_in, [A2A_PUSH_LIST] = push_list_in,
	};

	if (version != A2A_V0_3 || !changes[operation] || !json_is_object(params))
		return json_incref((json_t *)params);
	return changes[operation](params);
}

/* ---- out: canonical to 0.3 ------------------------------------------------------- */

/* "kind" goes first, as 0.3's own servers print it. */
static json_t *kind_first(const char *kind, const json_t *value)
{
	json_t *result = json_pack("{s:s}", "kind", kind);

	json_object_update(result, (json_t *)value);
	return result;
}

/* Names of a file that canonical parts have. */
static json_t *file_part_out(const json_t *value)
{
	static const struct version_word names[] = {
		{ "bytes", "raw" }, { "uri", "url" }, { "mimeType", "mediaType" },
		{ "name", "filename" },
	};
	json_t *file = json_object(), *part = kind_first("file", value);

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		json_t *member = json_object_get(value, names[i].canonical);

		if (member)
			json_object_set(file, names[i].old, member);
		json_object_del(part, names[i].canonical);
	}
	json_object_set_new(part, "file", file);
	return part;
}

/* 0.3 has no media type and no file name of a text or of data: they go into its metadata. */
static json_t *plain_part_out(const char *kind, const json_t *value)
{
	static const char *const others[] = { "mediaType", "filename" };
	json_t *part = kind_first(kind, value);
	json_t *metadata = json_object_get(value, "metadata");

	metadata = metadata ? json_copy(metadata) : json_object();
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		json_t *member = json_object_get(value, others[i]);

		if (member)
			json_object_set(metadata, others[i], member);
		json_object_del(part, others[i]);
	}
	if (json_object_size(metadata))
		json_object_set(part, "metadata", metadata);
	json_decref(metadata);
	return part;
}

static json_t *part_out(const json_t *value)
{
	const json_t *data = json_object_get(value, "data");
	json_t *part, *inner;

	if (json_object_get(value, "raw") || json_object_get(value, "url"))
		return file_part_out(value);
	if (!data)
		return plain_part_out("text", value);
	part = plain_part_out("data", value);
	if (json_is_object(data))
		return part;
	/* 0.3's data is an object. */
	inner = json_pack("{s:O}", "value", data);
	json_object_set_new(part, "data", inner);
	return part;
}

static json_t *message_out(const json_t *value)
{
	json_t *message = kind_first("message", value);

	members_change(message, "parts", part_out);
	member_change_word(message, "role", roles, true);
	return message;
}

static json_t *artifact_out(const json_t *value)
{
	json_t *artifact = json_copy((json_t *)value);

	members_change(artifact, "parts", part_out);
	return artifact;
}

static json_t *status_out(const json_t *value)
{
	json_t *status = json_copy((json_t *)value);

	member_change(status, "message", message_out);
	member_change_word(status, "state", states, true);
	return status;
}

static json_t *task_out(const json_t *value)
{
	json_t *task = kind_first("task", value);

	member_change(task, "status", status_out);
	members_change(task, "artifacts", artifact_out);
	members_change(task, "history", message_out);
	return task;
}

/* A stream of 0.3 ends with the event that is final. */
static bool state_is_final(const json_t *state)
{
	static const char *const going[] = { "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING" };

	for (size_t i = 0; i < ARRAY_LEN(going); i++)
		if (span_eq(json_span(state), span_str(going[i])))
			return false;
	return true;
}

static json_t *status_update_out(const json_t *value)
{
	json_t *event = kind_first("status-update", value);
	const json_t *status = json_object_get(value, "status");

	member_change(event, "status", status_out);
	json_object_set_new(event, "final",
	                    json_boolean(state_is_final(json_object_get(status, "state"))));
	return event;
}

static json_t *artifact_update_out(const json_t *value)
{
	json_t *event = kind_first("artifact-update", value);

	member_change(event, "artifact", artifact_out);
	return event;
}

static json_t *config_out(const json_t *value)
{
	json_t *config = json_copy((json_t *)value);
	json_t *authentication = json_object_get(value, "authentication");
	json_t *scheme = json_object_get(authentication, "scheme"), *old;

	json_object_del(config, "taskId");
	json_object_del(config, "tenant");
	if (authentication) {
		old = json_copy(authentication);
		json_object_del(old, "scheme");
		json_object_set_new(old, "schemes", scheme ? json_pack("[O]", scheme) :
		                                            json_array());
		json_object_set_new(config, "authentication", old);
	}
	return config;
}

static json_t *push_out(const json_t *value)
{
	json_t *result = json_object();
	json_t *task = json_object_get(value, "taskId");

	if (task)
		json_object_set(result, "taskId", task);
	json_object_set_new(result, "pushNotificationConfig", config_out(value));
	return result;
}

static json_t *push_list_out(const json_t *value)
{
	const json_t *configs = json_object_get(value, "configs");
	json_t *result = json_array();

	for (size_t i = 0; i < json_array_size(configs); i++)
		json_array_append_new(result, push_out(json_array_get(configs, i)));
	return result;
}

static json_t *push_delete_out(const json_t *value)
{
	(void)value;
	return json_null();
}

static json_t *list_tasks_out(const json_t *value)
{
	json_t *result = json_copy((json_t *)value);

	members_change(result, "tasks", task_out);
	return result;
}

/* The one member that a StreamResponse or SendMessageResponse has. */
static json_t *response_out(const json_t *response)
{
	static const struct {
		const char *name;
		json_t *(*out)(const json_t *value);
	} payloads[] = {
		{ "task", task_out }, { "message", message_out },
		{ "statusUpdate", status_update_out }, { "artifactUpdate", artifact_update_out },
	};

	for (size_t i = 0; i < ARRAY_LEN(payloads); i++) {
		const json_t *value = json_object_get(response, payloads[i].name);

		if (value)
			return payloads[i].out(value);
	}
	return json_incref((json_t *)response);
}

json_t *a2a_version_event(enum a2a_version version, const json_t *response)
{
	return version == A2A_V0_3 ? response_out(response) : json_incref((json_t *)response);
}

json_t *a2a_version_task(enum a2a_version version, const json_t *task)
{
	return version == A2A_V0_3 ? task_out(task) : json_incref((json_t *)task);
}

/* ---- out: canonical to 0.3 of its Protocol Buffers file --------------------------- */

/* That file has no other members. */
static json_t *object_only(const json_t *value, const char *const *names, size_t count)
{
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++) {
		json_t *member = json_object_get(value, names[i]);

		if (member)
			json_object_set(object, names[i], member);
	}
	return object;
}

static json_t *part_proto(const json_t *value)
{
	json_t *raw = json_object_get(value, "raw"), *url = json_object_get(value, "url");
	json_t *data = json_object_get(value, "data");

	if (raw || url)
		return json_pack("{s:{s:O, s:O*}}", "file", raw ? "fileWithBytes" : "fileWithUri",
		                 raw ? raw : url, "mimeType", json_object_get(value, "mediaType"));
	if (json_is_object(data))
		return json_pack("{s:{s:O}}", "data", "data", data);
	if (data)
		return json_pack("{s:{s:{s:O}}}", "data", "data", "value", data);
	return json_pack("{s:O*}", "text", json_object_get(value, "text"));
}

/* A copy with a member, or each of its elements, changed. */
static json_t *object_changed(const json_t *value, const char *name,
                              json_t *(*change)(const json_t *value))
{
	json_t *copy = json_copy((json_t *)value);

	if (json_is_array(json_object_get(copy, name)))
		members_change(copy, name, change);
	else
		member_change(copy, name, change);
	return copy;
}

static json_t *message_proto(const json_t *value)
{
	static const char *const names[] = { "messageId", "contextId", "taskId",    "role",
		                             "parts",     "metadata",  "extensions" };
	json_t *message = object_only(value, names, ARRAY_LEN(names));

	members_change(message, "parts", part_proto);
	member_rename(message, "parts", "content");
	return message;
}

static json_t *artifact_proto(const json_t *value)
{
	return object_changed(value, "parts", part_proto);
}

static json_t *status_proto(const json_t *value)
{
	static const struct version_word words[] = {
		{ "TASK_STATE_CANCELLED", "TASK_STATE_CANCELED" }, { NULL, NULL },
	};
	json_t *status = object_changed(value, "message", message_proto);

	member_change_word(status, "state", words, true);
	return status;
}

static json_t *task_proto(const json_t *value)
{
	json_t *task = object_changed(value, "status", status_proto);

	members_change(task, "artifacts", artifact_proto);
	members_change(task, "history", message_proto);
	return task;
}

static json_t *status_update_proto(const json_t *value)
{
	json_t *event = object_changed(value, "status", status_proto);
	const json_t *status = json_object_get(value, "status");

	json_object_set_new(event, "final",
	                    json_boolean(state_is_final(json_object_get(status, "state"))));
	return event;
}

static json_t *artifact_update_proto(const json_t *value)
{
	return object_changed(value, "artifact", artifact_proto);
}

/* Of a SendMessageResponse, a StreamResponse. */
static json_t *response_proto(const json_t *value)
{
	json_t *response = object_changed(value, "task", task_proto);

	member_change(response, "message", message_proto);
	member_change(response, "statusUpdate", status_update_proto);
	member_change(response, "artifactUpdate", artifact_update_proto);
	return response;
}

/* A configuration has a resource's name there, which has both ids in it. */
static json_t *push_proto(const json_t *value)
{
	const char *task = json_string_value(json_object_get(value, "taskId"));
	const char *id = json_string_value(json_object_get(value, "id"));
	_cleanup_free_ char *name = mem_printf("tasks/%s/pushNotificationConfigs/%s",
	                                       task ? task : "", id ? id : "");

	return json_pack("{s:o, s:o}", "name", json_text(span_str(name)), "pushNotificationConfig",
	                 config_out(value));
}

static json_t *push_list_proto(const json_t *value)
{
	return object_changed(value, "configs", push_proto);
}

static json_t *list_tasks_proto(const json_t *value)
{
	return object_changed(value, "tasks", task_proto);
}

/* ---- the card -------------------------------------------------------------------- */

/* {"httpAuthSecurityScheme": {...}} is {"type": "http", ...}. */
static json_t *scheme_out(const json_t *value)
{
	static const struct version_word types[] = {
		{ "apiKey", "apiKeySecurityScheme" }, { "http", "httpAuthSecurityScheme" },
		{ "oauth2", "oauth2SecurityScheme" }, { "mutualTLS", "mtlsSecurityScheme" },
		{ "openIdConnect", "openIdConnectSecurityScheme" },
	};
	json_t *scheme = json_object();

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		json_t *inner = json_object_get(value, types[i].canonical);

		if (!inner)
			continue;
		json_object_set_new(scheme, "type", json_cstr(types[i].old));
		json_object_update(scheme, inner);
		member_rename(scheme, "location", "in");
	}
	return scheme;
}

/* [{"schemes": {NAME: {"list": [...]}}}] is [{NAME: [...]}]. */
static json_t *requirements_out(const json_t *value)
{
	json_t *result = json_array();

	for (size_t i = 0; i < json_array_size(value); i++) {
		const json_t *schemes = json_object_get(json_array_get(value, i), "schemes");
		json_t *one = json_object(), *scopes;
		const char *name;

		json_object_foreach((json_t *)schemes, name, scopes) {
			json_t *list = json_object_get(scopes, "list");

			json_object_set_new(one, name, list ? json_incref(list) : json_array());
		}
		json_array_append_new(result, one);
	}
	return result;
}

/* Adds the interfaces: 0.3's own first, then all of that version. */
static void card_add_interfaces(json_t *card, const json_t *interfaces)
{
	json_t *others = json_array();

	for (size_t i = 0; i < json_array_size(interfaces); i++) {
		const json_t *one = json_array_get(interfaces, i);
		json_t *url = json_object_get(one, "url");
		json_t *binding = json_object_get(one, "protocolBinding");

		if (strcmp(json_string_value(json_object_get(one, "protocolVersion")), "0.3") != 0)
			continue;
		if (!json_array_size(others)) {
			json_object_set(card, "url", url);
			json_object_set(card, "preferredTransport", binding);
		}
		json_array_append_new(others, json_pack("{s:O, s:O}", "url", url, "transport",
		                                        binding));
	}
	json_object_set_new(card, "additionalInterfaces", others);
}

/* Members that 0.3 has and 1.0 has not, or has in another form. */
static void card_add_old(json_t *card, const json_t *canonical)
{
	const json_t *capabilities = json_object_get(canonical, "capabilities");
	const json_t *requirements = json_object_get(canonical, "securityRequirements");
	const json_t *schemes = json_object_get(canonical, "securitySchemes");
	json_t *both = json_object(), *scheme;
	const char *name;

	json_object_set_new(card, "protocolVersion", json_cstr("0.3.0"));
	card_add_interfaces(card, json_object_get(canonical, "supportedInterfaces"));
	json_object_set_new(card, "supportsAuthenticatedExtendedCard",
	                    json_boolean(json_is_true(json_object_get(capabilities,
	                                                              "extendedAgentCard"))));
	if (requirements)
		json_object_set_new(card, "security", requirements_out(requirements));
	json_object_foreach((json_t *)schemes, name, scheme) {
		json_t *old = scheme_out(scheme);

		json_object_set_new(both, name, old);
		/* Of both versions: a reader of one does not look at the other's members. */
		if (json_object_get(card, "supportedInterfaces"))
			json_object_update(old, scheme);
	}
	if (schemes)
		json_object_set(card, "securitySchemes", both);
	json_decref(both);
}

json_t *a2a_version_card(enum a2a_version version, const json_t *canonical)
{
	static const char *const only_new[] = { "supportedInterfaces", "securityRequirements" };
	json_t *card = json_copy((json_t *)canonical);
	json_t *capabilities;

	if (version == A2A_V1_0)
		return card;
	for (size_t i = 0; version == A2A_V0_3 && i < ARRAY_LEN(only_new); i++)
		json_object_del(card, only_new[i]);
	if (version == A2A_V0_3) {
		capabilities = json_copy(json_object_get(canonical, "capabilities"));
		json_object_del(capabilities, "extendedAgentCard");
		json_object_set_new(card, "capabilities", capabilities);
	}
	card_add_old(card, canonical);
	return card;
}

/* ---- results --------------------------------------------------------------------- */

static json_t *card_out(const json_t *value)
{
	return a2a_version_card(A2A_V0_3, value);
}

/* Security is in 1.0's form there. */
static json_t *card_proto(const json_t *value)
{
	json_t *card = a2a_version_card(A2A_V0_3, value);
	json_t *schemes = json_object_get(value, "securitySchemes");
	json_t *requirements = json_object_get(value, "securityRequirements");

	if (schemes)
		json_object_set(card, "securitySchemes", schemes);
	if (requirements)
		json_object_set(card, "security", requirements);
	return card;
}

json_t *a2a_version_proto(enum a2a_operation operation, const json_t *result)
{
	static json_t *(*const changes[A2A_OPERATION_COUNT])(const json_t *value) = {
		[A2A_SEND] = response_proto, [A2A_STREAM] = response_proto,
		[A2A_SUBSCRIBE] = response_proto,
		[A2A_GET_TASK] = task_proto, [A2A_CANCEL_TASK] = task_proto,
		[A2A_LIST_TASKS] = list_tasks_proto, [A2A_PUSH_CREATE] = push_proto,
		[A2A_PUSH_GET] = push_proto, [A2A_PUSH_LIST] = push_list_proto,
		[A2A_EXTENDED_CARD] = card_proto,
	};

	return changes[operation] ? changes[operation](result) : json_incref((json_t *)result);
}

json_t *a2a_version_result(enum a2a_version version, enum a2a_operation operation,
                           const json_t *result)
{
	static json_t *(*const changes[A2A_OPERATION_COUNT])(const json_t *value) = {
		[A2A_SEND] = response_out, [A2A_STREAM] = response_out,
		[A2A_SUBSCRIBE] = response_out,
		[A2A_GET_TASK] = task_out, [A2A_CANCEL_TASK] = task_out,
		[A2A_LIST_TASKS] = list_tasks_out, [A2A_PUSH_CREATE] = push_out,
		[A2A_PUSH_GET] = push_out, [A2A_PUSH_LIST] = push_list_out,
		[A2A_PUSH_DELETE] = push_delete_out, [A2A_EXTENDED_CARD] = card_out,
	};

	return version == A2A_V0_3 ? changes[operation](result) : json_incref((json_t *)result);
}

bool a2a_version_read(const char *text, enum a2a_version *ret)
{
	static const struct {
		const char *name;
		enum a2a_version version;
	} names[] = { { "0.3", A2A_V0_3 }, { "1.0", A2A_V1_0 } };
	struct span rest = span_trim(span_str(text));

	*ret = A2A_V0_3;
	if (!rest.len)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct span name = span_str(names[i].name);
		struct span patch;

		if (!span_starts(rest, name))
			continue;
		patch = span_skip(rest, name.len);
		if (patch.len && (patch.data[0] != '.' || patch.len < 2 || patch.len > 6 ||
		                  span_digits(span_skip(patch, 1)) != patch.len - 1))
			return false;
		*ret = names[i].version;
		return true;
	}
	return false;
}
