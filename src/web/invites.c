/* SPDX-License-Identifier: Apache-2.0 */
/* People who are invited: their links made, listed and ended. */
#include <stdlib.h>

#include "base/mem.h"
#include "data/json.h"
#include "web/private.h"

enum { GROUPS_MAX = 32, GROUP_BYTES_MAX = 64 };

/* Groups are names; false: *err. */
static bool invite_check_groups(const json_t *groups, struct err *err)
{
	const json_t *group;
	size_t i;

	if (groups && (!json_is_array(groups) || json_array_size(groups) > GROUPS_MAX))
		return err_set(err, ERR_INVALID_ARGUMENT, "\"groups\" is a list of up to %d names.",
		               GROUPS_MAX);
	json_array_foreach((json_t *)groups, i, group)
		if (!json_string_length(group) || json_string_length(group) > GROUP_BYTES_MAX)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "groups[%zu] is not a name of up to %d bytes.", i,
			               GROUP_BYTES_MAX);
	return true;
}

void web_do_invite(struct web_exchange *exchange)
{
	const json_t *minutes = json_object_get(exchange->body, "minutes");
	json_t *groups = json_object_get(exchange->body, "groups");
	struct web_invitation invitation = { .name = web_text_of(exchange, "name") };
	_cleanup_free_ char *url = NULL;
	struct web_person *person;
	struct err err = ERR_INIT;
	json_t *answer;

	if (!invitation.name || !(invitation.role = web_text_of(exchange, "role")))
		return;
	if (minutes && (!json_is_integer(minutes) || json_integer_value(minutes) < 1 ||
	                json_integer_value(minutes) > 1 << 30)) {
		web_refuse_with(exchange->http, 400, "invalid_argument",
		                "\"minutes\" is a number of at least 1.");
		return;
	}
	invitation.minutes = (unsigned)json_integer_value(minutes);
	person = invite_check_groups(groups, &err) ?
	         web_person_add(exchange->web, &invitation, groups, &err) : NULL;
	if (!person) {
		web_refuse(exchange->http, &err);
		return;
	}
	url = web_link_make(exchange->web, person, &err);
	if (!url) {
		web_person_remove(person);
		web_refuse(exchange->http, &err);
		return;
	}
	answer = web_person_json(person);
	json_object_set_new(answer, "url", json_text(span_str(url)));
	web_answer(exchange->http, 201, answer);
}

void web_do_invites(struct web_exchange *exchange)
{
	json_t *list = json_array();

	for (struct web_person *person = exchange->web->people->next; person;
	     person = person->next)
		json_array_append_new(list, web_person_json(person));
	web_answer(exchange->http, 200, list);
}

void web_do_revoke(struct web_exchange *exchange)
{
	_cleanup_free_ char *which = mem_dup(exchange->id.data, exchange->id.len);
	struct web_person *person = web_person_find(exchange->web, which);

	if (!person) {
		web_refuse_with(exchange->http, 404, "not_found", "No one has this link.");
		return;
	}
	web_person_remove(person);
	web_answer(exchange->http, 200, json_object());
}
