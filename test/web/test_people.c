/* SPDX-License-Identifier: Apache-2.0 */
/* Who may come in, and for how long, by a clock that the test sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "web/private.h"

enum { MINUTE = 60 * 1000, DAY = 24 * 60 * MINUTE };

static uint64_t now;
static unsigned joined, left;

static uint64_t the_clock(void)
{
	return now;
}

static void note_joined(struct web_person *person)
{
	(void)person;
	joined++;
}

static void note_left(struct web_person *person)
{
	(void)person;
	left++;
}

static int begin(void **state)
{
	struct web *web = mem_alloc(1, sizeof(*web));
	struct err err = ERR_INIT;

	now = 5 * (uint64_t)DAY;
	joined = left = 0;
	*web = (struct web){ .options.socket = "socket", .now_ms = the_clock,
		             .join = note_joined, .leave = note_left };
	if (!loop_new(&web->loop, &err))
		return -1;
	web_people_begin(web);
	*state = web;
	return 0;
}

static int end(void **state)
{
	struct web *web = *state;

	web_people_end(web);
	loop_free(web->loop);
	free(web);
	return 0;
}

static struct web_person *invited(struct web *web, const char *name, unsigned minutes)
{
	const struct web_invitation invitation = { .name = name, .role = "approve",
		                                   .minutes = minutes };
	struct err err = ERR_INIT;
	struct web_person *person = web_person_add(web, &invitation, NULL, &err);

	assert_non_null(person);
	return person;
}

/* The token of a new link; the caller frees. */
static char *token_of(struct web *web, struct web_person *person)
{
	struct err err = ERR_INIT;
	_cleanup_free_ char *link = web_link_make(web, person, &err);

	assert_non_null(link);
	return mem_strdup(strchr(link, '=') + 1);
}

static bool is_used_up(struct web *web, const char *token)
{
	char cookie[WEB_SECRET_SIZE], key[WEB_SECRET_SIZE];
	struct err err = ERR_INIT;

	if (web_link_use(web, token, cookie, key, &err))
		return false;
	assert_int_equal(err.code, ERR_PERMISSION_DENIED);
	return true;
}

/* Comes in by a link; the caller frees the header of the browser. */
static char *came_in(struct web *web, struct web_person *person)
{
	_cleanup_free_ char *token = token_of(web, person), *name = web_cookie_name(web);
	char cookie[WEB_SECRET_SIZE], key[WEB_SECRET_SIZE], *header;
	struct err err = ERR_INIT;

	assert_true(web_link_use(web, token, cookie, key, &err));
	header = mem_printf("%s=%s", name, cookie);
	assert_ptr_equal(web_login_of(web, header)->person, person);
	assert_true(web_login_has_key(web_login_of(web, header), key));
	return header;
}

static void test_a_persons_time_is_over_to_the_millisecond(void **state)
{
	struct web *web = *state;
	_cleanup_free_ char *ann = came_in(web, invited(web, "ann", 10));
	_cleanup_free_ char *ben = came_in(web, invited(web, "ben", 11));

	now += 10 * MINUTE - 1;
	assert_non_null(web_login_of(web, ann));
	assert_int_equal(left, 0);
	now++;
	assert_null(web_login_of(web, ann));
	assert_int_equal(left, 1);
	assert_null(web_person_find(web, "ann"));
	assert_non_null(web_login_of(web, ben));
	/* Whatever is asked first removes those whose time is over. */
	now += MINUTE;
	assert_null(web_login_of(web, NULL));
	assert_int_equal(left, 2);
	assert_null(web_login_of(web, ben));
}

static void test_a_name_is_free_when_its_time_is_over(void **state)
{
	struct web *web = *state;
	const struct web_invitation again = { .name = "ann", .role = "watch" };
	struct err err = ERR_INIT;

	invited(web, "ann", 10);
	assert_null(web_person_add(web, &again, NULL, &err));
	assert_int_equal(err.code, ERR_FILE_EXISTS);
	now += 10 * MINUTE;
	invited(web, "ann", 0);
	assert_int_equal(joined, 2);
	/* Eight hours, where none are given. */
	now += 8 * 60 * MINUTE - 1;
	assert_false(web_person_is_over(web_person_find(web, "ann")));
	now++;
	assert_true(web_person_is_over(web_person_find(web, "ann")));
}

static void test_a_link_that_was_not_used_ends_with_its_person(void **state)
{
	struct web *web = *state;
	_cleanup_free_ char *early = token_of(web, invited(web, "ann", 10));
	_cleanup_free_ char *late = token_of(web, invited(web, "ben", 10));

	now += 10 * MINUTE - 1;
	assert_false(is_used_up(web, early));
	now++;
	assert_true(is_used_up(web, late));
	assert_null(web_person_find(web, "ben"));
}

static void test_an_owners_link_that_was_not_used_ends_after_a_day(void **state)
{
	struct web *web = *state;
	_cleanup_free_ char *early = token_of(web, web->people);
	_cleanup_free_ char *late = token_of(web, web->people);
	_cleanup_free_ char *header = came_in(web, web->people);

	now += DAY - 1;
	assert_false(is_used_up(web, early));
	assert_true(is_used_up(web, early));
	now++;
	assert_true(is_used_up(web, late));
	/* The owner's own pages stay. */
	now += 400 * (uint64_t)DAY;
	assert_non_null(web_login_of(web, header));
}

static void test_a_stolen_link_is_worth_nothing_after_its_person_is_revoked(void **state)
{
	struct web *web = *state;
	struct web_person *ann = invited(web, "ann", 10);
	_cleanup_free_ char *used = came_in(web, ann), *stolen = token_of(web, ann);
	_cleanup_free_ char *again = NULL;

	web_person_remove(ann);
	assert_int_equal(left, 1);
	assert_true(is_used_up(web, stolen));
	assert_null(web_login_of(web, used));
	/* Nor for whoever has the name next. */
	again = token_of(web, invited(web, "ann", 10));
	assert_true(is_used_up(web, stolen));
	assert_null(web_login_of(web, used));
	assert_false(is_used_up(web, again));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_persons_time_is_over_to_the_millisecond,
		                                begin, end),
		cmocka_unit_test_setup_teardown(test_a_name_is_free_when_its_time_is_over, begin,
		                                end),
		cmocka_unit_test_setup_teardown(test_a_link_that_was_not_used_ends_with_its_person,
		                                begin, end),
		cmocka_unit_test_setup_teardown(
			test_an_owners_link_that_was_not_used_ends_after_a_day, begin, end),
		cmocka_unit_test_setup_teardown(
			test_a_stolen_link_is_worth_nothing_after_its_person_is_revoked, begin,
			end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
