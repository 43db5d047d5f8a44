/* SPDX-License-Identifier: Apache-2.0 */
#include "a2a/serve/sign.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/auth/jose.h"

enum { KEY_BYTES = 64 << 10 };

/* Integers that every reader of JSON has (RFC 8785, section 3.2.2.3). */
#define WHOLE_MAX ((json_int_t)1 << 53)

struct a2a_signer {
	struct jose_key *key;
	json_t *public;   /* owned; with kid */
};

/* ---- the canonical form ---------------------------------------------------------- */

static void canonical_text(struct buf *out, struct span text)
{
	static const char named[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
		                      ['\r'] = 'r' };

	buf_char(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		const unsigned char c = (unsigned char)text.data[i];

		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c < sizeof(named) && named[c])
			buf_printf(out, "\\%c", named[c]);
		else if (c < 0x20)
			buf_printf(out, "\\u%04x", c);
		else
			buf_char(out, (char)c);
	}
	buf_char(out, '"');
}

/* A name's characters as UTF-16 has them in order: those beyond 16 bits stand among its surrogates,
 * before U+E000. */
static uint32_t order_of(uint32_t code)
{
	return code > 0xffff ? 0xd800 * 0x10000u + (code - 0x10000) : code * 0x10000u;
}

static int canonical_order(const void *a, const void *b)
{
	struct span one = span_str(*(const char *const *)a);
	struct span two = span_str(*(const char *const *)b);
	struct utf8_char left, right;

	while (one.len && two.len) {
		utf8_next(&one, &left);
		utf8_next(&two, &right);
		if (left.code != right.code)
			return order_of(left.code) < order_of(right.code) ? -1 : 1;
	}
	return (one.len > 0) - (two.len > 0);
}

static bool canonical_value(const json_t *value, unsigned depth, struct buf *out);

static bool canonical_members(const json_t *object, unsigned depth, struct buf *out)
{
	const size_t count = json_object_size(object);
	_cleanup_free_ const char **names = mem_alloc(count + 1, sizeof(*names));
	const char *name;
	json_t *value;
	size_t at = 0;
	bool ok = true;

	json_object_foreach((json_t *)object, name, value)
		names[at++] = name;
	qsort(names, count, sizeof(*names), canonical_order);
	buf_char(out, '{');
	for (size_t i = 0; i < count && ok; i++) {
		buf_str(out, i ? "," : "");
		canonical_text(out, span_str(names[i]));
		buf_char(out, ':');
		ok = canonical_value(json_object_get(object, names[i]), depth + 1, out);
	}
	buf_char(out, '}');
	return ok;
}

static bool canonical_items(const json_t *array, unsigned depth, struct buf *out)
{
	bool ok = true;
	size_t i;
	json_t *item;

	buf_char(out, '[');
	json_array_foreach((json_t *)array, i, item) {
		buf_str(out, i ? "," : "");
		ok = ok && canonical_value(item, depth + 1, out);
	}
	buf_char(out, ']');
	return ok;
}

static bool canonical_value(const json_t *value, unsigned depth, struct buf *out)
{
	if (depth > LIMIT_A2A_DEPTH)
		return false;
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return canonical_members(value, depth, out);
	case JSON_ARRAY:
		return canonical_items(value, depth, out);
	case JSON_STRING:
		canonical_text(out, json_span(value));
		return true;
	case JSON_INTEGER:
		buf_printf(out, "%lld", (long long)json_integer_value(value));
		return json_integer_value(value) <= WHOLE_MAX &&
		       json_integer_value(value) >= -WHOLE_MAX;
	case JSON_REAL:
		return false;
	default:
		buf_str(out, json_is_true(value)  ? "true" :
		             json_is_false(value) ? "false" : "null");
		return true;
	}
}

static bool sign_canonical(const json_t *value, struct buf *out, struct err *err)
{
	if (!canonical_value(value, 0, out))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "What cannot be signed: a number that is no integer of at most 53 "
		               "bits, or nesting deeper than %d.", LIMIT_A2A_DEPTH);
	return !out->overflowed || err_set(err, ERR_TOO_LARGE, "It is too large to be signed.");
}

/* ---- the key --------------------------------------------------------------------- */

/* RFC 7638: the hash of the members that make the key, in canonical form. */
static bool set_thumbprint(json_t *jwk, struct err *err)
{
	static const char *const makes[] = { "crv", "e", "kty", "n", "x", "y" };
	_cleanup_buf_ struct buf text = BUF_INIT(KEY_BYTES);
	json_auto_t *members = json_object();
	_cleanup_free_ char *kid = NULL;
	struct sha256 sum;

	for (size_t i = 0; i < ARRAY_LEN(makes); i++)
		if (json_object_get(jwk, makes[i]))
			json_object_set(members, makes[i], json_object_get(jwk, makes[i]));
	if (!sign_canonical(members, &text, err))
		return false;
	sum = sha256_of(buf_view(&text));
	kid = auth_base64url(span_of((const char *)sum.bytes, sizeof(sum.bytes)));
	json_object_set_new(jwk, "kid", json_string(kid));
	return true;
}

bool a2a_signer_open(const char *file, struct a2a_signer **ret, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct a2a_signer *signer;

	if (!file_read(file, KEY_BYTES, &text, err))
		return false;
	if (!text.data)
		return err_set(err, ERR_FILE_NOT_FOUND,
		               "The key of the agent card, %s, is missing.", file);
	signer = mem_alloc(1, sizeof(*signer));
	if (jose_key_read(span_str(text.data), &signer->key, err)) {
		signer->public = jose_key_public(signer->key);
		if (signer->public && set_thumbprint(signer->public, err)) {
			*ret = signer;
			return true;
		}
		err_set(err, ERR_INTERNAL, "The public half of the agent card's key is missing.");
	}
	a2a_signer_free(signer);
	return false;
}

void a2a_signer_free(struct a2a_signer *signer)
{
	if (!signer)
		return;
	jose_key_free(signer->key);
	json_decref(signer->public);
	free(signer);
}

json_t *a2a_signer_keys(const struct a2a_signer *signer)
{
	return json_pack("{s:[O]}", "keys", signer->public);
}

/* ---- the signature --------------------------------------------------------------- */

static char *coded(const json_t *value, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_A2A_CARD_BYTES);

	return sign_canonical(value, &text, err) ? auth_base64url(buf_view(&text)) : NULL;
}

bool a2a_signer_sign(const struct a2a_signer *signer, json_t *card, const char *jku,
                     struct err *err)
{
	json_auto_t *header = json_pack("{s:s, s:s, s:O, s:s*}", "alg",
	                                jose_key_alg(signer->key), "typ", "JOSE", "kid",
	                                json_object_get(signer->public, "kid"), "jku", jku);
	_cleanup_free_ char *protected = coded(header, err), *payload = NULL, *signature = NULL;
	_cleanup_free_ char *statement = NULL;

	json_object_del(card, "signatures");
	payload = protected ? coded(card, err) : NULL;
	if (!payload)
		return false;
	statement = mem_printf("%s.%s", protected, payload);
	if (!jose_sign(signer->key, span_str(statement), &signature))
		return err_set(err, ERR_INTERNAL, "The agent card's key cannot sign.");
	json_object_set_new(card, "signatures", json_pack("[{s:s, s:s}]", "protected", protected,
	                                                  "signature", signature));
	return true;
}
