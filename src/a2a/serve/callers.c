/* SPDX-License-Identifier: Apache-2.0 */
#include "a2a/serve/callers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "a2a/serve/token.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "data/json.h"

enum { CHALLENGE_BYTES = 4096, NAME_BYTES = 128, CALLERS_MAX = 256 };

#define TOKEN_CALLER "token"

enum proof_kind {
	PROOF_NONE, PROOF_KEY, PROOF_BEARER, PROOF_OAUTH, PROOF_CERTIFICATE, PROOF_COUNT,
};

struct known_caller {
	struct a2a_caller *caller; /* a reference */
	enum proof_kind kind;
	struct sha256 hash;        /* of KEY, BEARER; of a certificate's fingerprint */
	const json_t *proof;       /* of OAUTH, CERTIFICATE: the setting's member */
	struct a2a_keys *keys;     /* of OAUTH: its issuer's; shared by those with the same */
};

struct a2a_callers {
	struct a2a_server *server;
	json_t *setting;           /* owned: a copy */
	struct known_caller *all;  /* owned */
	size_t count;
	struct a2a_keys **keys;    /* owned: of each issuer and address once */
	size_t keys_count;
	char *origin;              /* owned; or NULL */
	bool is_open;              /* who has no proof is the caller "token" */
};

/* ---- one caller ---- */

struct a2a_caller *a2a_caller_ref(struct a2a_caller *caller)
{
	caller->references++;
	return caller;
}

void a2a_caller_unref(struct a2a_caller *caller)
{
	if (!caller || --caller->references)
		return;
	free(caller->name);
	json_decref(caller->workspaces);
	free(caller);
}

static struct a2a_caller *caller_new(const char *name)
{
	struct a2a_caller *caller = mem_alloc(1, sizeof(*caller));

	*caller = (struct a2a_caller){ .references = 1, .name = mem_strdup(name) };
	return caller;
}

/* ---- the setting ----------------------------------------------------------------- */

static bool wrong(const char *name, const char *member, const char *what, struct err *err)
{
	return err_set(err, ERR_INVALID_ARGUMENT, "hasp.a2a.callers.%.*s%s%s %s.", NAME_BYTES, name,
	               *member ? "." : "", member, what);
}

enum shape { SHAPE_TEXT, SHAPE_TEXTS, SHAPE_HASH, SHAPE_BOOLEAN, SHAPE_COUNT, SHAPE_OBJECT };

static const struct caller_member {
	const char *proof, *name; /* proof NULL: of the caller itself */
	enum shape shape;
	const char *must;
} caller_members[] = {
	{ NULL, "key", SHAPE_HASH, "must be the SHA-256 of an API key, in hexadecimal" },
	{ NULL, "bearer", SHAPE_HASH, "must be the SHA-256 of a token, in hexadecimal" },
	{ NULL, "oauth", SHAPE_OBJECT, "must be an object" },
	{ NULL, "certificate", SHAPE_OBJECT, "must be an object" },
	{ NULL, "workspaces", SHAPE_TEXTS, "must be a list of absolute paths" },
	{ NULL, "confirms", SHAPE_BOOLEAN, "must be true or false" },
	{ NULL, "tasks", SHAPE_COUNT, "must be a number from 1 to 1000" },
	{ "oauth", "issuer", SHAPE_TEXT, "must be the issuer's URL" },
	{ "oauth", "audience", SHAPE_TEXT, "must be what tokens for this server have as \"aud\"" },
	{ "oauth", "jwks", SHAPE_TEXT, "must be a URL" },
	{ "oauth", "subject", SHAPE_TEXT, "must be what the token has as \"sub\"" },
	{ "oauth", "client", SHAPE_TEXT, "must be what the token has as \"client_id\"" },
	{ "oauth", "scopes", SHAPE_TEXTS, "must be a list of scopes" },
	{ "certificate", "subject", SHAPE_TEXT, "must be a name as RFC 4514 writes it" },
	{ "certificate", "fingerprint", SHAPE_HASH, "must be the SHA-256 of the certificate" },
};

static bool member_has_shape(const json_t *value, enum shape shape)
{
	struct sha256 hash;
	size_t i;
	json_t *text;

	switch (shape) {
	case SHAPE_TEXT:
		return json_string_length(value) > 0;
	case SHAPE_HASH:
		return json_is_string(value) && sha256_parse(json_span(value), &hash);
	case SHAPE_BOOLEAN:
		return json_is_boolean(value);
	case SHAPE_COUNT:
		return json_is_integer(value) && json_integer_value(value) >= 1 &&
		       json_integer_value(value) <= 1000;
	case SHAPE_OBJECT:
		return json_is_object(value);
	case SHAPE_TEXTS:
		json_array_foreach(value, i, text)
			if (!json_string_length(text))
				return false;
		return json_array_size(value) > 0;
	}
	return false;
}

/* What a name that is not known would have restricted cannot be known. */
static bool check_caller_members(const char *name, const char *proof, const json_t *members,
                          struct err *err)
{
	const char *member;
	json_t *value;

	json_object_foreach((json_t *)members, member, value) {
		const struct caller_member *row = NULL;
		_cleanup_free_ char *shown = mem_printf("%s%s%.64s", proof ? proof : "",
		                                        proof ? "." : "", member);

		for (size_t i = 0; i < ARRAY_LEN(caller_members); i++)
			if (!strcmp(caller_members[i].name, member) &&
			    !strcmp(caller_members[i].proof ? caller_members[i].proof : "",
			            proof ? proof : ""))
				row = &caller_members[i];
		if (!row)
			return wrong(name, shown, "is not known", err);
		if (!member_has_shape(value, row->shape))
			return wrong(name, shown, row->must, err);
	}
	return true;
}

static const char *const proof_names[PROOF_COUNT] = {
	[PROOF_KEY] = "key", [PROOF_BEARER] = "bearer", [PROOF_OAUTH] = "oauth",
	[PROOF_CERTIFICATE] = "certificate",
};

static const char *proof_text(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* The keys of its issuer, which those with the same address share. */
static bool find_keys(struct a2a_callers *callers, struct known_caller *known, struct err *err)
{
	const char *issuer = proof_text(known->proof, "issuer");
	const char *jwks = proof_text(known->proof, "jwks");

	for (size_t i = 0; i < callers->count; i++) {
		const struct known_caller *other = &callers->all[i];

		if (other->keys && !strcmp(proof_text(other->proof, "issuer"), issuer) &&
		    span_eq(json_span(json_object_get(other->proof, "jwks")), span_str(jwks))) {
			known->keys = other->keys;
			return true;
		}
	}
	if (!a2a_keys_new(callers->server->loop, callers->server->pool, issuer, jwks, &known->keys,
	                  err))
		return false;
	callers->keys[callers->keys_count++] = known->keys;
	return true;
}

static bool read_proof(struct a2a_callers *callers, struct known_caller *known,
                       const json_t *members, struct err *err)
{
	const char *name = known->caller->name;
	const json_t *print;

	for (enum proof_kind kind = PROOF_KEY; kind < PROOF_COUNT; kind++) {
		if (!json_object_get(members, proof_names[kind]))
			continue;
		if (known->kind)
			return wrong(name, "", "has more than one proof", err);
		known->kind = kind;
		known->proof = json_object_get(members, proof_names[kind]);
	}
	if (!strcmp(name, TOKEN_CALLER))
		return !known->kind || wrong(name, proof_names[known->kind],
		                             "is not used: this caller proves itself by the token "
		                             "of --token-file", err);
	if (!known->kind)
		return wrong(name, "", "needs one of key, bearer, oauth and certificate", err);
	if (json_is_string(known->proof))
		return sha256_parse(json_span(known->proof), &known->hash);
	if (!check_caller_members(name, proof_names[known->kind], known->proof, err))
		return false;
	if (known->kind == PROOF_OAUTH)
		return proof_text(known->proof, "issuer") &&
		       proof_text(known->proof, "audience") ?
		       find_keys(callers, known, err) :
		       wrong(name, "oauth", "needs issuer and audience", err);
	print = json_object_get(known->proof, "fingerprint");
	return !(print ? !sha256_parse(json_span(print), &known->hash) :
	                 !proof_text(known->proof, "subject")) ||
	       wrong(name, "certificate", "needs subject or fingerprint", err);
}

static bool read_folders(struct a2a_caller *caller, const json_t *folders, struct err *err)
{
	size_t i;
	json_t *folder;

	caller->workspaces = folders ? json_array() : NULL;
	json_array_foreach(folders, i, folder) {
		_cleanup_free_ char *real = NULL;

		if (json_string_value(folder)[0] != '/')
			return wrong(caller->name, "workspaces", "must be a list of absolute paths",
			             err);
		/* One that does not exist is none of the server's, and stays as it is. */
		real = realpath(json_string_value(folder), NULL);
		json_array_append_new(caller->workspaces,
		                      real ? json_path_bytes(real) : json_incref(folder));
	}
	return true;
}

static bool caller_add(struct a2a_callers *callers, const char *name, const json_t *members,
                       struct err *err)
{
	struct known_caller *known = &callers->all[callers->count];
	struct a2a_caller *caller = caller_new(name);
	bool ok;

	*known = (struct known_caller){ .caller = caller };
	ok = *name && strlen(name) <= NAME_BYTES ? json_is_object(members) :
	                                           wrong(name, "", "has no usable name", err);
	ok = ok && check_caller_members(name, NULL, members, err) &&
	     read_proof(callers, known, members, err) &&
	     read_folders(caller, json_object_get(members, "workspaces"), err);
	caller->confirms = json_is_true(json_object_get(members, "confirms"));
	caller->tasks_at_once =
		(unsigned)json_integer_value(json_object_get(members, "tasks"));
	callers->count++;
	return ok;
}

static struct known_caller *known_find(const struct a2a_callers *callers, const char *name)
{
	for (size_t i = 0; i < callers->count; i++)
		if (!strcmp(callers->all[i].caller->name, name))
			return &callers->all[i];
	return NULL;
}

/* The caller of the token, whether the setting has it or not. */
static void add_token_caller(struct a2a_callers *callers, const char *token)
{
	struct known_caller *known = known_find(callers, TOKEN_CALLER);

	callers->is_open = !token;
	if (!known) {
		known = &callers->all[callers->count++];
		*known = (struct known_caller){ .caller = caller_new(TOKEN_CALLER) };
	}
	if (token) {
		known->kind = PROOF_BEARER;
		known->hash = sha256_of(span_str(token));
	}
}

bool a2a_callers_open(struct a2a_server *server, const json_t *setting, const char *token,
                      struct a2a_callers **ret, struct err *err)
{
	const size_t most = json_object_size(setting) + 1;
	struct a2a_callers *callers = mem_alloc(1, sizeof(*callers));
	const char *name;
	json_t *members;
	bool ok = most <= CALLERS_MAX ||
	          err_set(err, ERR_INVALID_ARGUMENT, "hasp.a2a.callers names more than %d callers.",
	                  CALLERS_MAX - 1);

	*callers = (struct a2a_callers){ .server = server,
		                         .setting = json_deep_copy((json_t *)setting),
		                         .all = mem_alloc(most, sizeof(*callers->all)),
		                         .keys = mem_alloc(most, sizeof(*callers->keys)) };
	json_object_foreach(callers->setting, name, members)
		ok = ok && caller_add(callers, name, members, err);
	if (!ok) {
		a2a_callers_free(callers);
		return false;
	}
	add_token_caller(callers, token);
	*ret = callers;
	return true;
}

void a2a_callers_free(struct a2a_callers *callers)
{
	if (!callers)
		return;
	for (size_t i = 0; i < callers->keys_count; i++)
		a2a_keys_free(callers->keys[i]);
	for (size_t i = 0; i < callers->count; i++)
		a2a_caller_unref(callers->all[i].caller);
	free(callers->all);
	free(callers->keys);
	free(callers->origin);
	json_decref(callers->setting);
	free(callers);
}

struct a2a_caller *a2a_callers_find(const struct a2a_callers *callers, const char *name)
{
	struct known_caller *known = known_find(callers, name);

	return known ? a2a_caller_ref(known->caller) : NULL;
}

void a2a_callers_set_origin(struct a2a_callers *callers, const char *origin)
{
	free(callers->origin);
	callers->origin = mem_strdup(origin);
}

/* ---- who it is ------------------------------------------------------------------- */

/* One request while it is being identified. */
struct identifying {
	struct a2a_callers *callers;
	struct a2a_token token;      /* of OAUTH; else empty */
	void (*found)(void *data, struct a2a_caller *caller, struct a2a_fault *fault,
	              const char *challenge);
	void *data;
	size_t next;                 /* of callers->all: whose keys are looked at */
	size_t fetched;              /* one behind the caller whose keys were keys_arrived for it */
};

static void put_quoted(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, "%s%s=\"", out->len > strlen("Bearer ") ? ", " : "", name);
	for (const char *c = text; *c; c++)
		if (*c >= 0x20 && *c < 0x7f && *c != '"' && *c != '\\')
			buf_char(out, *c);
	buf_char(out, '"');
}

static bool has_issuer(const struct a2a_callers *callers)
{
	return callers->keys_count > 0;
}

/* Refuses it. `error`: RFC 6750's word; NULL: it has no proof at all. */
static void identify_refuse(const struct identifying *asked, enum a2a_fault_kind kind,
                            const char *error, const json_t *scopes, const char *sentence)
{
	const struct a2a_callers *callers = asked->callers;
	_cleanup_buf_ struct buf challenge = BUF_INIT(CHALLENGE_BYTES), words = BUF_INIT(1024);
	struct a2a_fault fault = { 0 };
	size_t i;
	json_t *scope;

	buf_str(&challenge, "Bearer ");
	put_quoted(&challenge, "realm", "hasp");
	if (callers->origin && has_issuer(callers)) {
		_cleanup_free_ char *where = mem_printf("%s" A2A_RESOURCE_PATH, callers->origin);

		put_quoted(&challenge, "resource_metadata", where);
	}
	if (error) {
		put_quoted(&challenge, "error", error);
		put_quoted(&challenge, "error_description", sentence);
	}
	json_array_foreach(scopes, i, scope)
		buf_printf(&words, "%s%s", i ? " " : "", json_string_value(scope));
	if (words.len && !words.overflowed)
		put_quoted(&challenge, "scope", buf_view(&words).data);
	a2a_fault_set(&fault, kind, "%s", sentence);
	asked->found(asked->data, NULL, &fault, challenge.overflowed ? "Bearer" : challenge.data);
	json_decref(fault.fields);
}

static void identify_accept(const struct identifying *asked, const struct known_caller *known)
{
	asked->found(asked->data, a2a_caller_ref(known->caller), NULL, NULL);
}

static void identifying_free(struct identifying *asked)
{
	a2a_token_release(&asked->token);
	free(asked);
}

/* ---- by a text: all hashes are compared, and each to its end ---- */

static bool same_hash(const struct sha256 *a, const struct sha256 *b)
{
	unsigned differs = 0;

	for (size_t i = 0; i < SHA256_SIZE; i++)
		differs |= (unsigned)(a->bytes[i] ^ b->bytes[i]);
	return differs == 0;
}

static const struct known_caller *find_by_hash(const struct a2a_callers *callers,
                                               enum proof_kind kind, const struct sha256 *hash)
{
	const struct known_caller *found = NULL;

	for (size_t i = 0; i < callers->count; i++)
		if (same_hash(&callers->all[i].hash, hash) && callers->all[i].kind == kind)
			found = &callers->all[i];
	return found;
}

/* ---- by a token of an issuer ---- */

static bool claim_is(const struct a2a_token *token, const char *claim, const char *wanted)
{
	const char *said = a2a_token_claim(token, claim);

	return said && !strcmp(said, wanted);
}

/* Whether it is this caller's, apart from scopes. */
static bool is_of_caller(const struct a2a_token *token, const json_t *proof)
{
	const char *subject = proof_text(proof, "subject"), *client = proof_text(proof, "client");

	return (!subject || claim_is(token, "sub", subject)) &&
	       (!client || claim_is(token, "client_id", client) ||
	        (!a2a_token_claim(token, "client_id") && claim_is(token, "azp", client)));
}

static void keys_arrived(void *data);

/* Whether it waits for the issuer's keys, which are missing or old, or do not have this one. */
static bool waits_for_keys(struct identifying *asked, const struct known_caller *known,
                           const json_t *key)
{
	if ((key && !a2a_keys_are_stale(known->keys)) || asked->fetched > asked->next)
		return false;
	asked->fetched = asked->next + 1;
	return a2a_keys_fetch(known->keys, keys_arrived, asked);
}

/* Looks at one caller after the other, and frees it, unless it waits.  The first whose token it is
 * counts; of others the last reason is given. */
static void identify_by_token(struct identifying *asked)
{
	struct a2a_callers *callers = asked->callers;
	struct err why = ERR_INIT;
	const json_t *scopes = NULL;

	err_set(&why, ERR_AUTHENTICATION_FAILED, "The token's issuer is not known here.");
	for (; asked->next < callers->count; asked->next++) {
		const struct known_caller *known = &callers->all[asked->next];
		const json_t *key;

		if (known->kind != PROOF_OAUTH ||
		    !claim_is(&asked->token, "iss", proof_text(known->proof, "issuer")))
			continue;
		key = a2a_token_key(&asked->token, a2a_keys_now(known->keys));
		if (waits_for_keys(asked, known, key))
			return;
		if (!key) {
			err_set(&why, ERR_AUTHENTICATION_FAILED,
			        "The issuer's keys have none that signed the token.");
			continue;
		}
		if (!a2a_token_verify(&asked->token, key, &why) ||
		    !a2a_token_holds(&asked->token, proof_text(known->proof, "issuer"),
		                     proof_text(known->proof, "audience"), time(NULL), &why))
			continue;
		if (!is_of_caller(&asked->token, known->proof)) {
			err_set(&why, ERR_AUTHENTICATION_FAILED,
			        "The token is of no caller that this server knows.");
			continue;
		}
		scopes = json_object_get(known->proof, "scopes");
		if (a2a_token_has_scopes(&asked->token, scopes)) {
			identify_accept(asked, known);
			identifying_free(asked);
			return;
		}
		err_set(&why, ERR_PERMISSION_DENIED, "The token does not have the scopes.");
	}
	identify_refuse(asked, scopes ? A2A_FAULT_FORBIDDEN : A2A_FAULT_UNAUTHENTICATED,
	       scopes ? "insufficient_scope" : "invalid_token", scopes, why.message);
	identifying_free(asked);
}

static void keys_arrived(void *data)
{
	identify_by_token(data);
}

static void begin_token(struct identifying *on_stack, struct span text)
{
	struct identifying *asked = mem_alloc(1, sizeof(*asked));
	struct err err = ERR_INIT;

	*asked = *on_stack;
	if (a2a_token_read(text, &asked->token, &err)) {
		identify_by_token(asked);
		return;
	}
	identify_refuse(asked, A2A_FAULT_UNAUTHENTICATED, "invalid_token", NULL, err.message);
	free(asked);
}

/* ---- by a certificate ---- */

static const struct known_caller *find_by_certificate(const struct a2a_callers *callers,
                                                      const struct http_certificate *certificate)
{
	const struct sha256 hash = sha256_of(certificate->der);

	for (size_t i = 0; i < callers->count; i++) {
		const struct known_caller *known = &callers->all[i];
		const char *subject = proof_text(known->proof, "subject");

		if (known->kind != PROOF_CERTIFICATE)
			continue;
		if (json_object_get(known->proof, "fingerprint") &&
		    !same_hash(&known->hash, &hash))
			continue;
		if (!subject || !strcmp(subject, certificate->subject))
			return known;
	}
	return NULL;
}

static bool knows(const struct a2a_callers *callers, enum proof_kind kind)
{
	for (size_t i = 0; i < callers->count; i++)
		if (callers->all[i].kind == kind)
			return true;
	return false;
}

/* ---- a request ---- */

static void identify_by_text(struct identifying *asked, enum proof_kind kind, const char *text)
{
	const struct sha256 hash = sha256_of(span_str(text));
	const struct known_caller *known = find_by_hash(asked->callers, kind, &hash);

	if (known)
		identify_accept(asked, known);
	else if (kind == PROOF_BEARER && has_issuer(asked->callers))
		begin_token(asked, span_str(text));
	else
		identify_refuse(asked, A2A_FAULT_UNAUTHENTICATED, "invalid_token", NULL,
		       kind == PROOF_KEY ? "The API key is not known." :
		                           "The token is not known.");
}

void a2a_callers_identify(struct a2a_callers *callers, struct http_request *request,
                          void (*found)(void *data, struct a2a_caller *caller,
                                        struct a2a_fault *fault, const char *challenge),
                          void *data)
{
	struct identifying asked = { .callers = callers, .found = found, .data = data };
	const char *said = http_request_header(request, "Authorization");
	const char *key = http_request_header(request, "X-API-Key");
	const struct known_caller *known = NULL;
	struct http_certificate certificate;

	if (said && key) {
		identify_refuse(&asked, A2A_FAULT_UNAUTHENTICATED, "invalid_request", NULL,
		       "Two proofs are one too many: send a token or an API key.");
	} else if (said && !strncasecmp(said, "Bearer ", 7)) {
		identify_by_text(&asked, PROOF_BEARER, said + 7 + strspn(said + 7, " "));
	} else if (key) {
		identify_by_text(&asked, PROOF_KEY, key);
	} else if (said) {
		identify_refuse(&asked, A2A_FAULT_UNAUTHENTICATED, "invalid_request", NULL,
		       "Only Bearer tokens are accepted in Authorization.");
	} else {
		if (knows(callers, PROOF_CERTIFICATE) &&
		    http_request_certificate(request, &certificate)) {
			known = find_by_certificate(callers, &certificate);
			http_certificate_release(&certificate);
		}
		if (!known && callers->is_open)
			known = known_find(callers, TOKEN_CALLER);
		if (known)
			identify_accept(&asked, known);
		else
			identify_refuse(&asked, A2A_FAULT_UNAUTHENTICATED, NULL, NULL,
			       "This server answers only callers that prove who they are.");
	}
}

/* ---- what others may know of it -------------------------------------------------- */

static void require(json_t *card, const char *name, json_t *scheme)
{
	json_object_set_new(json_object_get(card, "securitySchemes"), name, scheme);
	json_array_append_new(json_object_get(card, "securityRequirements"),
	                      json_pack("{s:{s:{s:[]}}}", "schemes", name, "list"));
}

void a2a_callers_describe(const struct a2a_callers *callers, json_t *card)
{
	json_object_set_new(card, "securitySchemes", json_object());
	json_object_set_new(card, "securityRequirements", json_array());
	if (knows(callers, PROOF_BEARER))
		require(card, "bearer", json_pack("{s:{s:s}}", "httpAuthSecurityScheme", "scheme",
		                                  "Bearer"));
	if (knows(callers, PROOF_KEY))
		require(card, "apiKey", json_pack("{s:{s:s, s:s}}", "apiKeySecurityScheme",
		                                  "location", "header", "name", "X-API-Key"));
	if (knows(callers, PROOF_CERTIFICATE))
		require(card, "mtls", json_pack("{s:{}}", "mtlsSecurityScheme"));
	for (size_t i = 0; i < callers->count; i++) {
		const struct known_caller *known = &callers->all[i];
		const char *issuer = proof_text(known->proof, "issuer");
		size_t len = issuer ? strlen(issuer) : 0;

		if (known->kind != PROOF_OAUTH ||
		    json_object_get(json_object_get(card, "securitySchemes"), issuer))
			continue;
		len -= len && issuer[len - 1] == '/';
		require(card, issuer, json_pack(
			"{s:{s:s#+}}", "openIdConnectSecurityScheme", "openIdConnectUrl", issuer,
			(int)len, "/.well-known/openid-configuration"));
	}
	if (callers->is_open || !json_array_size(
		json_object_get(card, "securityRequirements"))) {
		json_object_del(card, "securityRequirements");
		if (!json_object_size(json_object_get(card, "securitySchemes")))
			json_object_del(card, "securitySchemes");
	}
}

json_t *a2a_callers_resource(const struct a2a_callers *callers, const char *origin)
{
	json_t *issuers = json_array(), *scopes = json_array(), *scope;
	size_t k;

	for (size_t i = 0; i < callers->count; i++) {
		const struct known_caller *known = &callers->all[i];

		if (known->kind != PROOF_OAUTH)
			continue;
		if (!json_lists(issuers, span_str(proof_text(known->proof, "issuer"))))
			json_array_append(issuers, json_object_get(known->proof, "issuer"));
		json_array_foreach(json_object_get(known->proof, "scopes"), k, scope)
			if (!json_lists(scopes, json_span(scope)))
				json_array_append(scopes, scope);
	}
	if (!json_array_size(issuers)) {
		json_decref(issuers);
		json_decref(scopes);
		return NULL;
	}
	return json_pack("{s:s, s:o, s:o, s:[s]}", "resource", origin, "authorization_servers",
	                 issuers, "scopes_supported", scopes, "bearer_methods_supported",
	                 "header");
}
