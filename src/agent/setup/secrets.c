/* SPDX-License-Identifier: Apache-2.0 */
/* Values of settings as they may be shown. */
#include <string.h>

#include "agent/setup/prepare.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "worker/environment.h"

#define MASK "***"

/* Shorter values occur by chance. */
enum { SECRET_MIN = 6 };

static bool setting_is_secret(const char *name, const char *text)
{
	_cleanup_free_ char *variable = mem_printf("%s=%s", name, text);

	/* keyVariable says where a key is, not what it is. */
	return *text && !span_ends(span_str(name), SPAN("Variable")) &&
	       environment_is_secret(variable);
}

/* The text with every occurrence of `secret` masked. */
static json_t *mask_occurrences(json_t *string, const char *secret)
{
	const char *text = json_string_value(string), *found = strstr(text, secret);
	_cleanup_buf_ struct buf out = BUF_INIT(2 * LIMIT_SETTINGS_BYTES);

	if (!found)
		return string;
	for (; found; text = found + strlen(secret), found = strstr(text, secret)) {
		buf_append(&out, text, (size_t)(found - text));
		buf_str(&out, MASK);
	}
	buf_str(&out, text);
	json_decref(string);
	return json_text(buf_view(&out));
}

static json_t *mask_string(const char *name, const json_t *value, char *const *variables)
{
	json_t *string = json_text(json_span(value));

	if (setting_is_secret(name, json_string_value(string))) {
		json_decref(string);
		return json_string(MASK);
	}
	for (size_t i = 0; variables && variables[i]; i++) {
		const char *sign = strchr(variables[i], '=');

		if (sign && strlen(sign + 1) >= SECRET_MIN && environment_is_secret(variables[i]))
			string = mask_occurrences(string, sign + 1);
	}
	return string;
}

/* Recursion is bounded by the depth to which files of settings are read. */
static json_t *mask_by_name(const char *name, const json_t *value, char *const *variables)
{
	json_t *result, *member;
	const char *below;
	size_t i;

	if (json_is_string(value))
		return mask_string(name, value, variables);
	if (json_is_array(value)) {
		result = json_array();
		json_array_foreach(value, i, member)
			json_array_append_new(result, mask_by_name(name, member, variables));
		return result;
	}
	if (!json_is_object(value))
		return json_incref((json_t *)value);
	result = json_object();
	json_object_foreach((json_t *)value, below, member)
		json_object_set_new(result, below, mask_by_name(below, member, variables));
	return result;
}

json_t *setup_mask_secrets(const char *path, const json_t *value, char *const *variables)
{
	const char *dot = strrchr(path, '.');

	return mask_by_name(dot ? dot + 1 : path, value, variables);
}
