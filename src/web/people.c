/* SPDX-License-Identifier: Apache-2.0 */
/* Who may come in.  A link's token works once and gives a browser two secrets: a cookie, which
 * browsers send to every port of the host, and a key, which only the page's origin can read. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/text.h"
#include "base/unseen.h"
#include "data/json.h"
#include "web/private.h"

enum {
	TOKEN_BYTES = 16,          /* 128 bits */
	SECRET_BYTES = 32,
	ID_BYTES = 8,
	LINK_SECONDS = 24 * 3600,  /* of a link that is not used */
	MINUTES_DEFAULT = 8 * 60,
	MINUTES_MAX = 30 * 24 * 60,
	NAME_BYTES_MAX = 64,
	COOKIES_MAX = 64,          /* looked at in one request */
};

/* ---- roles ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	unsigned roles;
} role_rows[] = { /* each has those before it */
	{ "watch", FRONT_WATCH },
	{ "comment", FRONT_COMMENT },
	{ "approve", FRONT_COMMENT | FRONT_APPROVE },
	{ "drive", FRONT_COMMENT | FRONT_APPROVE | FRONT_DRIVE },
};

const char *web_role_name(unsigned roles)
{
	for (size_t i = 0; i < ARRAY_LEN(role_rows); i++)
		if (role_rows[i].roles == roles)
			return role_rows[i].name;
	return "";
}

bool web_role_parse(const char *word, unsigned *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(role_rows); i++)
		if (!strcmp(role_rows[i].name, word)) {
			*ret = role_rows[i].roles;
			return true;
		}
	return false;
}

/* ---- people ----------------------------------------------------------------------- */

static struct web_person *person_new(struct web *web, const char *name, unsigned roles)
{
	struct web_person *person = mem_alloc(1, sizeof(*person)), **link = &web->people;
	unsigned char id[ID_BYTES];

	person->web = web;
	person->name = mem_strdup(name);
	person->roles = roles;
	person->allowance = LIMIT_WEB_BURST;
	person->refilled_ms = clock_monotonic_ms();
	person->groups = json_array();
	random_distinct(id, sizeof(id));
	random_hex_print(id, sizeof(id), person->id);
	while (*link)
		link = &(*link)->next;
	*link = person;
	return person;
}

static void links_drop(struct web *web, const struct web_person *person)
{
	struct web_link **at = &web->links;
	const uint64_t now = web->now_ms();

	while (*at) {
		struct web_link *link = *at;

		if (link->person != person && link->until_ms > now) {
			at = &link->next;
			continue;
		}
		*at = link->next;
		free(link);
	}
}

static void person_free(struct web_person *person)
{
	links_drop(person->web, person);
	loop_timer_stop(person->timer);
	while (person->logins) {
		struct web_login *login = person->logins;

		person->logins = login->next;
		free(login);
	}
	json_decref(person->groups);
	free(person->name);
	free(person);
}

void web_people_begin(struct web *web)
{
	struct web_person *owner = person_new(web, "owner's page", FRONT_ALL);

	owner->is_owner = true;
}

void web_people_end(struct web *web)
{
	while (web->people) {
		struct web_person *person = web->people;

		web->people = person->next;
		person_free(person);
	}
}

struct web_person *web_person_find(struct web *web, const char *which)
{
	for (struct web_person *person = web->people->next; person; person = person->next)
		if (!strcmp(person->id, which) || !strcmp(person->name, which))
			return person;
	return NULL;
}

void web_person_remove(struct web_person *person)
{
	struct web_person **link = &person->web->people;

	while (*link != person)
		link = &(*link)->next;
	*link = person->next;
	person->web->leave(person);
	person_free(person);
}

static void person_expired(void *data)
{
	web_person_remove(data);
}

bool web_person_is_over(const struct web_person *person)
{
	return person->until_ms && person->until_ms <= person->web->now_ms();
}

/* The loop's timers stand still while the machine sleeps. */
static void people_expire(struct web *web)
{
	struct web_person *next;

	for (struct web_person *person = web->people; person; person = next) {
		next = person->next;
		if (web_person_is_over(person))
			web_person_remove(person);
	}
}

/* A name stands in lists, events and on terminals. */
static bool person_name_is_fine(const char *name)
{
	struct span rest = span_str(name);
	struct utf8_char c;

	if (!rest.len || rest.len > NAME_BYTES_MAX || span_trim(rest).len != rest.len ||
	    unseen_count(rest))
		return false;
	while (utf8_next(&rest, &c))
		if (c.bad || c.code < ' ' || (c.code >= 0x7f && c.code < 0xa0) || c.code == '/')
			return false;
	return true;
}

static bool check_invitation(struct web *web, const struct web_invitation *invitation,
                             unsigned *ret_roles, struct err *err)
{
	size_t count = 0;

	if (!person_name_is_fine(invitation->name))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A name is 1 to %d bytes of plain text without \"/\".",
		               NAME_BYTES_MAX);
	if (!web_role_parse(invitation->role, ret_roles))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%.40s\" is no role: watch, comment, approve and drive are.",
		               invitation->role);
	if (invitation->minutes > MINUTES_MAX)
		return err_set(err, ERR_INVALID_ARGUMENT, "A link is good for %d minutes at most.",
		               MINUTES_MAX);
	for (const struct web_person *person = web->people; person; person = person->next) {
		count++;
		if (!strcmp(person->name, invitation->name))
			return err_set(err, ERR_FILE_EXISTS,
			               "%s already has a link. Revoke it first, or choose another "
			               "name.", invitation->name);
	}
	return count < LIMIT_WEB_PEOPLE ||
	       err_set(err, ERR_LIMIT_REACHED, "%zu people have links. Revoke some first.",
	               count - 1);
}

struct web_person *web_person_add(struct web *web, const struct web_invitation *invitation,
                                  json_t *groups, struct err *err)
{
	const uint64_t minutes = invitation->minutes ? invitation->minutes : MINUTES_DEFAULT;
	struct web_person *person;
	unsigned roles = FRONT_WATCH;

	people_expire(web);
	if (!check_invitation(web, invitation, &roles, err))
		return NULL;
	person = person_new(web, invitation->name, roles);
	json_array_extend(person->groups, groups);
	person->expires = (int64_t)time(NULL) + (int64_t)minutes * 60;
	person->until_ms = web->now_ms() + minutes * 60 * 1000;
	person->timer = loop_timer_start(web->loop, minutes * 60 * 1000, 0, person_expired,
	                                 person);
	web->join(person);
	return person;
}

static json_t *expiry_json(int64_t seconds)
{
	const time_t moment = (time_t)seconds;
	char text[32];
	struct tm parts;

	gmtime_r(&moment, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	return json_string(text);
}

json_t *web_person_json(const struct web_person *person)
{
	return json_pack("{s:s, s:o, s:s, s:O, s:o, s:b, s:b}", "id", person->id, "name",
	                 json_text(span_str(person->name)), "role", web_role_name(person->roles),
	                 "groups", person->groups, "expires", expiry_json(person->expires), "used",
	                 person->is_used, "connected", person->streams > 0);
}

bool web_person_spend(struct web_person *person)
{
	const uint64_t now = clock_monotonic_ms();

	person->allowance += (double)(now - person->refilled_ms) * LIMIT_WEB_RATE / 1000;
	if (person->allowance > LIMIT_WEB_BURST)
		person->allowance = LIMIT_WEB_BURST;
	person->refilled_ms = now;
	if (person->allowance < 1)
		return false;
	person->allowance--;
	return true;
}

/* ---- links ------------------------------------------------------------------------ */

/* Without the oldest, where there are too many. */
static void links_bound(struct web *web)
{
	size_t count = 0;

	for (struct web_link **at = &web->links; *at; at = &(*at)->next)
		if (++count >= LIMIT_WEB_LINKS + LIMIT_WEB_PEOPLE) {
			free(*at);
			*at = NULL;
			return;
		}
}

char *web_link_make(struct web *web, struct web_person *person, struct err *err)
{
	const struct web_options *options = &web->options;
	char token[WEB_SECRET_SIZE];
	struct web_link *link;

	if (!random_hex(token, TOKEN_BYTES, err))
		return NULL;
	links_drop(web, NULL);
	link = mem_alloc(1, sizeof(*link));
	*link = (struct web_link){ .next = web->links, .person = person,
		                   .token = sha256_of(span_str(token)),
		                   .until_ms = web->now_ms() + LINK_SECONDS * 1000ULL };
	web->links = link;
	links_bound(web);
	if (options->socket)
		return mem_printf("http://localhost/?token=%s", token);
	return mem_printf("%s://%s:%u/?token=%s", options->tls ? "https" : "http",
	                  web_name_of_links(web), http_server_port(web->server), token);
}

/* Of one person's browsers the oldest goes. */
static void logins_bound(struct web_person *person)
{
	const size_t most = person->is_owner ? LIMIT_WEB_LOGINS : 1;
	struct web_login **at = &person->logins;

	for (size_t i = 0; *at; i++) {
		struct web_login *login = *at;

		if (i < most) {
			at = &login->next;
			continue;
		}
		*at = login->next;
		free(login);
	}
}

static bool login_add(struct web_person *person, char cookie[WEB_SECRET_SIZE],
                      char key[WEB_SECRET_SIZE], struct err *err)
{
	struct web_login *login;

	if (!random_hex(cookie, SECRET_BYTES, err) || !random_hex(key, SECRET_BYTES, err))
		return false;
	login = mem_alloc(1, sizeof(*login));
	*login = (struct web_login){ .next = person->logins, .person = person,
		                     .cookie = sha256_of(span_str(cookie)),
		                     .key = sha256_of(span_str(key)) };
	person->logins = login;
	person->is_used = true;
	logins_bound(person);
	return true;
}

bool web_link_use(struct web *web, const char *token, char cookie[WEB_SECRET_SIZE],
                  char key[WEB_SECRET_SIZE], struct err *err)
{
	const struct sha256 hash = sha256_of(span_str(token));

	people_expire(web);
	links_drop(web, NULL);
	for (struct web_link **at = &web->links; *at; at = &(*at)->next) {
		struct web_link *link = *at;

		if (!sha256_eq(&link->token, &hash))
			continue;
		if (!login_add(link->person, cookie, key, err))
			return false;
		*at = link->next;
		free(link);
		return true;
	}
	return err_set(err, ERR_PERMISSION_DENIED, "This link does not work any more.");
}

/* ---- browsers --------------------------------------------------------------------- */

char *web_cookie_name(const struct web *web)
{
	return mem_printf("%shasp-%u", web->options.tls ? "__Host-" : "",
	                  web->options.socket ? 0 : http_server_port(web->server));
}

bool web_cookie_each(struct span header, struct span name, bool (*found)(void *data,
                     struct span value), void *data)
{
	for (unsigned i = 0; header.len && i < COOKIES_MAX; i++) {
		const char *end = memchr(header.data, ';', header.len);
		const size_t len = end ? (size_t)(end - header.data) : header.len;
		struct span pair = span_trim(span_head(header, len));

		header = span_skip(header, end ? len + 1 : len);
		/* Section 4.2.1 of RFC 6265: a name, "=", a value, as the browser got them. */
		if (span_starts(pair, name) && pair.len > name.len && pair.data[name.len] == '=' &&
		    found(data, span_skip(pair, name.len + 1)))
			return true;
	}
	return false;
}

struct login_search {
	struct web *web;
	struct web_login *login;
};

static bool login_by_cookie(void *data, struct span value)
{
	struct login_search *search = data;
	struct sha256 hash;

	if (value.len != 2 * SECRET_BYTES)
		return false;
	hash = sha256_of(value);
	for (struct web_person *person = search->web->people; person; person = person->next)
		for (struct web_login *login = person->logins; login; login = login->next)
			if (sha256_eq(&login->cookie, &hash)) {
				search->login = login;
				return true;
			}
	return false;
}

struct web_login *web_login_of(struct web *web, const char *cookies)
{
	_cleanup_free_ char *name = web_cookie_name(web);
	struct login_search search = { .web = web };

	people_expire(web);
	if (cookies)
		web_cookie_each(span_str(cookies), span_str(name), login_by_cookie, &search);
	return search.login;
}

bool web_login_has_key(const struct web_login *login, const char *key)
{
	const struct sha256 hash = sha256_of(span_str(key ? key : ""));

	return sha256_eq(&login->key, &hash);
}
