/* SPDX-License-Identifier: Apache-2.0 */
#include "a2a/serve/token.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "mcp/auth/jose.h"

enum { TOKEN_DEPTH = 16 };

/* ---- read ---- */

/* A part's JSON object; NULL: it is none. */
static json_t *token_part(struct span text)
{
	size_t len;
	_cleanup_free_ char *bytes = auth_base64url_read(text, &len);
	struct err ignored = ERR_INIT;
	json_t *value = NULL;

	/* Of a name that stands there twice, another reader may take the other. */
	if (!bytes || !json_parse_depth(span_of(bytes, len), TOKEN_DEPTH, &value, &ignored))
		return NULL;
	if (json_is_object(value))
		return value;
	json_decref(value);
	return NULL;
}

static bool token_split(const char *text, struct span parts[3])
{
	for (size_t i = 0; i < 3; i++) {
		const size_t len = strcspn(text, ".");

		parts[i] = span_of(text, len);
		if (!len || (text[len] == '.') != (i < 2))
			return false;
		text += len + 1;
	}
	return true;
}

bool a2a_token_read(struct span text, struct a2a_token *ret, struct err *err)
{
	struct a2a_token token = { 0 };
	struct span parts[3];
	const char *alg;

	if (text.len > A2A_TOKEN_BYTES)
		return err_set(err, ERR_AUTHENTICATION_FAILED, "The token is too long.");
	token.text = mem_dup(text.data, text.len);
	if (token_split(token.text, parts)) {
		token.header = token_part(parts[0]);
		token.claims = token_part(parts[1]);
		token.signature = auth_base64url_read(parts[2], &token.signature_len);
		token.statement = span_of(token.text, parts[0].len + 1 + parts[1].len);
	}
	alg = json_string_value(json_object_get(token.header, "alg"));
	if (token.header && token.claims && token.signature && jose_alg_known(alg) &&
	    !json_object_get(token.header, "crit")) {
		*ret = token;
		return true;
	}
	err_set(err, ERR_AUTHENTICATION_FAILED,
	        token.header && token.claims && token.signature ?
	        "The token is signed in a way that is not accepted: RS256, ES256 and EdDSA are." :
	        "The token is neither one of this server's nor a JSON Web Token.");
	a2a_token_release(&token);
	return false;
}

void a2a_token_release(struct a2a_token *token)
{
	json_decref(token->header);
	json_decref(token->claims);
	free(token->text);
	free(token->signature);
	*token = (struct a2a_token){ 0 };
}

const char *a2a_token_claim(const struct a2a_token *token, const char *name)
{
	return json_string_value(json_object_get(token->claims, name));
}

/* ---- who signed it ---- */

const json_t *a2a_token_key(const struct a2a_token *token, const json_t *keys)
{
	const char *alg = json_string_value(json_object_get(token->header, "alg"));
	const json_t *kid = json_object_get(token->header, "kid"), *found = NULL;
	size_t i;
	json_t *key;

	json_array_foreach(keys, i, key) {
		if (!jose_key_fits(key, alg) ||
		    (kid && !json_equal(kid, json_object_get(key, "kid"))))
			continue;
		if (found)
			return NULL; /* which one is not said */
		found = key;
	}
	return found;
}

bool a2a_token_verify(const struct a2a_token *token, const json_t *key, struct err *err)
{
	const char *alg = json_string_value(json_object_get(token->header, "alg"));

	return jose_verify(key, alg, token->statement,
	                   span_of(token->signature, token->signature_len), err);
}

/* ---- what it says ---- */

static bool lists_or_is(const json_t *value, const char *wanted)
{
	return json_is_array(value) ? json_lists(value, span_str(wanted)) :
	                              json_is_string(value) &&
	                              !strcmp(json_string_value(value), wanted);
}

/* A claim that is a time. `missing`: what it is if there is none; NaN-like values are none. */
static bool claim_time(const struct a2a_token *token, const char *name, double missing,
                       double *ret)
{
	const json_t *value = json_object_get(token->claims, name);

	*ret = value ? json_number_value(value) : missing;
	return !value || json_is_number(value);
}

bool a2a_token_holds(const struct a2a_token *token, const char *issuer, const char *audience,
                     time_t now, struct err *err)
{
	const double at = (double)now, skew = A2A_TOKEN_SKEW_S;
	const char *said = a2a_token_claim(token, "iss"), *wrong = NULL;
	double end, start, made;

	if (!said || strcmp(said, issuer) != 0)
		wrong = "The token is another issuer's.";
	else if (!lists_or_is(json_object_get(token->claims, "aud"), audience))
		wrong = "The token is for another audience.";
	else if (!claim_time(token, "exp", 0, &end) || !claim_time(token, "nbf", at, &start) ||
	         !claim_time(token, "iat", at, &made))
		wrong = "A time in the token is none.";
	else if (!(at < end + skew))
		wrong = "The token has expired.";
	else if (!(at >= start - skew) || !(at >= made - skew))
		wrong = "The token is not valid yet.";
	return !wrong || err_set(err, ERR_AUTHENTICATION_FAILED, "%s", wrong);
}

static bool scope_has_word(const char *text, const char *word)
{
	const size_t len = strlen(word);

	for (const char *at = text; at; at = strchr(at, ' ')) {
		at += strspn(at, " ");
		if (!strncmp(at, word, len) && (at[len] == ' ' || !at[len]))
			return true;
	}
	return false;
}

bool a2a_token_has_scopes(const struct a2a_token *token, const json_t *scopes)
{
	/* "scope" is RFC 9068's; "scp" is what some issuers have in its place. */
	const char *const names[] = { "scope", "scp" };
	size_t i;
	json_t *scope;

	json_array_foreach(scopes, i, scope) {
		const char *word = json_string_value(scope);
		bool has = false;

		for (size_t k = 0; k < ARRAY_LEN(names); k++) {
			const json_t *said = json_object_get(token->claims, names[k]);
			const char *text = json_string_value(said);

			has |= text ? scope_has_word(text, word) :
			              json_lists(said, span_str(word));
		}
		if (!has)
			return false;
	}
	return true;
}
