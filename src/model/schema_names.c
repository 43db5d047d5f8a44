/* SPDX-License-Identifier: Apache-2.0 */
/* Names of members that a provider does not take, and the same arguments under either name.
 *
 * Anthropic: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'" (its refusal; also
 * Bedrock's).  OpenAI's documents name no pattern, but gateways that speak its format hand schemas
 * on to those that do.  Gemini: names begin with a letter or '_' (ai.google.dev/api/caching,
 * "FunctionDeclaration"; "Schema").
 */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "data/json.h"
#include "model/tool_fit.h"

enum { KEY_BYTES = 64, KEY_KEPT = 57, KEY_HEX = 6, REACH_MAX = 256 };

/* ---- references -------------------------------------------------------------- */

/* One part of a JSON Pointer in a fragment (RFC 6901 section 6), decoded. */
static void decode_part(struct span part, struct buf *out)
{
	for (size_t i = 0; i < part.len; i++) {
		const char *at = part.data + i;
		const bool percent = *at == '%' && i + 2 < part.len && ascii_hex(at[1]) >= 0 &&
		                     ascii_hex(at[2]) >= 0;

		if (percent) {
			buf_char(out, (char)(ascii_hex(at[1]) << 4 | ascii_hex(at[2])));
			i += 2;
		} else if (*at == '~' && i + 1 < part.len && (at[1] == '0' || at[1] == '1')) {
			buf_char(out, at[1] == '0' ? '~' : '/');
			i++;
		} else {
			buf_char(out, *at);
		}
	}
	buf_char(out, '\0');
}

static const json_t *follow_fragment(const json_t *value, struct span rest)
{
	while (value && rest.len) {
		_cleanup_buf_ struct buf part = BUF_INIT(rest.len + 1);
		const char *slash = memchr(rest.data, '/', rest.len);
		size_t len = slash ? (size_t)(slash - rest.data) : rest.len;

		decode_part(span_head(rest, len), &part);
		if (json_is_array(value))
			value = json_array_get(value, (size_t)strtoul(part.data, NULL, 10));
		else
			value = json_object_get(value, part.data);
		rest = span_skip(rest, slash ? len + 1 : len);
	}
	return value;
}

static void collect_labels(const json_t *value, unsigned depth, json_t *labels)
{
	static const char *const members[] = { "$anchor", "$dynamicAnchor", "$id", "id" };
	const char *name;
	json_t *child;
	size_t i;

	if (!depth)
		return;
	for (i = 0; i < ARRAY_LEN(members); i++) {
		const char *label = json_string_value(json_object_get(value, members[i]));

		if (label && *label && !json_object_get(labels, label))
			json_object_set_nocheck(labels, label, (json_t *)value);
	}
	json_object_foreach((json_t *)value, name, child)
		collect_labels(child, depth - 1, labels);
	json_array_foreach(value, i, child)
		collect_labels(child, depth - 1, labels);
}

json_t *schema_names_labels(const json_t *root)
{
	json_t *labels = json_object();

	collect_labels(root, LIMIT_MODEL_SCHEMA_DEPTH, labels);
	return labels;
}

const json_t *schema_names_target(const json_t *root, const json_t *labels, struct span reference)
{
	static const char *const homes[] = { "$defs", "definitions" };
	_cleanup_free_ char *name = mem_dup(reference.data ? reference.data : "", reference.len);

	if (span_eq(reference, SPAN("#")))
		return root;
	if (span_starts(reference, SPAN("#/")))
		return follow_fragment(root, span_skip(reference, 2));
	for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
		const json_t *found = json_object_get(json_object_get(root, homes[i]), name);

		if (found)
			return found;
	}
	return json_object_get(labels, name[0] == '#' ? name + 1 : name);
}

/* ---- which names change ------------------------------------------------------ */

static bool is_member_char(char c, bool first, bool strict)
{
	return ascii_is_letter(c) || c == '_' ||
	       ((!first || !strict) && (ascii_is_digit(c) || c == '.' || c == '-'));
}

static bool key_fits(const char *key, bool strict)
{
	size_t len = strlen(key);

	for (size_t i = 0; i < len && i <= KEY_BYTES; i++)
		if (!is_member_char(key[i], i == 0, strict))
			return false;
	return len > 0 && len <= KEY_BYTES;
}

/* All names of members anywhere in the schema. */
static void collect_keys(const json_t *value, unsigned depth, json_t *keys)
{
	const char *name;
	json_t *child;
	size_t i;

	if (!depth)
		return;
	json_object_foreach(json_object_get(value, "properties"), name, child)
		json_object_set_new_nocheck(keys, name, json_true());
	json_object_foreach((json_t *)value, name, child)
		collect_keys(child, depth - 1, keys);
	json_array_foreach(value, i, child)
		collect_keys(child, depth - 1, keys);
}

/* The name with '_' for each character that is not taken. Owned. */
static char *plain_key(const char *key, bool strict)
{
	size_t len = strlen(key);
	char *plain = mem_dup(key, len < KEY_BYTES ? len : KEY_BYTES);

	for (char *c = plain; *c; c++)
		if (!is_member_char(*c, c == plain, strict))
			*c = '_';
	if (*plain)
		return plain;
	free(plain);
	return mem_strdup("_");
}

/* One that no other has. Owned. */
static char *own_key(const char *key, bool strict, const json_t *keys, const json_t *given)
{
	char *plain = plain_key(key, strict), *longer, hex[SHA256_HEX_SIZE];
	struct sha256 sum = sha256_of(span_str(key));

	if (strlen(key) <= KEY_BYTES && !json_object_get(keys, plain) &&
	    !json_object_get(given, plain))
		return plain;
	sha256_hex(&sum, hex);
	longer = mem_printf("%.*s_%.*s", KEY_KEPT, plain, KEY_HEX, hex);
	/* A member may be called just so. */
	while (json_object_get(keys, longer) || json_object_get(given, longer)) {
		sum = sha256_of(span_str(hex));
		sha256_hex(&sum, hex);
		free(longer);
		longer = mem_printf("%.*s_%.*s", KEY_KEPT, plain, KEY_HEX, hex);
	}
	free(plain);
	return longer;
}

json_t *schema_names(const char *format, const json_t *schema)
{
	const bool strict = strcmp(format, "gemini") == 0;
	json_auto_t *keys = json_object(), *sent = json_object(), *given = json_object();
	const char *key;
	json_t *value;

	collect_keys(schema, LIMIT_MODEL_SCHEMA_DEPTH, keys);
	json_object_foreach(keys, key, value) {
		_cleanup_free_ char *own = NULL;

		if (key_fits(key, strict))
			continue;
		own = own_key(key, strict, keys, given);
		json_object_set_new_nocheck(sent, key, json_string_nocheck(own));
		json_object_set_new_nocheck(given, own, json_string_nocheck(key));
	}
	return json_object_size(sent) ? json_pack("{s:O, s:O}", "sent", sent, "given", given) :
	                                NULL;
}

/* ---- arguments --------------------------------------------------------------- */

/* What a value may be a value of: a schema, and what it is put together from. */
struct schema_reach {
	const json_t *schemas[REACH_MAX];
	size_t count;
};

struct renaming {
	const json_t *root, *map; /* map: {FROM: TO} */
	const json_t *labels;     /* of root: schema_names_labels */
	bool back;                /* the schemas have the names TO */
};

static void reach_add(const struct renaming *how, const json_t *schema, struct schema_reach *ret)
{
	static const char *const lists[] = { "allOf", "anyOf", "oneOf" };
	static const char *const singles[] = { "if", "then", "else" };
	static const char *const references[] = { "$ref", "$dynamicRef" };
	size_t from = ret->count, i;

	if (json_is_object(schema) && ret->count < REACH_MAX)
		ret->schemas[ret->count++] = schema;
	for (; from < ret->count && ret->count < REACH_MAX; from++) {
		const json_t *one = ret->schemas[from], *more[REACH_MAX];
		size_t count = 0, j;
		const char *name;
		json_t *child;

		for (i = 0; i < ARRAY_LEN(lists); i++)
			json_array_foreach(json_object_get(one, lists[i]), j, child)
				if (count < REACH_MAX)
					more[count++] = child;
		for (i = 0; i < ARRAY_LEN(singles) && count < REACH_MAX; i++)
			more[count++] = json_object_get(one, singles[i]);
		for (i = 0; i < ARRAY_LEN(references) && count < REACH_MAX; i++)
			more[count++] = schema_names_target(
				how->root, how->labels,
				json_span(json_object_get(one, references[i])));
		json_object_foreach(json_object_get(one, "dependentSchemas"), name, child)
			if (count < REACH_MAX)
				more[count++] = child;
		for (i = 0; i < count; i++) {
			bool known = !json_is_object(more[i]) || ret->count == REACH_MAX;

			for (j = 0; j < ret->count && !known; j++)
				known = ret->schemas[j] == more[i];
			if (!known)
				ret->schemas[ret->count++] = more[i];
		}
	}
}

static bool reach_has(const struct schema_reach *reach, const char *key)
{
	for (size_t i = 0; i < reach->count; i++)
		if (json_object_get(json_object_get(reach->schemas[i], "properties"), key))
			return true;
	return false;
}

/* What is below: the member `key`, or (NULL) the elements. */
static void reach_below(const struct renaming *how, const struct schema_reach *reach,
                        const char *key, struct schema_reach *ret)
{
	static const char *const lists[] = { "prefixItems", "items" };
	json_t *child;
	size_t j;

	ret->count = 0;
	for (size_t i = 0; i < reach->count; i++) {
		const json_t *schema = reach->schemas[i];
		const json_t *member = key ? json_object_get(json_object_get(schema, "properties"),
		                                             key) : NULL;

		if (member)
			reach_add(how, member, ret);
		else if (key)
			reach_add(how, json_object_get(schema, "additionalProperties"), ret);
		for (size_t k = 0; !key && k < ARRAY_LEN(lists); k++) {
			reach_add(how, json_object_get(schema, lists[k]), ret);
			json_array_foreach(json_object_get(schema, lists[k]), j, child)
				reach_add(how, child, ret);
		}
	}
}

static json_t *rename_value(const struct renaming *how, const struct schema_reach *reach,
                            const json_t *value, unsigned depth)
{
	_cleanup_free_ struct schema_reach *below = NULL;
	const char *key;
	json_t *copy, *child;
	size_t i;

	if (!depth || !reach->count || !(json_is_object(value) || json_is_array(value)))
		return json_incref((json_t *)value);
	below = mem_alloc(1, sizeof(*below));
	copy = json_is_object(value) ? json_object() : json_array();
	if (json_is_array(value))
		reach_below(how, reach, NULL, below);
	json_array_foreach(value, i, child)
		json_array_append_new(copy, rename_value(how, below, child, depth - 1));
	json_object_foreach((json_t *)value, key, child) {
		const char *to = json_string_value(json_object_get(how->map, key));

		if (!to || !reach_has(reach, how->back ? to : key) ||
		    (how->back && reach_has(reach, key)) || json_object_get(value, to))
			to = key;
		reach_below(how, reach, how->back ? to : key, below);
		json_object_set_new_nocheck(copy, to, rename_value(how, below, child, depth - 1));
	}
	return copy;
}

json_t *schema_names_apply(const json_t *names, const char *way, const json_t *schema,
                           const json_t *arguments)
{
	_cleanup_free_ struct schema_reach *reach = NULL;
	json_auto_t *labels = NULL;
	struct renaming how;

	if (!names)
		return json_incref((json_t *)arguments);
	reach = mem_alloc(1, sizeof(*reach));
	labels = schema_names_labels(schema);
	how = (struct renaming){ .root = schema, .map = json_object_get(names, way),
		                 .labels = labels, .back = strcmp(way, "given") == 0 };
	reach_add(&how, schema, reach);
	return rename_value(&how, reach, arguments, LIMIT_MODEL_SCHEMA_DEPTH);
}
