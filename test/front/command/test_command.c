/* SPDX-License-Identifier: Apache-2.0 */
/* Every slash command, as a front without a screen and one with it sees them. */
#include "command_bench.h"

/* ---- the table ------------------------------------------------------------------------ */

static void lines_are_commands_or_not(void **state)
{
	static const char *const yes[] = { "/help", "/chat list", " /stats ", "?", "/?", "/nothing" };
	static const char *const no[] = { "", "help", "/", "//help", "/usr/bin/true", "/tmp", "a /b",
		                          "/a+b", "?x" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (!command_is(span_str(yes[i])))
			fail_msg("\"%s\" is a command", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (command_is(span_str(no[i])))
			fail_msg("\"%s\" is no command", no[i]);
}

static void rows_are_in_order_and_found_by_each_of_their_names(void **state)
{
	const struct command_info *command, *before = NULL;

	(void)state;
	for (size_t i = 0; (command = command_at(i)); i++, before = command) {
		_cleanup_free_ char *line = mem_printf("/%s", command->name);
		struct span aliases = span_str(command->aliases);

		assert_true(!before || strcmp(before->name, command->name) < 0);
		assert_ptr_equal(command_of(span_str(line)), command);
		assert_true(*command->help && command->help[strlen(command->help) - 1] != '.');
		while (aliases.len) {
			size_t len = strcspn(aliases.data, " ");
			_cleanup_free_ char *other = mem_printf("/%.*s", (int)len, aliases.data);

			assert_ptr_equal(command_of(span_str(other)), command);
			aliases = span_trim(span_skip(aliases, len));
		}
	}
	assert_string_equal(command_of(SPAN("/sett x"))->name, "settings");
	assert_null(command_of(SPAN("/t")));
}

static void help_has_every_command_and_says_how_one_is_used(void **state)
{
	struct bench *bench = *state;
	const struct command_info *command;

	open_host(bench, nothing);
	for (size_t i = 0; (command = command_at(i)); i++) {
		_cleanup_free_ char *name = mem_printf("/%s ", command->name);
		_cleanup_free_ char *help = mem_printf("/help %s", command->name);

		must_say(bench, "/help", name);
		must_say(bench, "?", name);
		must_say(bench, help, command->help);
	}
	must_say(bench, "/help compress", "Also: /summarize, /compact");
	must_fail(bench, "/statz", "Did you mean /stats?");
	must_fail(bench, "/zzzzz", "begin it with //");
}

/* ---- names and arguments ----------------------------------------------------------------- */

/* What users of other agents type: Claude Code, Codex, Gemini CLI, opencode. */
static const char *const movers[] = {
	/* Claude Code 2.1 */
	"add-dir", "agents", "bashes", "branch", "btw", "bug", "checkpoint", "clear", "color",
	"compact", "config", "effort", "context", "continue", "copy", "cost", "desktop", "diff", "doctor",
	"exit", "export", "extra-usage", "fast", "feedback", "fork", "help", "hooks", "ide", "init",
	"install-github-app", "keybindings", "login", "logout", "mcp", "memory", "mobile", "model",
	"new", "output-style", "permissions", "allowed-tools", "plan", "plugin", "pr-comments",
	"privacy-settings", "quit", "release-notes", "remote-control", "rename", "reset", "resume",
	"review", "rewind", "sandbox", "security-review", "settings", "skills", "stats", "status",
	"statusline", "tasks", "terminal-setup", "theme", "todos", "upgrade", "usage", "vim",
	"voice",
	/* Codex 0.169 */
	"agent", "approvals", "apps", "archive", "debug-config", "delete", "experimental", "goal",
	"keymap", "memories", "mention", "personality", "plugins", "ps", "raw", "rollout", "side",
	"stop", "subagents", "title",
	/* opencode 1.18 */
	"connect", "details", "models", "redo", "sessions", "share", "summarize", "themes",
	"thinking", "undo", "unshare", "q",
	/* Gemini CLI 0.61 */
	"about", "auth", "bug-memory", "chat", "commands", "compress", "corgi", "directory", "dir",
	"docs", "editor", "export-session", "extensions", "footer", "gemma", "key", "oncall",
	"policies", "privacy", "profile", "restore", "setup-github", "shortcuts", "bg", "tools",
};

static void each_name_that_movers_type_is_known(void **state)
{
	struct bench *bench = *state;
	_cleanup_free_ char *all = NULL;

	open_host(bench, nothing);
	all = mem_strdup(run(bench, "/help"));
	for (size_t i = 0; i < ARRAY_LEN(movers); i++) {
		_cleanup_free_ char *line = mem_printf("/%s", movers[i]);
		_cleanup_free_ char *help = mem_printf("/help %s", movers[i]);
		_cleanup_free_ char *offered = mem_printf(":/%s ", movers[i]);

		if (!strstr(all, line))
			fail_msg("/help lacks %s", line);
		must_offer(bench, line, offered);
		if (!command_of(span_str(line)))
			must_fail(bench, line, "hasp has no /");
		if (strstr(run(bench, help), "Unknown command"))
			fail_msg("%s: %s", help, bench->said.data);
	}
}

static void another_agents_name_takes_arguments_too(void **state)
{
	static const char *const words[] = { "First.", NULL };
	struct bench *bench = *state;

	open_host(bench, words);
	host_bench_prompt(&bench->of, "One");
	must_say(bench, "/rename A better name", "This session is called: A better name");
	must_fail(bench, "/add-dir ../lib", "/lib: No such file or directory.");
	run(bench, "/undo");
	assert_string_equal(bench->result.text, "One");
	must_offer(bench, "/stop ", "");
}

/* Forms that take whatever follows are those with "..."; a NAME takes one word. */
static void no_command_ignores_its_arguments(void **state)
{
	struct bench *bench = *state;
	const struct command_info *command;

	open_host(bench, nothing);
	for (size_t i = 0; (command = command_at(i)); i++) {
		const struct command_form *form = command->forms;
		_cleanup_free_ char *line = mem_printf("/%s zz zz zz zz zz zz", command->name);
		_cleanup_free_ char *usage = mem_printf("Usage: /%s [", command->name);
		bool takes_all = false;

		for (; form && form->words; form++)
			takes_all = takes_all || (form->words[0] >= 'A' && form->words[0] <= 'Z' &&
			                          strstr(form->words, "..."));
		if (!takes_all)
			must_fail(bench, line, command->forms ? usage : "takes no arguments");
	}
	must_fail(bench, "/chat foo", "Usage: /chat [list | save TAG [replace] | resume WHICH");
	must_fail(bench, "/hooks disable none", "no hook");
	must_fail(bench, "/hooks foo", "Usage: /hooks [list | enable NAME | disable NAME | trust]");
	must_fail(bench, "/theme dracula", "dracula");
	must_fail(bench, "/permissions foo", "Usage: /permissions");
	must_fail(bench, "/tasks end", "Usage: /tasks");
	must_say(bench, "/bug It broke", "It broke");
}

static void each_word_of_a_form_is_offered_with_what_it_does(void **state)
{
	struct bench *bench = *state;

	open_host(bench, nothing);
	must_offer(bench, "/agents ", "8-8:list 8-8:enable 8-8:disable 8-8:reload ");
	must_offer(bench, "/rewind 1 ", "both ");
	must_offer(bench, "/extensions disable x --scope ", "user ");
	must_offer(bench, "/docs sett", "settings.md ");
	must_offer(bench, "/restor", "0-7:/restore ");
	must_offer(bench, "/permissions re", "13-15:revoke ");
}

static void hooks_are_switched(void **state)
{
	struct bench *bench = *state;

	host_bench_write(&bench->of, "user/.gemini/settings.json",
	                 "{\"hooks\": {\"BeforeTool\": [{\"matcher\": \"write_file\", \"hooks\": "
	                 "[{\"type\": \"command\", \"name\": \"guard\", \"command\": \"true\"}]}]}}");
	open_host(bench, nothing);
	must_say(bench, "/hooks", "guard");
	must_say(bench, "/hooks", "on, BeforeTool of write_file");
	must_offer(bench, "/hooks disable ", "guard ");
	must_say(bench, "/hooks disable guard", "is disabled");
	must_say(bench, "/hooks list", "disabled, BeforeTool");
	must_offer(bench, "/hooks enable ", "guard ");
	must_say(bench, "/hooks enable guard", "is enabled");
	must_say(bench, "/hooks", "on, BeforeTool");
}

static void changes_are_shown_and_reviewed(void **state)
{
	struct bench *bench = *state;

	bench->of.mode = MODE_YOLO;
	open_host(bench, nothing);
	must_fail(bench, "/diff", "git");
	run(bench, "/review");
	assert_int_equal(bench->result.then, COMMAND_SEND);
	assert_non_null(strstr(bench->result.text, "uncommitted"));
	run(bench, "/security-review");
	assert_non_null(strstr(bench->result.text, "security problems only"));
	host_bench_write(&bench->of, "user/.gemini/commands/review.toml", "prompt = \"Mine.\"\n");
	run(bench, "/review");
	assert_string_equal(bench->result.text, "Mine.");
}

static void a_front_that_cannot_is_told(void **state)
{
	static const char *const lines[] = { "/quit", "/shortcuts", "/vim", "/theme Dark", "/init" };
	struct bench *bench = *state;

	open_host(bench, nothing);
	bench->context.can = 0;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		must_fail(bench, lines[i], "is for a terminal");
	bench->context.can = ~0u;
	bench->context.busy = true;
	must_fail(bench, "/compress", "has to wait");
	must_fail(bench, "/settings ui.theme Dark", "while hasp is working");
}

/* ---- what there is ------------------------------------------------------------------------ */

static void each_shows_what_there_is(void **state)
{
	struct bench *bench = *state;

	host_bench_write(&bench->of, "project/GEMINI.md", "Use tabs.\n");
	open_host(bench, nothing);
	must_say(bench, "/about", "replay");
	must_say(bench, "/about", bench->result.ok ? host_facts(bench->of.host).session_id : "");
	must_say(bench, "/bug Broken", "A report should contain this");
	assert_null(strstr(bench->said.data, host_facts(bench->of.host).session_id));
	must_say(bench, "/docs", "man hasp");
	must_say(bench, "/docs hooks", "BeforeTool");
	must_fail(bench, "/docs nothing", "no page");
	must_say(bench, "/about", "tokens");
	run(bench, "/doctor");
	assert_non_null(strstr(bench->said.data, "ok model"));
	must_say(bench, "/directory show", bench->of.root);
	must_fail(bench, "/directory add /", "/ cannot be a folder of the workspace");
	must_say(bench, "/hooks", "There are no hooks");
	must_say(bench, "/mcp", "no MCP servers");
	must_fail(bench, "/mcp restart", "/mcp");
	must_say(bench, "/memory list", "GEMINI.md");
	must_say(bench, "/memory show", "Use tabs.");
	must_say(bench, "/policies list", "default");
	must_say(bench, "/policies write_file", "write_file");
	run(bench, "/model list");
	assert_non_null(strstr(bench->said.data, "Model: replay"));
	must_say(bench, "/model effort high", "Effort: high");
	must_fail(bench, "/model effort huge", "Usage: /model");
	must_fail(bench, "/model nowhere/x", "nowhere");
	must_say(bench, "/stats", "Calls of tools");
	must_say(bench, "/stats model", "No model was asked yet");
	must_say(bench, "/tasks", "No command is in the background");
	must_fail(bench, "/tasks 7", "number \"7\"");
	must_say(bench, "/todos", "no list");
	must_say(bench, "/tools", "read_file");
	must_say(bench, "/tools desc", "Reads");
	must_fail(bench, "/stats nonsense", "/stats [session");
}

static void files_of_instructions_are_read_again(void **state)
{
	struct bench *bench = *state;

	open_host(bench, nothing);
	must_say(bench, "/memory list", "/init");
	host_bench_write(&bench->of, "project/GEMINI.md", "Use tabs.\n");
	must_say(bench, "/memory reload", "GEMINI.md");
	must_say(bench, "/memory show", "Use tabs.");
}

static void agents_are_switched_and_found_anew(void **state)
{
	static const char fruit[] = "---\nname: fruit\ndescription: Does fruit.\n---\nDo it.\n";
	struct bench *bench = *state;

	open_host(bench, nothing);
	must_say(bench, "/agents", "reviewer");
	assert_null(strstr(bench->said.data, "Disabled Agents"));
	host_bench_write(&bench->of, "project/.gemini/agents/fruit.md", fruit);
	must_say(bench, "/agents list", "Available Agents");
	assert_null(strstr(bench->said.data, "fruit"));
	must_say(bench, "/agents reload", "Agents reloaded successfully: 5.");
	must_say(bench, "/agents", "Does fruit.");
	must_offer(bench, "/agents disable f", "16-17:fruit ");
	must_say(bench, "/agents disable FRUIT", "is disabled now");
	must_say(bench, "/agents", "Disabled Agents");
	must_offer(bench, "/agents enable ", "15-15:fruit ");
	must_say(bench, "/agents enable fruit", "is enabled now");
	must_say(bench, "/agents refresh", "successfully: 5.");
	must_fail(bench, "/agents disable none", "not found");
	must_fail(bench, "/agents disable", "/agents [list");
	must_fail(bench, "/agents enable a b", "/agents [list");
	must_fail(bench, "/agents nonsense", "/agents [list");
	must_fail(bench, "/agents reload x", "/agents [list");
}

static void skills_are_switched_and_found_anew(void **state)
{
	static const char notes[] = "---\nname: notes\ndescription: Does notes.\n---\nDo it.\n";
	static const char other[] = "---\nname: other\ndescription: Does others.\n---\nDo it.\n";
	struct bench *bench = *state;

	open_host(bench, nothing);
	must_say(bench, "/skills", "No skills available");
	host_bench_write(&bench->of, "project/.gemini/skills/notes/SKILL.md", notes);
	must_say(bench, "/skills list", "No skills available");
	must_say(bench, "/skills reload", "1 newly available skill.");
	must_say(bench, "/skills", "Does notes.");
	must_say(bench, "/tools", "activate_skill");
	must_offer(bench, "/not", "0-4:/notes ");
	must_say(bench, "/help notes", "Does notes.");
	must_offer(bench, "/skills disable n", "16-17:notes ");
	must_say(bench, "/skills disable NOTES", "disabled by adding it to the disabled list in user");
	must_say(bench, "/skills nodesc", "Disabled Skills");
	assert_null(strstr(bench->said.data, "Does notes."));
	must_say(bench, "/tools", "read_file");
	assert_null(strstr(bench->said.data, "activate_skill"));
	must_offer(bench, "/skills enable ", "15-15:notes ");
	host_bench_write(&bench->of, "user/.gemini/skills/other/SKILL.md", other);
	must_say(bench, "/skills enable notes", "enabled by removing it");
	must_say(bench, "/skills list", "Does others.");
	must_fail(bench, "/skills disable none", "not found");
	must_fail(bench, "/skills disable", "/skills [list");
	must_fail(bench, "/skills disable notes --scope system", "/skills [list");
	must_fail(bench, "/skills nonsense", "/skills [list");
	bench->context.local = false;
	must_fail(bench, "/skills disable notes --scope workspace", "another machine");
}

static void the_last_answer_is_copied(void **state)
{
	static const char *const words[] = { "First.", "Second.", NULL };
	struct bench *bench = *state;

	open_host(bench, words);
	must_fail(bench, "/copy", "no answer yet");
	host_bench_prompt(&bench->of, "One");
	host_bench_prompt(&bench->of, "Two");
	assert_non_null(run(bench, "/copy"));
	assert_int_equal(bench->result.then, COMMAND_COPY);
	assert_string_equal(bench->result.text, "Second.");
	must_say(bench, "/stats", "requests");
}

/* ---- what changes ---------------------------------------------------------------------------- */

static void settings_are_found_and_changed(void **state)
{
	struct bench *bench = *state;
	_cleanup_free_ char *written = NULL;

	host_bench_write(&bench->of, "user/.gemini/settings.json",
	                 "{\n\t// mine\n\t\"ui\": {}\n}\n");
	open_host(bench, nothing);
	must_say(bench, "/settings vim", "general.vimMode = false");
	must_say(bench, "/settings general.vimMode true", "general.vimMode = true");
	must_say(bench, "/settings vimMode", "# user ");
	written = host_bench_read(&bench->of, "user/.gemini/settings.json");
	assert_non_null(strstr(written, "// mine"));
	assert_non_null(strstr(written, "\"vimMode\": true"));
	must_say(bench, "/settings unset general.vimMode", "general.vimMode = false");
	must_fail(bench, "/settings general.vimMode perhaps", "general.vimMode");
	run(bench, "/settings");
	assert_int_equal(bench->result.then, COMMAND_CHOOSE);
	must_say(bench, "/settings edit general.enableNotifications", "general.enableNotifications = true");
	assert_int_equal(bench->result.then, COMMAND_CHOOSE);
	run(bench, "/settings edit general.defaultApprovalMode");
	assert_string_equal(bench->result.choices[1].line, "/settings general.defaultApprovalMode auto_edit");
	run(bench, "/settings edit model.name");
	assert_int_equal(bench->result.then, COMMAND_COMPOSE);
	must_offer(bench, "/settings general.defaultApprovalMode ", "auto_edit ");
	must_fail(bench, "/settings general.vimMod true", "vimMode");
	must_fail(bench, "/settings nothing-like-it", "No setting");
}

static void secrets_are_not_shown(void **state)
{
	struct bench *bench = *state;

	host_bench_write(&bench->of, "user/.gemini/settings.json",
	           "{\"mcpServers\": {\"a\": {\"env\": {\"API_KEY\": \"sk-1234567890\"}}}}");
	open_host(bench, nothing);
	must_say(bench, "/settings mcpServers", "API_KEY");
	assert_null(strstr(bench->said.data, "sk-1234567890"));
}

static void themes_and_editors_are_chosen(void **state)
{
	struct bench *bench = *state;

	open_host(bench, nothing);
	run(bench, "/theme");
	assert_int_equal(bench->result.then, COMMAND_CHOOSE);
	assert_int_equal(bench->result.choice_count, 2);
	assert_string_equal(bench->result.choices[1].line, "/theme Light");
	run(bench, "/theme Light");
	assert_int_equal(bench->result.then, COMMAND_THEME);
	assert_string_equal(bench->result.text, "Light");
	run(bench, "/theme");
	assert_true(bench->result.choices[1].chosen && !bench->result.choices[0].chosen);
	must_fail(bench, "/theme Nope", "no theme");
	must_say(bench, "/editor hx", "hx");
	assert_string_equal(settings_string(bench->of.settings, "general.preferredEditor", ""), "hx");
	must_fail(bench, "/editor ed", "VISUAL");
	must_say(bench, "/vim", "on");
	assert_int_equal(bench->result.then, COMMAND_VIM);
	must_say(bench, "/vim", "off");
}

static void trust_is_shown_and_decided_on(void **state)
{
	struct bench *bench = *state;

	host_bench_write(&bench->of, "project/.gemini/settings.json", "{}");
	open_host(bench, nothing);
	must_say(bench, "/permissions", ".gemini/settings.json");
	assert_int_equal(bench->result.then, COMMAND_CHOOSE);
	assert_string_equal(bench->result.choices[0].label, "Mode: default");
	run(bench, "/permissions mode");
	assert_int_equal(bench->result.choice_count, 4);
	must_say(bench, "/permissions mode auto_edit", "Mode: auto_edit");
	assert_int_equal(agent_mode(host_facts(bench->of.host).agent), MODE_AUTO_EDIT);
	must_fail(bench, "/permissions mode never", "Usage: /permissions");
	must_fail(bench, "/permissions revoke 1", "No permission");
	must_say(bench, "/policies plan", "in mode plan");
	must_say(bench, "/permissions trust", "Trusted: ");
}

static void plan_mode_begins_and_init_sends_a_prompt(void **state)
{
	struct bench *bench = *state;

	open_host(bench, nothing);
	must_say(bench, "/plan", "Plan mode");
	assert_int_equal(agent_mode(host_facts(bench->of.host).agent), MODE_PLAN);
	must_fail(bench, "/plan copy", "no plan yet");
	run(bench, "/init");
	assert_int_equal(bench->result.then, COMMAND_SEND);
	assert_non_null(strstr(bench->result.text, "GEMINI.md"));
	host_bench_write(&bench->of, "project/GEMINI.md", "x\n");
	must_fail(bench, "/init", "already");
}

/* ---- completion ------------------------------------------------------------------------------ */

static void names_and_arguments_are_completed(void **state)
{
	struct bench *bench = *state;

	open_host(bench, nothing);
	must_offer(bench, "/", "0-1:/about ");
	must_offer(bench, "/st", "0-3:/stats ");
	must_offer(bench, "/ools", "0-5:/tools ");
	must_offer(bench, "/stats m", "7-8:model ");
	must_offer(bench, "/settings vim", "10-13:general.vimMode ");
	must_offer(bench, "/settings general.vimMode ", "true ");
	must_offer(bench, "/theme l", "7-8:Light ");
	must_offer(bench, "/help th", "6-8:theme ");
	must_offer(bench, "/memory r", "reload ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_commands_or_not),
		cmocka_unit_test(rows_are_in_order_and_found_by_each_of_their_names),
		TEST(help_has_every_command_and_says_how_one_is_used),
		TEST(each_name_that_movers_type_is_known),
		TEST(another_agents_name_takes_arguments_too),
		TEST(no_command_ignores_its_arguments),
		TEST(each_word_of_a_form_is_offered_with_what_it_does),
		TEST(hooks_are_switched),
		TEST(changes_are_shown_and_reviewed),
		TEST(a_front_that_cannot_is_told),
		TEST(each_shows_what_there_is),
		TEST(files_of_instructions_are_read_again),
		TEST(agents_are_switched_and_found_anew),
		TEST(skills_are_switched_and_found_anew),
		TEST(the_last_answer_is_copied),
		TEST(settings_are_found_and_changed),
		TEST(secrets_are_not_shown),
		TEST(themes_and_editors_are_chosen),
		TEST(trust_is_shown_and_decided_on),
		TEST(plan_mode_begins_and_init_sends_a_prompt),
		TEST(names_and_arguments_are_completed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
