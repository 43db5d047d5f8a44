/* SPDX-License-Identifier: Apache-2.0 */
/* Confirmations: what is shown, which key answers what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "ask_fixture.h"
#include "base/mem.h"
#include "data/json.h"

#define ALL_EDIT "[\"proceed_once\", \"proceed_always\", \"proceed_always_and_save\", " \
	"\"modify_with_editor\", \"cancel\"]"
#define EDIT(outcomes, more)                                                                  \
	"{\"toolName\": \"write_file\", \"arguments\": {}, \"outcomes\": " outcomes more ", "  \
	"\"details\": {\"type\": \"edit\", \"title\": \"Confirm Edit\", "                     \
	"\"filePath\": \"/w/a.txt\", \"fileName\": \"a.txt\", "                               \
	"\"fileDiff\": \"--- a.txt\\n+++ a.txt\\n@@ -1 +1 @@\\n-one\\n+two\\n\", "            \
	"\"originalContent\": \"one\\n\", \"newContent\": \"two\\n\"}}"
#define EXEC(command, members)                                                                \
	"{\"toolName\": \"run_shell_command\", "                                              \
	"\"outcomes\": [\"proceed_once\", \"proceed_always\", \"proceed_always_and_save\", "  \
	"\"cancel\"], \"details\": {\"type\": \"exec\", \"title\": \"t\", "                  \
	"\"command\": \"" command "\", " members "}"

static void an_edit_is_offered_in_geminis_words(void **state)
{
	struct ask *ask = fixture_confirmation(EDIT(ALL_EDIT, ""));

	(void)state;
	fixture_expect_subject(ask, 60,
		"a.txt\n@@ -1 +1 @@\n1   - one\n  1 + two\n");
	fixture_expect_rows(ask, 60, 20,
		"Apply this change? [1-6] |\n"
		"a.txt\n@@ -1 +1 @@\n1   - one\n  1 + two\n"
		"> 1. Allow once\n"
		"  2. Allow for this session\n"
		"  3. Allow for this file in all future sessions\n"
		"  4. Review by hunk\n"
		"  5. Modify with external editor\n"
		"  6. No, suggest changes (esc)\n");
	ask_free(ask);
}

static void only_what_is_offered_is_shown(void **state)
{
	struct ask *ask = fixture_confirmation(
		EDIT("[\"proceed_once\", \"cancel\"]", ", \"reason\": \"A hook wants to know.\""));

	(void)state;
	fixture_expect_subject(ask, 60,
		"a.txt\n@@ -1 +1 @@\n1   - one\n  1 + two\n"
		"Reason: A hook wants to know.\n");
	fixture_expect_rows(ask, 60, 20,
		"Apply this change? [1-2] |\n"
		"a.txt\n@@ -1 +1 @@\n1   - one\n  1 + two\nReason: A hook wants to know.\n"
		"> 1. Allow once\n  2. No, suggest changes (esc)\n");
	assert_int_equal(fixture_type(ask, "3"), ASK_IGNORED);
	ask_free(ask);
}

static void what_is_selected_is_always_seen(void **state)
{
	struct ask *ask = fixture_confirmation(EDIT(ALL_EDIT, ""));

	(void)state;
	fixture_expect_rows(ask, 60, 3, "Apply this change? [1-6] |\n> 1. Allow once\n  2. Allow for this session\n");
	fixture_type(ask, "<down><down><down>");
	fixture_expect_rows(ask, 60, 3,
	                    "Apply this change? [1-6] |\n  3. Allow for this file in all future sessions\n"
	                    "> 4. Review by hunk\n");
	fixture_expect_rows(ask, 60, 1, "Apply this change? [1-6] |\n");
	ask_free(ask);
}

static void keys_answer(void **state)
{
	static const struct {
		const char *keys, *answer;
	} rows[] = {
		{ "1", "{\"outcome\": \"proceed_once\"}" },
		{ "<enter>", "{\"outcome\": \"proceed_once\"}" },
		{ "2", "{\"outcome\": \"proceed_always\"}" },
		{ "3", "{\"outcome\": \"proceed_always_and_save\"}" },
		{ "<down><enter>", "{\"outcome\": \"proceed_always\"}" },
		{ "jjk<enter>", "{\"outcome\": \"proceed_always\"}" },
		{ "<esc>", "{\"outcome\": \"cancel\"}" },
		{ "6<enter>", "{\"outcome\": \"cancel\"}" },
		{ "<up><enter>Use tabs.<enter>",
		  "{\"outcome\": \"cancel\", \"message\": \"Use tabs.\"}" },
		{ "6!No.<enter>", "{\"outcome\": \"cancel\", \"message\": \"!No.\"}" },
		/* What was typed is there again when somebody comes back. */
		{ "6Use tabs<esc>6.<enter>",
		  "{\"outcome\": \"cancel\", \"message\": \"Use tabs.\"}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ask *ask = fixture_confirmation(EDIT(ALL_EDIT, ""));

		if (fixture_type(ask, rows[i].keys) != ASK_DONE)
			fail_msg("%s: the question is not answered", rows[i].keys);
		fixture_expect_answer(ask, rows[i].answer);
		ask_free(ask);
	}
}

static void what_to_do_instead_is_typed(void **state)
{
	struct ask *ask = fixture_confirmation(EDIT(ALL_EDIT, ""));

	(void)state;
	fixture_type(ask, "6Use");
	assert_int_equal(ask_paste(ask, SPAN(" tabs")), ASK_OPEN);
	fixture_expect_rows(ask, 80, 20,
		"> Use tabs|\nWhat should be done instead? Enter sends it (empty: just no), Esc goes "
		"back.\na.txt\n@@ -1 +1 @@\n1   - one\n  1 + two\n");
	ask_free(ask);
}

static void an_interruption_is_no(void **state)
{
	struct ask *ask = fixture_confirmation(EDIT(ALL_EDIT, ""));
	json_auto_t *refusal = ask_refusal(ask), *wanted = fixture_parse(
		"{\"outcome\": \"cancel\", \"correlationId\": \"q-1\"}");

	(void)state;
	assert_true(json_equal(refusal, wanted));
	assert_int_equal(ask_paste(ask, SPAN("1")), ASK_IGNORED);
	assert_int_equal(fixture_type(ask, "<c-o>"), ASK_WHOLE);
	ask_free(ask);
}

static void an_external_editor_is_looked_at(void **state)
{
	struct ask *ask = fixture_confirmation(EDIT(ALL_EDIT, ""));
	const char *name;
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_int_equal(fixture_type(ask, "5"), ASK_EXTERNAL);
	text = ask_external(ask, &name);
	assert_string_equal(text, "two\n");
	assert_string_equal(name, "a.txt");
	assert_int_equal(ask_modified(ask, SPAN("three\n")), ASK_OPEN);
	fixture_expect_rows(ask, 70, 20,
		"Apply? [y/n] |\nWhat you made of it. y applies it, n goes back, e edits again.\n"
		"a.txt\n@@ -1 +1 @@\n1   - one\n  1 + three\n");
	assert_int_equal(fixture_type(ask, "y"), ASK_DONE);
	fixture_expect_answer(ask, "{\"outcome\": \"modify_with_editor\", "
	                           "\"newContent\": \"three\\n\"}");
	ask_free(ask);
}

static void an_editor_that_changes_nothing_answers_nothing(void **state)
{
	struct ask *ask = fixture_confirmation(EDIT(ALL_EDIT, ""));

	(void)state;
	fixture_type(ask, "5");
	assert_int_equal(ask_modified(ask, SPAN("two\n")), ASK_OPEN);
	assert_int_equal(fixture_type(ask, "1"), ASK_DONE);
	fixture_expect_answer(ask, "{\"outcome\": \"proceed_once\"}");
	ask_free(ask);
}

static void several_files_are_saved_as_what_they_are(void **state)
{
	struct ask *ask = fixture_confirmation(
		"{\"toolName\": \"apply_changes\", \"arguments\": {\"changes\": []}, "
		"\"outcomes\": [\"proceed_once\", \"proceed_always_and_save\", \"cancel\"], "
		"\"details\": {\"type\": \"edit\", \"title\": \"t\", \"filePath\": \"/w/a\", "
		"\"fileName\": \"a\", \"fileDiff\": \"\", \"originalContent\": null, "
		"\"newContent\": null}}");

	(void)state;
	fixture_expect_rows(ask, 70, 20,
		"Apply this change? [1-3] |\nEdit /w/a\n> 1. Allow once\n"
		"  2. Allow this tool, for any file, in all future sessions\n"
		"  3. No, suggest changes (esc)\n");
	ask_free(ask);
}

/* ---- commands ------------------------------------------------------------------------ */

static void a_command_is_shown_with_all_that_it_runs(void **state)
{
	struct ask *ask = fixture_confirmation(
		EXEC("git status && ls > out", "\"rootCommand\": \"git\", "
		     "\"rootCommands\": [\"git\", \"ls\"], "
		     "\"summary\": \"git status\\nls > out\\n\", \"problems\": [\"A problem.\"]")
		", \"arguments\": {\"command\": \"x\", \"description\": \"Looks.\", "
		"\"dir_path\": \"src\"}}");

	(void)state;
	fixture_expect_subject(ask, 60,
		"Looks.\n  git status && ls > out\nin src\nIt runs:\n  git status\n"
		"  ls > out\n! A problem.\n");
	fixture_expect_rows(ask, 60, 20,
		"Run these commands? [1-4] |\n"
		"Looks.\n  git status && ls > out\nin src\nIt runs:\n  git status\n"
		"  ls > out\n! A problem.\n> 1. Allow once\n  2. Allow for this session\n"
		"  3. Allow this command for all future sessions\n"
		"  4. No, suggest changes (esc)\n");
	ask_free(ask);
}

/* It is taken away while somebody types into it. */
static void what_was_typed_can_be_kept(void **state)
{
	struct ask *ask = fixture_confirmation(
		"{\"arguments\": {}, \"toolName\": \"web_fetch\", \"details\": {\"type\": \"info\"}, "
		"\"outcomes\": [\"proceed_once\", \"cancel\"]}");
	char *typed;

	(void)state;
	assert_null(ask_unsent(ask));
	fixture_type(ask, "2");
	assert_null(ask_unsent(ask));
	fixture_type(ask, "Use the cache");
	typed = ask_unsent(ask);
	assert_string_equal(typed, "Use the cache");
	free(typed);
	ask_free(ask);
}

static void always_says_for_what(void **state)
{
	struct ask *ask = fixture_confirmation(
		EXEC("git status && ls", "\"rootCommands\": [\"git\", \"ls\"], \"summary\": \"\", "
		     "\"problems\": [], \"commandPrefixes\": [\"git status\", \"ls\"]")
		", \"arguments\": {}}");

	(void)state;
	fixture_expect_rows(ask, 90, 20,
		"Run these commands? [1-4] |\n  git status && ls\n> 1. Allow once\n"
		"  2. Allow for this session  what begins with: git status, ls\n"
		"  3. Allow this command for all future sessions  what begins with: git status, ls\n"
		"  4. No, suggest changes (esc)\n");
	ask_free(ask);
}

/* The whole of a question as the pager shows it, without blanks and line ends. */
static char *whole_text(const char *message, unsigned width)
{
	struct ask *ask = fixture_confirmation(message);
	_cleanup_buf_ struct buf all = BUF_INIT(64 << 20), text = BUF_INIT(64 << 20);
	_cleanup_rows_ struct rows rows = { 0 };

	ask_whole(ask, width, &rows);
	for (size_t i = 0; i < rows.count; i++)
		row_plain(&rows.at[i], &all);
	for (size_t i = 0; i < all.len; i++)
		if (!strchr(" \n", all.data[i]))
			buf_char(&text, all.data[i]);
	ask_free(ask);
	return buf_steal(&text);
}

/* Each place of each kind of question that has text of others. */
static void every_byte_of_a_question_can_be_read(void **state)
{
	static const char *const messages[] = {
		"{\"toolName\": \"run_shell_command\", \"arguments\": {\"command\": \"c\"}, "
		"\"outcomes\": [\"cancel\"], \"details\": {\"type\": \"exec\", \"command\": \"%s\"}}",
		"{\"toolName\": \"run_shell_command\", \"arguments\": {\"description\": \"%s\"}, "
		"\"outcomes\": [\"cancel\"], \"details\": {\"type\": \"exec\", \"command\": \"c\"}}",
		"{\"toolName\": \"run_shell_command\", \"arguments\": {\"command\": \"c\"}, "
		"\"outcomes\": [\"cancel\"], \"details\": {\"type\": \"exec\", \"command\": \"c\", "
		"\"otherArguments\": \"%s\"}}",
		"{\"toolName\": \"save_memory\", \"arguments\": {}, \"outcomes\": [\"cancel\"], "
		"\"details\": {\"type\": \"info\", \"title\": \"t\", \"prompt\": \"%s\"}}",
		"{\"toolName\": \"write_file\", \"arguments\": {}, \"outcomes\": [\"cancel\"], "
		"\"details\": {\"type\": \"edit\", \"filePath\": \"a\", \"fileDiff\": \"\", "
		"\"otherArguments\": \"%s\"}}",
		"{\"toolName\": \"mcp_s_t\", \"arguments\": {}, \"outcomes\": [\"cancel\"], "
		"\"details\": {\"type\": \"mcp\", \"serverName\": \"s\", \"toolName\": \"t\", "
		"\"toolDisplayName\": \"t\", \"changed\": \"%s\"}}",
	};
	static const char *const shown[] = {
		"first[2000blanks]hidden", "[50emptylines]", "below", "\\u{202e}", "\\u{200b}",
		"\\x1b", "cr\\rd", "crlf\\rlast",
	};
	_cleanup_free_ char *blanks = mem_alloc(2001, 1);
	_cleanup_buf_ struct buf value = BUF_INIT(1 << 20);

	(void)state;
	memset(blanks, ' ', 2000);
	buf_printf(&value, "first%shidden", blanks);
	for (int i = 0; i < 51; i++)
		buf_str(&value, "\\n");
	buf_str(&value, "below\\u202ea\\u200bb\\u001bccr\\rd crlf\\r\\nlast");
	for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
		const char *at = strstr(messages[i], "%s");
		_cleanup_free_ char *message = mem_printf("%.*s%s%s", (int)(at - messages[i]),
		                                          messages[i], value.data, at + 2);
		_cleanup_free_ char *text = whole_text(message, 60);

		for (size_t k = 0; k < ARRAY_LEN(shown); k++)
			if (!strstr(text, shown[k]))
				fail_msg("%s is not in the question %zu: %s", shown[k], i, text);
	}
}

static void permissions_are_named(void **state)
{
	struct ask *ask = fixture_confirmation(
		EXEC("make", "\"rootCommands\": [\"make\"], \"summary\": \"make\", \"problems\": []")
		", \"arguments\": {\"additional_permissions\": {\"network\": true, "
		"\"fileSystem\": {\"read\": [\"/secret\"], \"write\": [\"/etc\\u001b[m\"]}}}}");

	(void)state;
	fixture_expect_subject(ask, 100,
		"  make\n"
		"! It asks for the network, which the sandbox does not give it; for this one command.\n"
		"! It asks to read what the sandbox hides, for this one command: /secret\n"
		"! It asks to write where the sandbox forbids it, for this one command: /etc\\x1b[m\n");
	ask_free(ask);
}

static void what_the_sandbox_denies_is_said_before(void **state)
{
	struct ask *ask = fixture_confirmation(
		EXEC("touch /srv/a", "\"rootCommands\": [\"touch\"], \"summary\": \"\", "
		     "\"problems\": [], \"denials\": [{\"kind\": \"write\", \"what\": \"/srv/a\", "
		     "\"message\": \"write /srv/a: outside. To allow: --write /srv\\u001b[m\"}]")
		", \"arguments\": {}}");

	(void)state;
	fixture_expect_subject(ask, 100,
		"  touch /srv/a\n"
		"The sandbox will block this: write /srv/a: outside. To allow: --write "
		"/srv\\x1b[m\n");
	ask_free(ask);
}

#define EXPANSION(command, members, outcomes)                                              \
	"{\"arguments\": {}, \"toolName\": \"run_shell_command\", \"outcomes\": [" outcomes "], \"details\": {" \
	"\"type\": \"sandbox_expansion\", \"command\": \"" command "\", " members "}}"

static void a_denial_is_offered_with_its_extent(void **state)
{
	struct ask *ask = fixture_confirmation(EXPANSION("make install",
		"\"runs\": 1, \"leftOut\": 3, \"allowed\": ["
		"{\"kind\": \"write\", \"what\": \"/srv/a\\u001b[m\\u202eb\", \"allows\": \"that\"}, "
		"{\"kind\": \"network\", \"what\": \"192.0.2.1:9/tcp\", \"allows\": \"all\"}], "
		"\"stillDenied\": [{\"kind\": \"write\", \"what\": \"/srv\\u001b[m\", "
		"\"why\": \"it is a folder\"}]",
		"\"proceed_once\", \"proceed_always\", \"cancel\""));

	(void)state;
	fixture_expect_subject(ask, 120,
		"The sandbox blocked part of this command\n  make install\n"
		"Still blocked: write /srv\\x1b[m (it is a folder)\nStill blocked: 3 more\n"
		"This would be allowed, and nothing else:\n"
		"! write /srv/a\\x1b[m\\u{202e}b: that.\n"
		"! Some characters in it are invisible, or look like others; they are shown as "
		"escapes.\n"
		"! the network (192.0.2.1:9/tcp): all.\n"
		"The command has already run; it starts again from the beginning and repeats what it "
		"did before it was blocked.\n");
	fixture_expect_rows(ask, 100, 4,
		"Allow this and run the command again? [1-3] |\n> 1. Allow once\n"
		"  2. Allow for this session  to every command, without a question, until you quit\n"
		"  3. No, suggest changes (esc)\n");
	assert_int_equal(fixture_type(ask, "3No.<enter>"), ASK_DONE);
	fixture_expect_answer(ask, "{\"outcome\": \"cancel\", \"message\": \"No.\"}");
	ask_free(ask);
}

static void a_file_outside_is_offered_in_words_fit_for_it(void **state)
{
	struct ask *ask = fixture_confirmation(
		"{\"arguments\": {}, \"toolName\": \"read_file\", \"outcomes\": [\"proceed_once\", "
		"\"proceed_always\", \"cancel\"], \"details\": {\"type\": \"sandbox_expansion\", "
		"\"runs\": 1, \"leftOut\": 0, \"allowed\": [{\"kind\": \"read\", "
		"\"what\": \"/srv/a\\u001b[m\", \"named\": \"link\\u202e\", \"allows\": \"that\"}], "
		"\"stillDenied\": [{\"kind\": \"list\", \"what\": \"/proc\", \"why\": \"no\"}]}}");

	(void)state;
	fixture_expect_subject(ask, 120,
		"This is outside the workspace\n"
		"Still blocked: list /proc (no)\n"
		"This would be allowed, and nothing else:\n"
		"! read /srv/a\\x1b[m: that.\n"
		"The call names it link\\u{202e}\n"
		"! Some characters in it are invisible, or look like others; they are shown as "
		"escapes.\n");
	fixture_expect_rows(ask, 100, 4,
		"Allow this? [1-3] |\n> 1. Allow once\n"
		"  2. Allow for this session  to every call that works on files, until you quit\n"
		"  3. No, suggest changes (esc)\n");
	ask_free(ask);
}

/* However long the command is, what a yes allows is not folded away. */
static void what_is_offered_is_always_seen(void **state)
{
	_cleanup_buf_ struct buf message = BUF_INIT(1 << 16);
	_cleanup_rows_ struct rows rows = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
	struct ask *ask;

	(void)state;
	buf_str(&message, "{\"arguments\": {}, \"toolName\": \"run_shell_command\", \"outcomes\": [\"cancel\"], "
	                  "\"details\": {\"type\": \"sandbox_expansion\", \"command\": \"");
	for (int i = 0; i < 500; i++)
		buf_str(&message, "true\\n");
	buf_str(&message, "\", \"runs\": 2, \"allowed\": [{\"kind\": \"write\", \"what\": "
	                  "\"/srv/a\", \"allows\": \"that\"}]}}");
	ask = fixture_confirmation(message.data);
	ask_subject(ask, 100, &rows);
	assert_true(rows.count < 60);
	for (size_t i = 0; i < rows.count; i++)
		row_plain(&rows.at[i], &text);
	assert_non_null(strstr(text.data, "! write /srv/a: that."));
	assert_non_null(strstr(text.data, "The command has already run twice"));
	ask_free(ask);
}

static void what_deceives_is_said(void **state)
{
	struct ask *ask = fixture_confirmation(
		EXEC("curl https://p\\u0430ypal.com/ https://good.org@evil.org/x xn--a https://xn--80ak6aa92e.com",
		     "\"rootCommands\": [\"curl\"], \"summary\": \"\", \"problems\": []")
		", \"arguments\": {}}");

	(void)state;
	fixture_expect_subject(ask, 200,
		"  curl https://p\\u{430}ypal.com/ https://good.org@evil.org/x xn--a "
		"https://xn--80ak6aa92e.com\n"
		"! Some characters in it are invisible, or look like others; they are shown as escapes "
		"such as \\u{430}.\n"
		"! A deceptive address: https://p\\u{430}ypal.com/ (its host has letters beyond ASCII, "
		"which may look like others).\n"
		"! A deceptive address: https://good.org@evil.org/x (its host is what stands behind the "
		"@).\n"
		"! A deceptive address: https://xn--80ak6aa92e.com (its host is written in Punycode, and "
		"is shown elsewhere in other letters).\n");
	ask_free(ask);
}

static void usual_addresses_are_not_warned_of(void **state)
{
	struct ask *ask = fixture_confirmation(
		EXEC("curl -o x\\thttps://example.org/a@b?q=\\u00e9 ssh://git.org",
		     "\"rootCommands\": [\"curl\"], \"summary\": \"\", \"problems\": []")
		", \"arguments\": {}}");

	(void)state;
	fixture_expect_subject(ask, 200,
		"  curl -o x       https://example.org/a@b?q=\xc3\xa9 ssh://git.org\n");
	ask_free(ask);
}

/* ---- others -------------------------------------------------------------------------- */

static void a_servers_tool_has_its_outcomes(void **state)
{
	struct ask *ask = fixture_confirmation(
		"{\"toolName\": \"mcp_s_t\", \"serverName\": \"s\", \"arguments\": {\"a\": 1}, "
		"\"outcomes\": [\"proceed_once\", \"proceed_always_tool\", \"proceed_always_server\", "
		"\"proceed_always_and_save\", \"cancel\"], \"details\": {\"type\": \"mcp\", "
		"\"title\": \"t\", \"serverName\": \"s\", \"toolName\": \"t\", "
		"\"toolDisplayName\": \"Do it\"}}");

	(void)state;
	fixture_expect_subject(ask, 70,
		"Tool Do it\nfrom the MCP server s\n  {\n    \"a\": 1\n  }\n");
	fixture_expect_rows(ask, 70, 20,
		"Run this tool? [1-5] |\n"
		"Tool Do it\nfrom the MCP server s\n  {\n    \"a\": 1\n  }\n"
		"> 1. Allow once\n  2. Allow tool for this session: t, until you quit\n"
		"  3. Allow all server tools for this session: s, until you quit\n"
		"  4. Allow tool for all future sessions\n  5. No, suggest changes (esc)\n");
	assert_int_equal(fixture_type(ask, "3"), ASK_DONE);
	fixture_expect_answer(ask, "{\"outcome\": \"proceed_always_server\"}");
	ask_free(ask);
}

static void other_tools_show_what_they_say(void **state)
{
	struct ask *ask = fixture_confirmation(
		"{\"toolName\": \"web_fetch\", \"arguments\": {}, "
		"\"outcomes\": [\"proceed_once\", \"cancel\"], \"details\": {\"type\": \"info\", "
		"\"title\": \"Fetch\", \"prompt\": \"Look at\\nit\", \"urls\": [\"https://e.org\"]}}");

	(void)state;
	fixture_expect_subject(ask, 70,
		"Fetch\n  Look at\n  it\nAddress: https://e.org\n");
	ask_free(ask);
}

static void a_plan_is_shown_as_what_it_is(void **state)
{
	struct ask *ask = fixture_confirmation(
		"{\"toolName\": \"exit_plan_mode\", \"arguments\": {}, "
		"\"outcomes\": [\"proceed_once\", \"cancel\"], \"details\": {\"type\": \"info\", "
		"\"title\": \"Carry out the plan\", \"prompt\": \"# Plan\\n\\nDo **it**.\\n\", "
		"\"urls\": []}}");

	(void)state;
	fixture_expect_subject(ask, 70,
		"Plan\n\nDo it.\n");
	ask_free(ask);
}

static void a_screen_reader_gets_words(void **state)
{
	json_auto_t *message = fixture_parse(
		"{\"toolName\": \"t\", \"arguments\": {}, \"outcomes\": [\"proceed_once\", \"cancel\"], "
		"\"details\": {\"type\": \"info\", \"title\": \"T\", \"prompt\": \"p\", \"urls\": []}}");
	struct ask *ask = ask_new(BUS_TOOL_CONFIRMATION_REQUEST, message,
	                          &(struct ask_options){ .plain = true });

	(void)state;
	fixture_expect_subject(ask, 70, "T\np\n");
	fixture_expect_rows(ask, 70, 20,
	                    "Allow this? [1-2] |\n1. Allow once (selected)\n2. No, suggest changes (esc)\n");
	ask_free(ask);
}

static void a_long_subject_is_folded(void **state)
{
	_cleanup_buf_ struct buf message = BUF_INIT(1 << 16);
	struct rows rows = { 0 }, all = { 0 };
	struct ask *ask;

	(void)state;
	buf_str(&message, "{\"toolName\": \"t\", \"arguments\": {}, \"outcomes\": [\"cancel\"], "
	                  "\"details\": {\"type\": \"info\", \"title\": \"T\", \"urls\": [], "
	                  "\"prompt\": \"");
	for (int i = 0; i < 200; i++)
		buf_str(&message, "line\\n");
	buf_str(&message, "\"}}");
	ask = fixture_confirmation(message.data);
	ask_subject(ask, 40, &rows);
	ask_whole(ask, 40, &all);
	assert_int_equal(rows.count, 40);
	assert_int_equal(all.count, 201);
	rows_release(&rows);
	rows_release(&all);
	ask_free(ask);
}

/* ---- questions that wait together ---------------------------------------------------- */

#define COMMAND(command, root) "{\"toolName\": \"run_shell_command\", \"arguments\": {}, "      \
	"\"outcomes\": [\"proceed_once\", \"cancel\"], \"details\": {\"type\": \"exec\", "      \
	"\"title\": \"t\", \"command\": \"" command "\", \"rootCommand\": \"" root "\", "      \
	"\"rootCommands\": [\"" root "\"], \"summary\": \"\", \"problems\": []}}"
#define OTHER_TOOL "{\"toolName\": \"web_fetch\", \"arguments\": {}, \"outcomes\": "           \
	"[\"proceed_once\", \"cancel\"], \"details\": {\"type\": \"info\", \"title\": \"t\", " \
	"\"prompt\": \"p\", \"urls\": []}}"
#define YES "{\"outcome\": \"proceed_once\"}"

static void likes_are_allowed_together(void **state)
{
	struct ask *ask = fixture_confirmation(COMMAND("make a", "make"));

	(void)state;
	assert_true(fixture_join(ask, COMMAND("make b", "make"), "q-2"));
	assert_false(fixture_join(ask, COMMAND("rm b", "rm"), "q-3"));
	assert_false(fixture_join(ask, OTHER_TOOL, "q-3"));
	assert_true(fixture_join(ask, COMMAND("make c", "make"), "q-3"));
	fixture_expect_rows(ask, 70, 20,
		"Run these commands? [1-3] |\n  make a\n\n  make b\n\n  make c\n> 1. Allow once\n"
		"  2. Allow these 3  this one and the 2 below\n"
		"  3. No, suggest changes (esc)\n");
	assert_int_equal(fixture_type(ask, "2"), ASK_DONE);
	fixture_expect_answers(ask, "[" YES ", " YES ", " YES "]");
	ask_free(ask);
}

/* "Once" and "no" are about the one that is asked about. */
static void the_others_are_asked_about_afterwards(void **state)
{
	static const struct {
		const char *keys, *answer;
	} rows[] = { { "1", YES }, { "<esc>", "{\"outcome\": \"cancel\"}" },
		     { "3b<enter>", "{\"outcome\": \"cancel\", \"message\": \"b\"}" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ask *ask = fixture_confirmation(COMMAND("make a", "make"));

		assert_true(fixture_join(ask, COMMAND("make b", "make"), "q-2"));
		assert_int_equal(fixture_type(ask, rows[i].keys), ASK_DONE);
		fixture_expect_answer(ask, rows[i].answer);
		ask_free(ask);
	}
}

static void what_joined_is_shown_and_may_go(void **state)
{
	struct ask *ask = fixture_confirmation(COMMAND("make a", "make"));
	struct rows rows = { 0 };
	json_auto_t *gone = fixture_parse(COMMAND("make b", "make"));
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)state;
	json_object_set_new(gone, "correlationId", json_string("q-2"));
	json_object_set_new(gone, "callId", json_string("q-2"));
	assert_true(fixture_join(ask, COMMAND("make b", "make"), "q-2"));
	ask_subject_joined(ask, 60, &rows);
	assert_int_equal(rows.count, 1);
	row_plain(&rows.at[0], &text);
	assert_string_equal(text.data, "  make b");
	rows_release(&rows);
	ask_unjoin(ask, gone);
	fixture_expect_rows(ask, 70, 20,
		"Run this command? [1-2] |\n  make a\n> 1. Allow once\n"
		"  2. No, suggest changes (esc)\n");
	ask_free(ask);
}

/* Never more than a person would look at. */
static void so_many_are_shown_at_most(void **state)
{
	struct ask *ask = fixture_confirmation(COMMAND("make a", "make"));

	(void)state;
	for (int i = 0; i < 31; i++)
		assert_true(fixture_join(ask, COMMAND("make b", "make"), "q"));
	assert_false(fixture_join(ask, COMMAND("make c", "make"), "q"));
	ask_free(ask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edit_is_offered_in_geminis_words),
		cmocka_unit_test(only_what_is_offered_is_shown),
		cmocka_unit_test(what_is_selected_is_always_seen),
		cmocka_unit_test(keys_answer),
		cmocka_unit_test(what_to_do_instead_is_typed),
		cmocka_unit_test(an_interruption_is_no),
		cmocka_unit_test(an_external_editor_is_looked_at),
		cmocka_unit_test(an_editor_that_changes_nothing_answers_nothing),
		cmocka_unit_test(several_files_are_saved_as_what_they_are),
		cmocka_unit_test(a_command_is_shown_with_all_that_it_runs),
		cmocka_unit_test(what_was_typed_can_be_kept),
		cmocka_unit_test(always_says_for_what),
		cmocka_unit_test(every_byte_of_a_question_can_be_read),
		cmocka_unit_test(permissions_are_named),
		cmocka_unit_test(what_the_sandbox_denies_is_said_before),
		cmocka_unit_test(a_denial_is_offered_with_its_extent),
		cmocka_unit_test(a_file_outside_is_offered_in_words_fit_for_it),
		cmocka_unit_test(what_is_offered_is_always_seen),
		cmocka_unit_test(what_deceives_is_said),
		cmocka_unit_test(usual_addresses_are_not_warned_of),
		cmocka_unit_test(a_servers_tool_has_its_outcomes),
		cmocka_unit_test(other_tools_show_what_they_say),
		cmocka_unit_test(a_plan_is_shown_as_what_it_is),
		cmocka_unit_test(a_screen_reader_gets_words),
		cmocka_unit_test(a_long_subject_is_folded),
		cmocka_unit_test(likes_are_allowed_together),
		cmocka_unit_test(the_others_are_asked_about_afterwards),
		cmocka_unit_test(what_joined_is_shown_and_may_go),
		cmocka_unit_test(so_many_are_shown_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
