/* SPDX-License-Identifier: Apache-2.0 */
/* Slash commands about sessions, and custom commands. */
#include "command_bench.h"

/* ---- sessions -------------------------------------------------------------------------------- */

static void sessions_are_saved_listed_and_resumed(void **state)
{
	static const char *const replies[] = { "First.", "Second.", NULL };
	struct bench *bench = *state;
	_cleanup_free_ char *id = NULL;

	open_host(bench, replies);
	must_fail(bench, "/chat save one", "Nothing was said");
	host_bench_prompt(&bench->of, "One");
	must_say(bench, "/chat save one", "/chat resume one");
	must_fail(bench, "/chat save ../x", "letters");
	must_fail(bench, "/chat save one two", "/chat [list");
	run(bench, "/chat save one");
	assert_int_equal(bench->result.then, COMMAND_CHOOSE);
	must_say(bench, "/chat save one replace", "Saved as one");
	must_fail(bench, "/clear everything", "no arguments");
	must_say(bench, "/chat rename Another name", "Another name");
	must_say(bench, "/chat list", "Another name");
	must_say(bench, "/chat title one A copy", "A copy");
	id = mem_strdup(host_facts(bench->of.host).session_id);
	must_say(bench, "/clear", "New session");
	assert_int_equal(bench->result.then, COMMAND_REFRESH);
	assert_string_not_equal(host_facts(bench->of.host).session_id, id);
	host_bench_prompt(&bench->of, "Two");
	must_say(bench, "/chat list", "Two");
	run(bench, "/resume");
	assert_int_equal(bench->result.then, COMMAND_BROWSE);
	bench->context.can &= ~(1u << COMMAND_BROWSE);
	run(bench, "/resume");
	assert_int_equal(bench->result.then, COMMAND_CHOOSE);
	assert_int_equal(bench->result.choice_count, 2); /* that of before, and what was saved */
	must_fail(bench, "/chat resume latest", "is open");
	run(bench, "/chat resume one");
	assert_int_equal(bench->result.then, COMMAND_REFRESH);
	assert_string_not_equal(host_facts(bench->of.host).session_id, id);
	run(bench, "/copy");
	assert_string_equal(bench->result.text, "First.");
	must_say(bench, "/chat delete one", "Deleted");
	must_fail(bench, "/chat resume one", "one");
	id[8] = '\0';
	must_offer(bench, "/chat resume ", id);
	must_offer(bench, "/resume Another", id); /* by its title */
}

static void a_session_is_exported(void **state)
{
	static const char *const replies[] = { "First.", NULL };
	struct bench *bench = *state;
	_cleanup_free_ char *markdown = NULL, *json = NULL, *replace = NULL, *kept = NULL;

	open_host(bench, replies);
	host_bench_prompt(&bench->of, "One");
	must_say(bench, "/chat share talk.md", "talk.md");
	must_say(bench, "/chat share talk.json", "talk.json");
	must_fail(bench, "/chat share talk", ".md or .json");
	must_fail(bench, "/export ../talk.md", "outside");
	must_say(bench, "/export", "conversation-");
	run(bench, "/export talk.md");
	assert_int_equal(bench->result.then, COMMAND_CHOOSE);
	replace = mem_strdup(bench->result.choices[1].line);
	must_say(bench, replace, "talk.md");
	/* It is another since it was asked. */
	run(bench, "/export talk.md");
	free(replace);
	replace = mem_strdup(bench->result.choices[1].line);
	host_bench_write(&bench->of, "project/talk.md", "mine\n");
	must_fail(bench, replace, "talk.md");
	kept = host_bench_read(&bench->of, "project/talk.md");
	assert_string_equal(kept, "mine\n");
	bench->context.can &= ~(1u << COMMAND_CHOOSE);
	must_fail(bench, "/export talk.md", "already");
	must_say(bench, "/export again.md", "again.md");
	markdown = host_bench_read(&bench->of, "project/again.md");
	json = host_bench_read(&bench->of, "project/talk.json");
	assert_non_null(strstr(markdown, "## User\n\n> One\n\n## "));
	assert_non_null(strstr(markdown, "First."));
	assert_non_null(strstr(json, "\"role\": \"model\""));
}

static void one_goes_back_to_a_prompt(void **state)
{
	static const char *const replies[] = { "First.", "Second.", NULL };
	struct bench *bench = *state;
	_cleanup_free_ char *line = NULL;

	open_host(bench, replies);
	must_fail(bench, "/rewind", "no prompt");
	must_fail(bench, "/rewind undo", "othing to undo");
	host_bench_prompt(&bench->of, "One");
	host_bench_prompt(&bench->of, "Two");
	run(bench, "/rewind");
	assert_int_equal(bench->result.then, COMMAND_CHOOSE);
	assert_string_equal(bench->result.choices[0].label, "Two");
	line = mem_strdup(bench->result.choices[0].line);
	must_say(bench, line, "/rewind undo");
	assert_int_equal(bench->result.then, COMMAND_REFRESH);
	assert_string_equal(bench->result.text, "Two");
	run(bench, "/copy");
	assert_string_equal(bench->result.text, "First.");
	run(bench, "/rewind undo");
	assert_int_equal(bench->result.then, COMMAND_REFRESH);
	run(bench, "/copy");
	assert_string_equal(bench->result.text, "Second.");
	run(bench, "/rewind 2");
	assert_string_equal(bench->result.text, "One");
	run(bench, "/rewind undo");
	run(bench, "/rewind 1 conversation");
	assert_string_equal(bench->result.text, "Two");
	must_fail(bench, "/rewind 1 files", "no checkpoints");
	must_fail(bench, "/rewind 7", "/rewind [NUMBER");
	must_fail(bench, "/restore", "No checkpoints are kept");
}

/* ---- custom commands ------------------------------------------------------------------------- */

static void must_send(struct bench *bench, const char *line, const char *wanted)
{
	run(bench, line);
	if (!bench->result.ok || bench->result.then != COMMAND_SEND ||
	    strcmp(bench->result.text, wanted) != 0)
		fail_msg("%s sends %s: %s", line,
		         bench->result.text ? bench->result.text : "nothing", bench->said.data);
	assert_true(bench->result.plain);
}

static void custom_commands_are_expanded(void **state)
{
	struct bench *bench = *state;

	host_bench_write(&bench->of, "user/.gemini/commands/git/fix it.toml",
	                 "prompt = \"Fix: {{args}}.\"\ndescription = \"Fixes\"\n");
	host_bench_write(&bench->of, "user/.gemini/commands/plain.toml", "prompt = \"Do.\"\n");
	host_bench_write(&bench->of, "user/.gemini/commands/help.toml", "prompt = \"Own.\"\n");
	host_bench_write(&bench->of, "project/.gemini/commands/plain.toml",
	                 "prompt = \"Theirs.\"\n");
	host_bench_write(&bench->of, "project/.gemini/commands/run.toml",
	                 "prompt = 'A !{printf %s {{args}}; echo \"{}\"} B {{args}} @{note}'\n");
	host_bench_write(&bench->of, "project/.gemini/commands/bad.toml", "prompt = 'A !{x'\n");
	host_bench_write(&bench->of, "project/.gemini/commands/wrong.toml", "prompt = 7\n");
	host_bench_write(&bench->of, "project/note", "Read !{touch made} {{args}}");
	bench->of.mode = MODE_YOLO;
	open_host(bench, nothing);
	must_send(bench, "/git:fix_it the build", "Fix: the build.");
	must_send(bench, "/plain", "Do.");
	must_send(bench, "/user.plain", "Do.");
	must_send(bench, "/user.plain  now ", "Do.\n\n/user.plain  now");
	must_send(bench, "/workspace.plain", "Theirs.");
	must_send(bench, "/project:plain", "Theirs.");
	must_send(bench, "/user.help", "Own.");
	/* What is put in is one word for the shell, and nothing in it is run. */
	must_send(bench, "/run a'b; $(touch made)", "A a'b; $(touch made){} B a'b; $(touch made) "
	          "Read !{touch made} {{args}}");
	assert_null(host_bench_read(&bench->of, "project/made"));
	must_fail(bench, "/bad", "do not close");
	must_fail(bench, "/wrong", "\"prompt\"");
	must_say(bench, "/help", "/git:fix_it");
	must_offer(bench, "/git", "/git:fix_it ");
}

static void commands_of_claude_code_are_expanded(void **state)
{
	struct bench *bench = *state;

	host_bench_write(&bench->of, "user/.claude/commands/git/issue.md",
	                 "---\ndescription: Fixes an issue\nargument-hint: [number] [priority]\n"
	                 "allowed-tools: Bash(git:*)\n---\n\nFix $1 at $2 ($3): $ARGUMENTS.\n");
	host_bench_write(&bench->of, "user/.claude/commands/zero.md",
	                 "First $0, then $1 or $ARGUMENTS[1], $HOME, $10.");
	host_bench_write(&bench->of, "user/.claude/commands/none.md", "# Heading\n\nDo it.\n");
	host_bench_write(&bench->of, "user/.claude/commands/help.md", "Own.");
	host_bench_write(&bench->of, "user/.gemini/commands/both.toml", "prompt = \"Gemini's.\"\n");
	host_bench_write(&bench->of, "user/.claude/commands/both.md", "Claude's.");
	host_bench_write(&bench->of, "project/.claude/commands/run.md",
	                 "A !`printf '[%s]' $ARGUMENTS \"<$ARGUMENTS>\" '$2'` B`!`x` "
	                 "See @note, @$1 and @alice.");
	host_bench_write(&bench->of, "project/.claude/commands/bad.md", "---\ndescription: [\n: x\n");
	host_bench_write(&bench->of, "project/note", "Read !`touch made` $1 @other");
	host_bench_write(&bench->of, "project/other", "Not read.");
	bench->of.mode = MODE_YOLO;
	open_host(bench, nothing);
	must_send(bench, "/git:issue 7 'very high'",
	          "Fix 7 at very high ($3): 7 'very high'.");
	must_send(bench, "/issue 7 now soon", "Fix 7 at now (soon): 7 now soon.");
	must_send(bench, "/zero a b", "First a, then b or b, $HOME, $10.");
	must_send(bench, "/none", "# Heading\n\nDo it.");
	must_send(bench, "/none at once", "# Heading\n\nDo it.\n\nARGUMENTS: at once");
	must_send(bench, "/user.help", "Own.");
	must_send(bench, "/both", "Gemini's.");
	must_send(bench, "/claude.both", "Claude's.");
	must_send(bench, "/claude:both", "Claude's.");
	/* What was typed stays words, whatever quotes stand around it, and nothing of it is run. */
	must_send(bench, "/run a;b $(touch${IFS}made)",
	          "A [a;b][$(touch${IFS}made)][<a;b $(touch${IFS}made)>][$(touch${IFS}made)] "
	          "B`!`x` See @note, @a;b and @alice.\n\n"
	          "--- Content of @note ---\nRead !`touch made` $1 @other");
	assert_null(host_bench_read(&bench->of, "project/made"));
	must_say(bench, "/help", "/git:issue");
	must_say(bench, "/help", "Fixes an issue  [number] [priority]");
	must_offer(bench, "/iss", "/git:issue ");
}

static void the_policy_has_its_say_in_custom_commands(void **state)
{
	struct bench *bench = *state;

	host_bench_write(&bench->of, "user/.gemini/commands/run.toml",
	                 "prompt = 'A !{touch made}'\n");
	open_host(bench, nothing); /* nobody is there to be asked */
	must_fail(bench, "/run", "touch made");
	assert_null(host_bench_read(&bench->of, "project/made"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sessions_are_saved_listed_and_resumed),
		TEST(a_session_is_exported),
		TEST(one_goes_back_to_a_prompt),
		TEST(custom_commands_are_expanded),
		TEST(commands_of_claude_code_are_expanded),
		TEST(the_policy_has_its_say_in_custom_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
