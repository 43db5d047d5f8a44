/* SPDX-License-Identifier: Apache-2.0 */
/* What a message of the protocol may have, as tables, and the one reader of them.
 *
 * Sources: A2A 1.0, specification/a2a.proto; https://protobuf.dev/programming-guides/json/.
 * Stricter than these: ids and lists have a longest length, an id has no control characters.
 *
 * To add a field: a row in its message's table. */
#include <stdio.h>
#include <string.h>

#include "a2a/serve/wire.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum field_kind {
	FIELD_STRING,
	FIELD_ID,     /* a string that names something */
	FIELD_BOOL,
	FIELD_INT,    /* int32, not negative: no field of the protocol can be */
	FIELD_BYTES,  /* base64 */
	FIELD_STRUCT, /* any object */
	FIELD_VALUE,  /* anything, null too */
	FIELD_TIME,   /* RFC 3339 */
	FIELD_STATE,  /* enums */
	FIELD_ROLE,
	FIELD_MESSAGE,
};

enum {
	REQUIRED = 1,
	REPEATED = 2,
	CONTENT = 4, /* one of its message's fields with this flag must be there, and one alone */
};

struct field {
	const char *name; /* in camel case; the other spelling follows from it */
	enum field_kind kind;
	unsigned flags;
	enum a2a_message message; /* of FIELD_MESSAGE */
};

#define TENANT { "tenant", FIELD_STRING, 0, 0 }

static const struct field send_fields[] = {
	TENANT,
	{ "message", FIELD_MESSAGE, REQUIRED, A2A_MESSAGE_MESSAGE },
	{ "configuration", FIELD_MESSAGE, 0, A2A_MESSAGE_CONFIGURATION },
	{ "metadata", FIELD_STRUCT, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field get_task_fields[] = {
	TENANT, { "id", FIELD_ID, REQUIRED, 0 }, { "historyLength", FIELD_INT, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field list_tasks_fields[] = {
	TENANT,
	{ "contextId", FIELD_ID, 0, 0 },
	{ "status", FIELD_STATE, 0, 0 },
	{ "pageSize", FIELD_INT, 0, 0 },
	{ "pageToken", FIELD_STRING, 0, 0 },
	{ "historyLength", FIELD_INT, 0, 0 },
	{ "statusTimestampAfter", FIELD_TIME, 0, 0 },
	{ "includeArtifacts", FIELD_BOOL, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field cancel_fields[] = {
	TENANT, { "id", FIELD_ID, REQUIRED, 0 }, { "metadata", FIELD_STRUCT, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field subscribe_fields[] = {
	TENANT, { "id", FIELD_ID, REQUIRED, 0 }, { NULL, 0, 0, 0 },
};
static const struct field push_config_fields[] = {
	TENANT,
	{ "id", FIELD_ID, 0, 0 },
	{ "taskId", FIELD_ID, 0, 0 },
	{ "url", FIELD_STRING, REQUIRED, 0 },
	{ "token", FIELD_STRING, 0, 0 },
	{ "authentication", FIELD_MESSAGE, 0, A2A_MESSAGE_AUTHENTICATION },
	{ NULL, 0, 0, 0 },
};
static const struct field push_one_fields[] = {
	TENANT, { "taskId", FIELD_ID, REQUIRED, 0 }, { "id", FIELD_ID, REQUIRED, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field push_list_fields[] = {
	TENANT, { "taskId", FIELD_ID, REQUIRED, 0 }, { "pageSize", FIELD_INT, 0, 0 },
	{ "pageToken", FIELD_STRING, 0, 0 }, { NULL, 0, 0, 0 },
};
static const struct field extended_card_fields[] = { TENANT, { NULL, 0, 0, 0 } };
static const struct field message_fields[] = {
	{ "messageId", FIELD_ID, REQUIRED, 0 },
	{ "contextId", FIELD_ID, 0, 0 },
	{ "taskId", FIELD_ID, 0, 0 },
	{ "role", FIELD_ROLE, REQUIRED, 0 },
	{ "parts", FIELD_MESSAGE, REQUIRED | REPEATED, A2A_MESSAGE_PART },
	{ "metadata", FIELD_STRUCT, 0, 0 },
	{ "extensions", FIELD_STRING, REPEATED, 0 },
	{ "referenceTaskIds", FIELD_ID, REPEATED, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field part_fields[] = {
	{ "text", FIELD_STRING, CONTENT, 0 },
	{ "raw", FIELD_BYTES, CONTENT, 0 },
	{ "url", FIELD_STRING, CONTENT, 0 },
	{ "data", FIELD_VALUE, CONTENT, 0 },
	{ "metadata", FIELD_STRUCT, 0, 0 },
	{ "filename", FIELD_STRING, 0, 0 },
	{ "mediaType", FIELD_STRING, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field configuration_fields[] = {
	{ "acceptedOutputModes", FIELD_STRING, REPEATED, 0 },
	{ "taskPushNotificationConfig", FIELD_MESSAGE, 0, A2A_MESSAGE_PUSH_CONFIG },
	{ "historyLength", FIELD_INT, 0, 0 },
	{ "returnImmediately", FIELD_BOOL, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field authentication_fields[] = {
	{ "scheme", FIELD_STRING, REQUIRED, 0 }, { "credentials", FIELD_STRING, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field task_fields[] = {
	{ "id", FIELD_ID, REQUIRED, 0 },
	{ "contextId", FIELD_ID, 0, 0 },
	{ "status", FIELD_MESSAGE, REQUIRED, A2A_MESSAGE_STATUS },
	{ "artifacts", FIELD_MESSAGE, REPEATED, A2A_MESSAGE_ARTIFACT },
	{ "history", FIELD_MESSAGE, REPEATED, A2A_MESSAGE_MESSAGE },
	{ "metadata", FIELD_STRUCT, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field status_fields[] = {
	{ "state", FIELD_STATE, REQUIRED, 0 },
	{ "message", FIELD_MESSAGE, 0, A2A_MESSAGE_MESSAGE },
	{ "timestamp", FIELD_TIME, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field artifact_fields[] = {
	{ "artifactId", FIELD_ID, REQUIRED, 0 },
	{ "name", FIELD_STRING, 0, 0 },
	{ "description", FIELD_STRING, 0, 0 },
	{ "parts", FIELD_MESSAGE, REQUIRED | REPEATED, A2A_MESSAGE_PART },
	{ "metadata", FIELD_STRUCT, 0, 0 },
	{ "extensions", FIELD_STRING, REPEATED, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field status_update_fields[] = {
	{ "taskId", FIELD_ID, REQUIRED, 0 },
	{ "contextId", FIELD_ID, REQUIRED, 0 },
	{ "status", FIELD_MESSAGE, REQUIRED, A2A_MESSAGE_STATUS },
	{ "metadata", FIELD_STRUCT, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field artifact_update_fields[] = {
	{ "taskId", FIELD_ID, REQUIRED, 0 },
	{ "contextId", FIELD_ID, REQUIRED, 0 },
	{ "artifact", FIELD_MESSAGE, REQUIRED, A2A_MESSAGE_ARTIFACT },
	{ "append", FIELD_BOOL, 0, 0 },
	{ "lastChunk", FIELD_BOOL, 0, 0 },
	{ "metadata", FIELD_STRUCT, 0, 0 },
	{ NULL, 0, 0, 0 },
};
static const struct field stream_response_fields[] = {
	{ "task", FIELD_MESSAGE, CONTENT, A2A_MESSAGE_TASK },
	{ "message", FIELD_MESSAGE, CONTENT, A2A_MESSAGE_MESSAGE },
	{ "statusUpdate", FIELD_MESSAGE, CONTENT, A2A_MESSAGE_STATUS_UPDATE },
	{ "artifactUpdate", FIELD_MESSAGE, CONTENT, A2A_MESSAGE_ARTIFACT_UPDATE },
	{ NULL, 0, 0, 0 },
};

static const struct field *const messages[A2A_MESSAGE_COUNT] = {
	[A2A_MESSAGE_SEND] = send_fields,
	[A2A_MESSAGE_GET_TASK] = get_task_fields,
	[A2A_MESSAGE_LIST_TASKS] = list_tasks_fields,
	[A2A_MESSAGE_CANCEL_TASK] = cancel_fields,
	[A2A_MESSAGE_SUBSCRIBE] = subscribe_fields,
	[A2A_MESSAGE_PUSH_CONFIG] = push_config_fields,
	[A2A_MESSAGE_PUSH_GET] = push_one_fields,
	[A2A_MESSAGE_PUSH_LIST] = push_list_fields,
	[A2A_MESSAGE_PUSH_DELETE] = push_one_fields,
	[A2A_MESSAGE_EXTENDED_CARD] = extended_card_fields,
	[A2A_MESSAGE_MESSAGE] = message_fields,
	[A2A_MESSAGE_PART] = part_fields,
	[A2A_MESSAGE_CONFIGURATION] = configuration_fields,
	[A2A_MESSAGE_AUTHENTICATION] = authentication_fields,
	[A2A_MESSAGE_TASK] = task_fields,
	[A2A_MESSAGE_STATUS] = status_fields,
	[A2A_MESSAGE_ARTIFACT] = artifact_fields,
	[A2A_MESSAGE_STATUS_UPDATE] = status_update_fields,
	[A2A_MESSAGE_ARTIFACT_UPDATE] = artifact_update_fields,
	[A2A_MESSAGE_STREAM_RESPONSE] = stream_response_fields,
};

static const enum a2a_message requests[A2A_OPERATION_COUNT] = {
	[A2A_SEND] = A2A_MESSAGE_SEND,
	[A2A_STREAM] = A2A_MESSAGE_SEND,
	[A2A_GET_TASK] = A2A_MESSAGE_GET_TASK,
	[A2A_LIST_TASKS] = A2A_MESSAGE_LIST_TASKS,
	[A2A_CANCEL_TASK] = A2A_MESSAGE_CANCEL_TASK,
	[A2A_SUBSCRIBE] = A2A_MESSAGE_SUBSCRIBE,
	[A2A_PUSH_CREATE] = A2A_MESSAGE_PUSH_CONFIG,
	[A2A_PUSH_GET] = A2A_MESSAGE_PUSH_GET,
	[A2A_PUSH_LIST] = A2A_MESSAGE_PUSH_LIST,
	[A2A_PUSH_DELETE] = A2A_MESSAGE_PUSH_DELETE,
	[A2A_EXTENDED_CARD] = A2A_MESSAGE_EXTENDED_CARD,
};

/* By their numbers. */
static const char *const states[] = {
	"TASK_STATE_UNSPECIFIED", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING",
	"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED",
	"TASK_STATE_INPUT_REQUIRED", "TASK_STATE_REJECTED", "TASK_STATE_AUTH_REQUIRED",
};
static const char *const roles[] = { "ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT" };

enum a2a_message a2a_fields_of(enum a2a_operation operation)
{
	return requests[operation];
}

/* ---- one value ------------------------------------------------------------------- */

/* Where the reader is: the path of the field, for what it says of it. */
struct reader {
	struct a2a_fault *fault;
	struct buf path;
	bool is_wrong;
};

static json_t *field_refuse(struct reader *reader, const char *what)
{
	reader->is_wrong = true;
	a2a_fault_field(reader->fault, reader->path.len ? reader->path.data : "params", "%s", what);
	return NULL;
}

static json_t *field_read_string(struct reader *reader, const json_t *value)
{
	return json_is_string(value) ? json_incref((json_t *)value) :
	                               field_refuse(reader, "must be a string");
}

static json_t *field_read_id(struct reader *reader, const json_t *value)
{
	const struct span text = json_span(value);

	if (!json_is_string(value))
		return field_refuse(reader, "must be a string");
	if (text.len > LIMIT_A2A_ID_BYTES)
		return field_refuse(reader, "is longer than an id may be (256 bytes)");
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
			return field_refuse(reader, "has a control character");
	return json_incref((json_t *)value);
}

static json_t *field_read_bool(struct reader *reader, const json_t *value)
{
	return json_is_boolean(value) ? json_incref((json_t *)value) :
	                                field_refuse(reader, "must be true or false");
}

static json_t *field_read_int(struct reader *reader, const json_t *value)
{
	double number = json_is_number(value) ? json_number_value(value) : -1;
	const struct span text = json_span(value);

	if (json_is_string(value) && text.len && text.len <= 10 && span_digits(text) == text.len)
		number = strtod(text.data, NULL);
	if (!(number >= 0 && number <= INT32_MAX) || number != (double)(int32_t)number)
		return field_refuse(reader, "must be a whole number from 0 to 2147483647");
	return json_integer((int32_t)number);
}

/* The four bits or so that a character stands for; -1: none. */
static int field_base64_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c == '-' ? '+' : c == '_' ? '/' : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* As the protocol writes it: the plain alphabet, with padding. */
static json_t *field_read_bytes(struct reader *reader, const json_t *value)
{
	struct span text = json_span(value);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_A2A_BODY_BYTES + 4);
	const size_t whole = text.len;

	if (!json_is_string(value))
		return field_refuse(reader, "must be a string in base64");
	while (text.len && text.data[text.len - 1] == '=' && whole - text.len < 2)
		text.len--;
	if (text.len % 4 == 1 || (whole != text.len && whole % 4 != 0))
		return field_refuse(reader, "is no base64");
	for (size_t i = 0; i < text.len; i++) {
		if (field_base64_digit(text.data[i]) < 0)
			return field_refuse(reader, "is no base64");
		buf_char(&out, text.data[i] == '-' ? '+' : text.data[i] == '_' ? '/' :
		                                                                 text.data[i]);
	}
	while (out.len % 4)
		buf_char(&out, '=');
	return json_utf8(buf_view(&out));
}

static json_t *field_read_struct(struct reader *reader, const json_t *value)
{
	return json_is_object(value) ? json_incref((json_t *)value) :
	                               field_refuse(reader, "must be an object");
}

static json_t *field_read_value(struct reader *reader, const json_t *value)
{
	(void)reader;
	return json_incref((json_t *)value);
}

/* "2026-11-30T12:00:00Z", with up to nine digits of a second's fraction, or with an offset. */
static json_t *field_read_time(struct reader *reader, const json_t *value)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd";
	struct span text = json_span(value);
	size_t digits;

	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (i >= text.len || (form[i] == 'd' ? !ascii_is_digit(text.data[i]) :
		                                       text.data[i] != form[i]))
			return field_refuse(reader, "must be a time (2026-11-30T12:00:00Z)");
	text = span_skip(text, sizeof(form) - 1);
	if (text.len && text.data[0] == '.') {
		digits = span_digits(span_skip(text, 1));
		text = span_skip(text, digits && digits <= 9 ? digits + 1 : 0);
	}
	if (span_eq(text, SPAN("Z")) ||
	    (text.len == 6 && (text.data[0] == '+' || text.data[0] == '-') && text.data[3] == ':' &&
	     span_digits(span_skip(text, 1)) == 2 && span_digits(span_skip(text, 4)) == 2))
		return json_incref((json_t *)value);
	return field_refuse(reader, "must be a time (2026-11-30T12:00:00Z)");
}

/* An enum by name or number; *ret_zero: it is the value that stands for none. */
static json_t *field_read_enum(struct reader *reader, const json_t *value, const char *const *names,
                         size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (json_is_integer(value) ? json_integer_value(value) == (json_int_t)i :
		                             span_eq(json_span(value), span_str(names[i])))
			return i ? json_cstr(names[i]) : json_null();
	return field_refuse(reader, count == ARRAY_LEN(roles) ?
	                             "must be ROLE_USER or ROLE_AGENT" : "is no state of a task");
}

static json_t *field_read_state(struct reader *reader, const json_t *value)
{
	return field_read_enum(reader, value, states, ARRAY_LEN(states));
}

static json_t *field_read_role(struct reader *reader, const json_t *value)
{
	return field_read_enum(reader, value, roles, ARRAY_LEN(roles));
}

/* ---- messages -------------------------------------------------------------------- */

static json_t *field_read_message(struct reader *reader, enum a2a_message message,
                            const json_t *value);

static json_t *field_read_single(struct reader *reader, const struct field *field,
                                 const json_t *value)
{
	static json_t *(*const kinds[])(struct reader *reader, const json_t *value) = {
		[FIELD_STRING] = field_read_string, [FIELD_ID] = field_read_id,
		[FIELD_BOOL] = field_read_bool, [FIELD_INT] = field_read_int,
		[FIELD_BYTES] = field_read_bytes, [FIELD_STRUCT] = field_read_struct,
		[FIELD_VALUE] = field_read_value, [FIELD_TIME] = field_read_time,
		[FIELD_STATE] = field_read_state,
		[FIELD_ROLE] = field_read_role,
	};

	return field->kind == FIELD_MESSAGE ? field_read_message(reader, field->message, value) :
	                                      kinds[field->kind](reader, value);
}

static json_t *field_read_list(struct reader *reader, const struct field *field,
                               const json_t *value)
{
	const size_t before = reader->path.len;
	json_t *list, *one;

	if (!json_is_array(value))
		return field_refuse(reader, "must be an array");
	if (json_array_size(value) > LIMIT_A2A_PARTS)
		return field_refuse(reader, "has more than 256 elements");
	list = json_array();
	for (size_t i = 0; i < json_array_size(value); i++) {
		buf_printf(&reader->path, "[%zu]", i);
		one = field_read_single(reader, field, json_array_get(value, i));
		if (one)
			json_array_append_new(list, one);
		reader->path.len = before;
		reader->path.data[before] = '\0';
	}
	return list;
}

/* "taskId" is also "task_id". */
static bool field_is_named(const struct field *field, const char *name)
{
	const char *own = field->name;

	if (!strcmp(own, name))
		return true;
	for (; *own; own++, name++) {
		const bool upper = *own >= 'A' && *own <= 'Z';

		if (upper && *name++ != '_')
			return false;
		if (*name != (upper ? *own - 'A' + 'a' : *own))
			return false;
	}
	return !*name;
}

/* The member that a field is; NULL: it is absent. *ret_twice: in both spellings. */
static const json_t *field_value(const struct field *field, const json_t *object, bool *ret_twice)
{
	const json_t *found = NULL;
	const char *name;
	json_t *value;

	*ret_twice = false;
	json_object_foreach((json_t *)object, name, value) {
		if (!field_is_named(field, name) ||
		    (json_is_null(value) && field->kind != FIELD_VALUE))
			continue;
		*ret_twice = found != NULL;
		found = value;
	}
	return found;
}

/* Whether what was read counts as there: proto3 does not tell an empty text from none. */
static bool field_is_set(const struct field *field, const json_t *value)
{
	if (field->flags & REPEATED)
		return json_array_size(value) > 0;
	if (field->kind == FIELD_STRING || field->kind == FIELD_ID)
		return json_string_length(value) > 0;
	return field->kind == FIELD_VALUE ? value != NULL : value && !json_is_null(value);
}

/* The field's value as it was read, or NULL. */
static json_t *field_read_member(struct reader *reader, const struct field *field,
                                 const json_t *object)
{
	const bool was_wrong = reader->is_wrong;
	bool twice;
	const json_t *value = field_value(field, object, &twice);
	json_t *read = NULL;

	reader->is_wrong = false;
	if (twice)
		field_refuse(reader, "is there twice");
	else if (value)
		read = field->flags & REPEATED ? field_read_list(reader, field, value) :
		                                 field_read_single(reader, field, value);
	if (!reader->is_wrong && (field->flags & REQUIRED) && !field_is_set(field, read))
		field_refuse(reader, "is required");
	reader->is_wrong = reader->is_wrong || was_wrong;
	return read;
}

/* An absent text of a oneof is none, an empty one is. */
static void field_check_content(struct reader *reader, const struct field *fields, size_t contents)
{
	bool has_any = false;

	for (; fields->name && !has_any; fields++)
		has_any = fields->flags & CONTENT;
	if (has_any && contents != 1)
		field_refuse(reader, fields[-1].kind == FIELD_MESSAGE ?
			"must have one of task, message, statusUpdate and artifactUpdate" :
			"must have one of text, raw, url and data");
}

static json_t *field_read_message(struct reader *reader, enum a2a_message message,
                                  const json_t *value)
{
	const struct field *field = messages[message];
	const size_t before = reader->path.len;
	size_t contents = 0;
	json_t *result, *read;

	if (!json_is_object(value))
		return field_refuse(reader, "must be an object");
	result = json_object();
	for (; field->name; field++) {
		buf_printf(&reader->path, "%s%s", before ? "." : "", field->name);
		read = field_read_member(reader, field, value);
		if (read && (json_is_null(read) && field->kind != FIELD_VALUE))
			json_decref(mem_steal(&read));
		contents += read && (field->flags & CONTENT);
		if (read)
			json_object_set_new(result, field->name, read);
		reader->path.len = before;
		reader->path.data[before] = '\0';
	}
	field_check_content(reader, messages[message], contents);
	return result;
}

bool a2a_fields_read(enum a2a_message message, const json_t *value, json_t **ret,
                     struct a2a_fault *fault)
{
	struct reader reader = { .fault = fault, .path = BUF_INIT(4096) };
	json_t *result = field_read_message(&reader, message, value);

	buf_release(&reader.path);
	if (reader.is_wrong) {
		json_decref(result);
		return false;
	}
	*ret = result;
	return true;
}

json_t *a2a_fields_query(enum a2a_message message,
                         const char *(*value)(void *data, const char *name), void *data)
{
	json_t *result = json_object();

	for (const struct field *field = messages[message]; field->name; field++) {
		const char *text = field->kind == FIELD_MESSAGE || field->kind == FIELD_STRUCT ?
			NULL : value(data, field->name);

		if (!text || !*text)
			continue;
		json_object_set_new(result, field->name,
		                    field->kind != FIELD_BOOL ? json_text(span_str(text)) :
		                    !strcmp(text, "true") ? json_true() :
		                    !strcmp(text, "false") ? json_false() :
		                                             json_text(span_str(text)));
	}
	return result;
}
