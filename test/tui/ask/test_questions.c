/* SPDX-License-Identifier: Apache-2.0 */
/* The model's questions: pages, choices, texts, the answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask_fixture.h"
#include "base/mem.h"

#define CHOICE "{\"question\": \"Which one?\", \"header\": \"Kind\", \"type\": \"choice\", "    \
	"\"options\": [{\"label\": \"Red\", \"description\": \"as blood\"}, "                 \
	"{\"label\": \"Blue\", \"description\": \"\"}]}"
#define SEVERAL "{\"question\": \"Which ones?\", \"header\": \"Kinds\", \"type\": \"choice\", " \
	"\"multiSelect\": true, \"options\": [{\"label\": \"A\", \"description\": \"\"}, "    \
	"{\"label\": \"B\", \"description\": \"\"}]}"
#define TEXT "{\"question\": \"Your name?\", \"header\": \"Name\", \"type\": \"text\", "       \
	"\"placeholder\": \"first and last\"}"
#define YESNO "{\"question\": \"Really?\", \"header\": \"Sure\", \"type\": \"yesno\"}"

static void a_choice_is_shown_and_taken(void **state)
{
	struct ask *ask = fixture_questions("[" CHOICE "]");

	(void)state;
	fixture_expect_subject(ask, 40, "? Which one?\n");
	fixture_expect_rows(ask, 60, 20,
		"Choose: [1-3] |\nWhich one?\n> 1. Red  as blood\n  2. Blue\n  3. Something else\n"
		"Enter or a digit chooses, Esc: no answer.\n");
	fixture_type(ask, "<down>");
	fixture_expect_rows(ask, 60, 20,
		"Choose: [1-3] |\nWhich one?\n  1. Red  as blood\n> 2. Blue\n  3. Something else\n"
		"Enter or a digit chooses, Esc: no answer.\n");
	assert_int_equal(fixture_type(ask, "<enter>"), ASK_DONE);
	fixture_expect_answer(ask, "{\"answers\": {\"0\": \"Blue\"}}");
	ask_free(ask);
}

static void keys_answer(void **state)
{
	static const struct {
		const char *questions, *keys, *answer;
	} rows[] = {
		{ "[" CHOICE "]", "1", "{\"answers\": {\"0\": \"Red\"}}" },
		{ "[" CHOICE "]", "3Green<enter>", "{\"answers\": {\"0\": \"Green\"}}" },
		{ "[" CHOICE "]", "3Gr<esc>2", "{\"answers\": {\"0\": \"Blue\"}}" },
		{ "[" CHOICE "]", "<esc>", "{\"cancelled\": true}" },
		{ "[" YESNO "]", "1", "{\"answers\": {\"0\": \"Yes\"}}" },
		{ "[" YESNO "]", "<down><enter>", "{\"answers\": {\"0\": \"No\"}}" },
		{ "[" TEXT "]", "A B<enter>", "{\"answers\": {\"0\": \"A B\"}}" },
		{ "[" TEXT "]", "<enter><enter>x<enter>", "{\"answers\": {\"0\": \"x\"}}" },
		{ "[" TEXT "]", "x<esc>", "{\"cancelled\": true}" },
		{ "[" SEVERAL "]", "12<enter>", "{\"answers\": {\"0\": [\"A\", \"B\"]}}" },
		{ "[" SEVERAL "]", "1<space>2<enter>", "{\"answers\": {\"0\": [\"B\"]}}" },
		{ "[" SEVERAL "]", "13C<enter>", "{\"answers\": {\"0\": [\"A\", \"C\"]}}" },
		/* Several: a last look, and back. */
		{ "[" CHOICE ", " TEXT ", " YESNO "]", "1Me<enter>2<enter>",
		  "{\"answers\": {\"0\": \"Red\", \"1\": \"Me\", \"2\": \"No\"}}" },
		{ "[" CHOICE ", " YESNO "]", "12<s-tab><s-tab>22y",
		  "{\"answers\": {\"0\": \"Blue\", \"1\": \"No\"}}" },
		{ "[" CHOICE ", " YESNO "]", "<tab>1<enter>", "{\"answers\": {\"1\": \"Yes\"}}" },
		{ "[" CHOICE ", " YESNO "]", "<right><right><left><left>11y",
		  "{\"answers\": {\"0\": \"Red\", \"1\": \"Yes\"}}" },
		/* What was typed or ticked counts, however somebody leaves the page. */
		{ "[" TEXT ", " SEVERAL "]", "Me<tab>2<tab>y",
		  "{\"answers\": {\"0\": \"Me\", \"1\": [\"B\"]}}" },
		{ "[" CHOICE ", " YESNO "]", "<tab><tab><enter>", "{\"cancelled\": true}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ask *ask = fixture_questions(rows[i].questions);

		if (fixture_type(ask, rows[i].keys) != ASK_DONE)
			fail_msg("%zu, %s: the question is not answered", i, rows[i].keys);
		fixture_expect_answer(ask, rows[i].answer);
		ask_free(ask);
	}
}

static void pages_go_back_and_forth(void **state)
{
	struct ask *ask = fixture_questions("[" SEVERAL ", " TEXT "]");

	(void)state;
	fixture_expect_subject(ask, 40, "1. Which ones?\n2. Your name?\n");
	fixture_type(ask, "2");
	fixture_expect_rows(ask, 60, 20,
		"1/2? [1-3] |\nWhich ones?\n  1. [ ] A\n> 2. [x] B\n  3. [ ] Something else\n"
		"Space or digits choose, Enter goes on, Esc: no answer.\n"
		"Tab: the next question, Shift+Tab: the one before.\n");
	fixture_type(ask, "<tab>");
	fixture_expect_rows(ask, 60, 20,
		"> |\nYour name?\nfirst and last\nEnter sends it, Esc: no answer.\n"
		"Tab: the next question, Shift+Tab: the one before.\n");
	ask_paste(ask, SPAN("Me"));
	fixture_type(ask, "<s-tab><enter><enter>");
	fixture_expect_rows(ask, 70, 20,
		"Send? [y] |\n1. Kinds: B\n2. Name: Me\n"
		"Enter sends the answers, Shift+Tab goes back, Esc: no answer.\n");
	ask_free(ask);
}

static void what_is_missing_is_said(void **state)
{
	struct ask *ask = fixture_questions("[" YESNO ", " YESNO "]");

	(void)state;
	fixture_type(ask, "<tab>1");
	fixture_expect_rows(ask, 70, 20,
		"Send? [y] |\n1. Sure: no answer\n2. Sure: Yes\n"
		"Enter sends the answers, Shift+Tab goes back, Esc: no answer.\n");
	ask_free(ask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_choice_is_shown_and_taken),
		cmocka_unit_test(keys_answer),
		cmocka_unit_test(pages_go_back_and_forth),
		cmocka_unit_test(what_is_missing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
