/* SPDX-License-Identifier: Apache-2.0 */
/* Flat forms: their fields, and whether a value fits. */
#include "data/form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "data/json.h"

static struct span field_text(const json_t *field, const char *member)
{
	return json_span(json_object_get(field, member));
}

static bool field_is(const json_t *field, const char *type)
{
	return span_eq(field_text(field, "type"), span_str(type));
}

/* What a person knows the field by. */
static struct span field_label(const json_t *field)
{
	const struct span title = field_text(field, "title");

	return title.len ? title : field_text(field, "name");
}

/* "Age: must be ...": with the field's label before it. */
static bool field_fails(const json_t *field, struct err *err, const char *why)
{
	const struct span label = field_label(field);

	return err_set(err, ERR_INVALID_ARGUMENT, "%.*s: %s", (int)label.len, label.data, why);
}

/* ---- reading a schema ---------------------------------------------------------- */

/* A text that is only shown. */
static void copy_shown(json_t *field, const char *member, const json_t *text, size_t most)
{
	json_auto_t *head = json_text(utf8_head(json_span(text), most));

	if (json_string_length(head))
		json_object_set_new(field, member, json_show_unseen(head, NULL));
}

/* One that is sent as it is, so it must be what it looks like. */
static bool is_exact(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
			return false;
	return text.len <= FORM_NAME_BYTES && unseen_count(text) == 0;
}

static bool option_add(json_t *options, const json_t *value, const json_t *label, struct err *err)
{
	json_t *option;

	if (!json_is_string(value) || !is_exact(json_span(value)))
		return err_set(err, ERR_INVALID_ARGUMENT, "An option has no value, or one with "
		               "characters that cannot be shown.");
	if (json_array_size(options) >= FORM_OPTIONS_MAX)
		return err_set(err, ERR_TOO_LARGE, "A field has more than %d options.",
		               FORM_OPTIONS_MAX);
	option = json_pack("{s:O}", "value", value);
	copy_shown(option, "label", json_span(label).len ? label : value, FORM_NAME_BYTES);
	json_array_append_new(options, option);
	return true;
}

/* From `enum` with its `enumNames`, or from `oneOf` or `anyOf`. *ret: a new array; NULL: none. */
static bool read_options(const json_t *schema, json_t **ret, struct err *err)
{
	const json_t *values = json_object_get(schema, "enum");
	const json_t *titled = json_object_get(schema, "oneOf") ?: json_object_get(schema, "anyOf");
	const json_t *names = json_object_get(schema, "enumNames");
	json_auto_t *options = json_array();
	size_t i;
	json_t *one;

	if (!values && !titled)
		return true;
	json_array_foreach(values, i, one)
		if (!option_add(options, one, json_array_get(names, i), err))
			return false;
	json_array_foreach(values ? NULL : titled, i, one)
		if (!option_add(options, json_object_get(one, "const"),
		                json_object_get(one, "title"), err))
			return false;
	if (!json_array_size(options))
		return err_set(err, ERR_INVALID_ARGUMENT, "A field has no options.");
	*ret = json_incref(options);
	return true;
}

static const char *field_type(const json_t *schema, bool options)
{
	static const char *const types[] = { "string", "integer", "number", "boolean" };
	const struct span type = json_span(json_object_get(schema, "type"));

	if (span_eq(type, SPAN("array")))
		return options ? "choices" : NULL;
	if (options)
		return !type.len || span_eq(type, SPAN("string")) ? "choice" : NULL;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (span_eq(type, span_str(types[i])))
			return types[i];
	return NULL;
}

static bool field_read(const char *name, const json_t *schema, bool required, json_t *fields,
                       struct err *err)
{
	const json_t *items = json_object_get(schema, "items");
	json_t *suggested = json_object_get(schema, "default");
	json_auto_t *field = json_object(), *options = NULL;
	struct err ignored = ERR_INIT;
	const char *type;

	if (!*name || !is_exact(span_str(name)))
		return err_set(err, ERR_INVALID_ARGUMENT, "A field has no name, a long one, or one "
		               "with characters that cannot be shown.");
	if (!read_options(items ? items : schema, &options, err))
		return false;
	type = field_type(schema, options);
	if (!type)
		return err_set(err, ERR_INVALID_ARGUMENT, "The field \"%s\" is not of a type that "
		               "a form has.", name);
	json_object_set_new(field, "name", json_string(name));
	json_object_set_new(field, "type", json_string(type));
	json_object_set_new(field, "required", json_boolean(required));
	copy_shown(field, "title", json_object_get(schema, "title"), FORM_NAME_BYTES);
	copy_shown(field, "description", json_object_get(schema, "description"), FORM_TEXT_BYTES);
	static const char *const limits[] = { "minLength", "maxLength", "minimum",
		                              "maximum", "minItems", "maxItems" };

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		json_t *limit = json_object_get(schema, limits[i]);

		if (json_is_number(limit))
			json_object_set(field, limits[i], limit);
	}
	copy_shown(field, "format", json_object_get(schema, "format"), 40);
	if (options)
		json_object_set(field, "options", options);
	if (json_is_string(suggested) && !is_exact(json_span(suggested)))
		suggested = NULL;
	if (suggested && form_check_value(field, suggested, &ignored))
		json_object_set(field, "default", suggested);
	json_array_append(fields, field);
	return true;
}

bool form_read(const json_t *schema, json_t **ret_fields, struct err *err)
{
	json_t *properties = json_object_get(schema, "properties"), *property;
	const json_t *required = json_object_get(schema, "required");
	json_auto_t *fields = json_array();
	const char *name;

	if (!json_is_object(properties))
		return err_set(err, ERR_INVALID_ARGUMENT, "requestedSchema has no properties.");
	if (json_object_size(properties) > FORM_FIELDS_MAX)
		return err_set(err, ERR_TOO_LARGE, "The form has more than %d fields.",
		               FORM_FIELDS_MAX);
	json_object_foreach(properties, name, property)
		if (!field_read(name, property, json_lists(required, span_str(name)), fields, err))
			return false;
	*ret_fields = json_incref(fields);
	return true;
}

/* ---- formats ------------------------------------------------------------------- */

static bool is_email(struct span text)
{
	const char *at = memchr(text.data, '@', text.len);
	const size_t before = at ? (size_t)(at - text.data) : 0;

	if (!before || before + 1 >= text.len || memchr(at + 1, '@', text.len - before - 1))
		return false;
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] <= ' ' || text.data[i] == 0x7f)
			return false;
	return at[1] != '.' && text.data[text.len - 1] != '.';
}

/* A scheme, a colon and more, without spaces (RFC 3986). */
static bool is_uri(struct span text)
{
	size_t end = 0;

	while (end < text.len && (ascii_is_alnum(text.data[end]) ||
	                          (text.data[end] && strchr("+-.", text.data[end]))))
		end++;
	if (!end || ascii_is_digit(text.data[0]) || end + 1 >= text.len || text.data[end] != ':')
		return false;
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] <= ' ' || (unsigned char)text.data[i] >= 0x7f)
			return false;
	return true;
}

/* `count` digits at `at`; -1: there are not. */
static int digits_at(struct span text, size_t at, size_t count)
{
	int value = 0;

	if (at + count > text.len)
		return -1;
	for (size_t i = at; i < at + count; i++) {
		if (!ascii_is_digit(text.data[i]))
			return -1;
		value = value * 10 + (text.data[i] - '0');
	}
	return value;
}

/* full-date of RFC 3339. */
static bool form_is_date(struct span text)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	const int year = digits_at(text, 0, 4), month = digits_at(text, 5, 2);
	const int day = digits_at(text, 8, 2);
	const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return text.len == 10 && text.data[4] == '-' && text.data[7] == '-' && year >= 0 &&
	       month >= 1 && month <= 12 && day >= 1 &&
	       day <= days[month - 1] + (month == 2 && leap);
}

/* date-time of RFC 3339: a date, "T", a time, a zone. */
static bool is_date_time(struct span text)
{
	const int hour = digits_at(text, 11, 2), minute = digits_at(text, 14, 2);
	const int second = digits_at(text, 17, 2);
	size_t at = 19;

	if (text.len < 20 || !form_is_date(span_head(text, 10)) || (text.data[10] | 0x20) != 't' ||
	    text.data[13] != ':' || text.data[16] != ':' || hour < 0 || hour > 23 || minute < 0 ||
	    minute > 59 || second < 0 || second > 60)
		return false;
	if (text.data[at] == '.') {
		const size_t from = ++at;

		while (at < text.len && ascii_is_digit(text.data[at]))
			at++;
		if (at == from)
			return false;
	}
	if (at + 1 == text.len)
		return (text.data[at] | 0x20) == 'z';
	return at + 6 == text.len && (text.data[at] == '+' || text.data[at] == '-') &&
	       text.data[at + 3] == ':' && digits_at(text, at + 1, 2) >= 0 &&
	       digits_at(text, at + 1, 2) < 24 && digits_at(text, at + 4, 2) >= 0 &&
	       digits_at(text, at + 4, 2) < 60;
}

static const struct {
	const char *name;
	bool (*fits)(struct span text);
	const char *why;
} formats[] = {
	{ "email", is_email, "must be an e-mail address, as in name@example.org." },
	{ "uri", is_uri, "must be an address with its scheme, as in https://example.org/." },
	{ "date", form_is_date, "must be a date, as in 2026-11-27." },
	{ "date-time", is_date_time, "must be a date and a time, as in 2026-11-27T09:30:00Z." },
};

/* ---- values -------------------------------------------------------------------- */

static bool field_takes_string(const json_t *field, const json_t *value, struct err *err)
{
	const json_t *least = json_object_get(field, "minLength");
	const json_t *most = json_object_get(field, "maxLength");
	const struct span text = json_span(value), format = field_text(field, "format");
	struct span rest = text;
	struct utf8_char one;
	size_t length = 0;

	if (!json_is_string(value))
		return field_fails(field, err, "must be a text.");
	if (text.len > FORM_VALUE_BYTES)
		return field_fails(field, err, "is too long.");
	while (utf8_next(&rest, &one))
		length++;
	if (least && (double)length < json_number_value(least))
		return field_fails(field, err, "is shorter than it may be.");
	if (most && (double)length > json_number_value(most))
		return field_fails(field, err, "is longer than it may be.");
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (span_eq(format, span_str(formats[i].name)) && !formats[i].fits(text))
			return field_fails(field, err, formats[i].why);
	return true;
}

static bool field_takes_number(const json_t *field, const json_t *value, struct err *err)
{
	const json_t *least = json_object_get(field, "minimum");
	const json_t *most = json_object_get(field, "maximum");
	const double number = json_number_value(value);

	if (!json_is_number(value))
		return field_fails(field, err, "must be a number.");
	if (field_is(field, "integer") && !json_is_integer(value) && number != floor(number))
		return field_fails(field, err, "must be a whole number.");
	if (least && number < json_number_value(least))
		return field_fails(field, err, "is smaller than it may be.");
	if (most && number > json_number_value(most))
		return field_fails(field, err, "is larger than it may be.");
	return true;
}

static bool has_option(const json_t *field, const json_t *value)
{
	size_t i;
	json_t *option;

	json_array_foreach(json_object_get(field, "options"), i, option)
		if (json_equal(json_object_get(option, "value"), value))
			return true;
	return false;
}

static bool field_takes_choices(const json_t *field, const json_t *value, struct err *err)
{
	const json_t *least = json_object_get(field, "minItems");
	const json_t *most = json_object_get(field, "maxItems");
	const size_t count = json_array_size(value);
	size_t i;
	json_t *one;

	if (!json_is_array(value))
		return field_fails(field, err, "must be a list.");
	json_array_foreach(value, i, one)
		if (!has_option(field, one))
			return field_fails(field, err, "has something that is no option of it.");
	if (least && (double)count < json_number_value(least))
		return field_fails(field, err, "needs more of its options.");
	if ((most && (double)count > json_number_value(most)) ||
	    count > json_array_size(json_object_get(field, "options")))
		return field_fails(field, err, "takes fewer of its options.");
	return true;
}

bool form_check_value(const json_t *field, const json_t *value, struct err *err)
{
	if (!value)
		return !json_is_true(json_object_get(field, "required")) ||
		       field_fails(field, err, "needs an answer.");
	if (field_is(field, "string"))
		return field_takes_string(field, value, err);
	if (field_is(field, "integer") || field_is(field, "number"))
		return field_takes_number(field, value, err);
	if (field_is(field, "boolean"))
		return json_is_boolean(value) || field_fails(field, err, "must be yes or no.");
	if (field_is(field, "choice"))
		return has_option(field, value) ||
		       field_fails(field, err, "must be one of its options.");
	return field_takes_choices(field, value, err);
}

json_t *form_check(const json_t *fields, const json_t *content, struct err *err)
{
	json_auto_t *checked = json_object();
	size_t i;
	json_t *field;

	json_array_foreach(fields, i, field) {
		const char *name = json_string_value(json_object_get(field, "name"));
		json_t *value = json_object_get(content, name);

		if (!form_check_value(field, value, err))
			return NULL;
		if (value)
			json_object_set(checked, name, value);
	}
	return json_incref(checked);
}

static json_t *number_parse(struct span typed)
{
	json_auto_t *value = NULL;
	struct err ignored = ERR_INIT;

	return json_parse(typed, &value, &ignored) && json_is_number(value) ? mem_steal(&value) :
	                                                                     NULL;
}

bool form_parse(const json_t *field, struct span typed, json_t **ret, struct err *err)
{
	json_auto_t *value = NULL;

	typed = span_trim(typed);
	if (typed.len > FORM_VALUE_BYTES)
		return field_fails(field, err, "is too long.");
	if (!typed.len)
		value = NULL;
	else if (field_is(field, "string"))
		value = json_text(typed);
	else if (!(value = number_parse(typed)))
		return field_fails(field, err, field_is(field, "integer") ?
		                   "must be a whole number." : "must be a number.");
	if (!form_check_value(field, value, err))
		return false;
	*ret = json_incref(value);
	return true;
}

bool form_requires_secret(const json_t *field)
{
	static const char *const words[] = {
		"password", "passwd", "passphrase", "pass word", "secret", "token", "api key",
		"api_key", "api-key", "apikey", "private key", "private_key", "privatekey",
		"access key", "access_key", "accesskey", "credential", "credit card", "pin code",
		"one-time code", "otp",
	};
	const char *name = json_string_value(json_object_get(field, "name"));
	const char *title = json_string_value(json_object_get(field, "title"));
	const char *about = json_string_value(json_object_get(field, "description"));

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasestr(name ?: "", words[i]) || strcasestr(title ?: "", words[i]) ||
		    strcasestr(about ?: "", words[i]))
			return true;
	return false;
}
