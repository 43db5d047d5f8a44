/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over argv, driven by the table. */
#include "cli/options/invocation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "data/schema.h"

/* More flags than any row of the table has, and more commands than there are. */
enum { ROWS_MAX = 64 };

struct cursor {
	int argc;
	char *const *argv;
	int next; /* index of the next word */
};

void invocation_release(struct invocation *invocation)
{
	free(invocation->flags);
	free(invocation->positionals);
	*invocation = (struct invocation){ 0 };
}

bool invocation_has(const struct invocation *invocation, enum flag_id id)
{
	for (size_t i = 0; i < invocation->flag_count; i++) {
		if (invocation->flags[i].id == id)
			return true;
	}
	return false;
}

const char *invocation_value(const struct invocation *invocation, enum flag_id id)
{
	for (size_t i = invocation->flag_count; i-- > 0;) {
		if (invocation->flags[i].id == id)
			return invocation->flags[i].value;
	}
	return NULL;
}

bool invocation_value_is(const struct invocation *invocation, enum flag_id id, const char *word)
{
	const char *given = invocation_value(invocation, id);

	return given && strcmp(given, word) == 0;
}

const char **invocation_values(const struct invocation *invocation, enum flag_id id,
                               size_t *ret_count)
{
	const char **values = mem_alloc(invocation->flag_count + 2, sizeof(*values));

	*ret_count = 0;
	for (size_t i = 0; i < invocation->flag_count; i++)
		if (invocation->flags[i].id == id)
			values[(*ret_count)++] = invocation->flags[i].value;
	return values;
}

const char *invocation_positional(const struct invocation *invocation, size_t i)
{
	return i < invocation->positional_count ? invocation->positionals[i] : NULL;
}

/* Flags of other agents, and what hasp has instead; a letter stands for a short flag. Of the
 * program itself alone. */
static const struct {
	const char *name, *instead;
} other_flags[] = {
	{ "last", "to continue the last session: hasp -c; in a copy: type /fork there" },
	{ "print", "to print an answer and exit: -p PROMPT" },
	{ "permission-mode", "to choose what runs without asking: --approval-mode" },
	{ "a", "to choose what runs without asking: --approval-mode" },
	{ "ask-for-approval", "to choose what runs without asking: --approval-mode" },
	{ "agent", "to plan first: --approval-mode plan" },
	{ "fork-session", "to continue in a copy: hasp --resume, and type /fork" },
	{ "full-auto", "to edit and run commands without asking, in the sandbox: -y" },
	{ "dangerously-skip-permissions", "to run without asking: -y" },
	{ "dangerously-bypass-approvals-and-sandbox", "to run without asking: -y; without a "
	  "sandbox: --sandbox none" },
	{ "add-dir", "to add folders to the workspace: --include-directories" },
	{ "C", "change to the folder first: cd DIR" },
	{ "cd", "change to the folder first: cd DIR" },
	{ "cwd", "change to the folder first: cd DIR" },
	{ "allowedTools", "to allow tools: --allowed-tools, or hasp policy allow" },
	{ "disallowedTools", "to forbid a tool or command: hasp policy deny" },
	{ "max-turns", "the setting is model.maxSessionTurns: hasp config set" },
	{ "append-system-prompt", "instructions go into GEMINI.md" },
	{ "system-prompt", "instructions go into GEMINI.md" },
	{ "oss", "local models: -m ollama/NAME" },
	{ "image", "name the image in the prompt: @FILE" },
	{ "file", "name the file in the prompt: @FILE" },
	{ "verbose", "to see requests and prompts: --debug" },
	{ "config", "to change a setting: hasp config set" },
	{ "profile", "settings are in ~/.gemini/settings.json: hasp config" },
	{ "session", "to resume a session: --resume ID" },
	{ "checkpointing", "checkpoints are kept in the terminal; else: hasp config set "
	  "general.checkpointing.enabled true" },
};

static const char *other_flag(const struct command *command, const char *name)
{
	for (size_t i = 0; command == command_root() && i < ARRAY_LEN(other_flags); i++)
		if (strcmp(other_flags[i].name, name) == 0)
			return other_flags[i].instead;
	return NULL;
}

static bool unknown_flag(const struct command *command, const char *name, struct err *err)
{
	const char *known[ROWS_MAX];
	const char *instead = other_flag(command, name);
	size_t count = 0;
	const char *near;

	if (instead)
		return err_set(err, ERR_INVALID_ARGUMENT, "Unknown option --%s; %s", name, instead);

	for (size_t i = 0; i < command->flag_count && count < ROWS_MAX; i++) {
		if (!command->flags[i].hidden)
			known[count++] = command->flags[i].name;
	}
	near = schema_nearest_name(name, known, count);
	if (near)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Unknown option --%s; did you mean --%s?", name, near);
	return err_set(err, ERR_INVALID_ARGUMENT, "Unknown option --%s.", name);
}

static const char *nearest_command(const char *name)
{
	const char *known[ROWS_MAX];
	size_t count = 0;

	while (count < command_count() && count < ROWS_MAX) {
		known[count] = command_listed(count)->name;
		count++;
	}
	return schema_nearest_name(name, known, count);
}

bool command_unknown(const char *name, struct err *err)
{
	const char *near = nearest_command(name);

	if (near)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Unknown command \"%s\"; did you mean \"%s\"?", name, near);
	return err_set(err, ERR_INVALID_ARGUMENT, "Unknown command \"%s\".", name);
}

static bool value_allowed(const struct value *value, const char *what, const char *given,
                          struct err *err)
{
	_cleanup_buf_ struct buf all = BUF_INIT(ERR_MESSAGE_MAX);

	if (!value->choices)
		return true;
	for (size_t i = 0; value->choices[i]; i++) {
		if (strcmp(value->choices[i], given) == 0)
			return true;
		buf_printf(&all, "%s%s", i == 0 ? "" : value->choices[i + 1] ? ", " : " or ",
		           value->choices[i]);
	}
	return err_set(err, ERR_INVALID_ARGUMENT, "%s is %s, not \"%s\".", what, all.data, given);
}

/* A switch that also takes the value "false". */
static bool add_boolean(struct invocation *ret, const struct flag *flag, const char *given,
                        struct err *err)
{
	size_t kept;

	if (given && strcmp(given, "true") != 0 && strcmp(given, "false") != 0)
		return err_set(err, ERR_INVALID_ARGUMENT, "--%s is true or false, not \"%s\".",
		               flag->name, given);
	kept = 0;
	for (size_t i = 0; i < ret->flag_count; i++)
		if (ret->flags[i].id != flag->id)
			ret->flags[kept++] = ret->flags[i];
	ret->flag_count = kept;
	if (!given || strcmp(given, "true") == 0)
		ret->flags[ret->flag_count++] = (struct flag_value){ flag->id, NULL };
	return true;
}

static bool add_flag(struct invocation *ret, const struct flag *flag, const char *given,
                     struct err *err)
{
	_cleanup_free_ char *what = mem_printf("--%s", flag->name);

	if (flag->boolean && !flag->value.name)
		return add_boolean(ret, flag, given, err);
	given = flag->fixed ? flag->fixed : given;
	/* A switch counts once: "-jjjj" must not outgrow the array. */
	if (!flag->value.name && invocation_has(ret, flag->id))
		return true;
	if (!flag->repeatable && invocation_has(ret, flag->id))
		return err_set(err, ERR_INVALID_ARGUMENT, "%s is given twice.", what);
	if (given && !value_allowed(&flag->value, what, given, err))
		return false;
	ret->flags[ret->flag_count++] = (struct flag_value){ flag->id, given };
	return true;
}

static bool value_is_choice(const struct value *value, const char *word)
{
	for (size_t i = 0; value->choices[i]; i++)
		if (strcmp(value->choices[i], word) == 0)
			return true;
	return false;
}

/* Whether the next word is the value of a flag that can do without. */
static bool next_is_value(const struct cursor *cursor, const struct flag *flag)
{
	const char *word = cursor->next < cursor->argc ? cursor->argv[cursor->next] : NULL;

	if (!word)
		return false;
	if (!flag->value.name)
		return strcmp(word, "true") == 0 || strcmp(word, "false") == 0;
	return flag->value.choices ? value_is_choice(&flag->value, word) : word[0] != '-';
}

/* A word after a flag that can do without a value is a prompt, unless it looks like one of its
 * values: with a level that is misspelt, hasp would run with another, and ask the model. */
static bool check_no_value(const struct cursor *cursor, const struct flag *flag, struct err *err)
{
	const char *word = cursor->next < cursor->argc ? cursor->argv[cursor->next] : NULL;
	const char *near = NULL;
	size_t count = 0;

	if (!word || !flag->value.choices || word[0] == '-' || strpbrk(word, " \t\n"))
		return true;
	while (flag->value.choices[count])
		count++;
	near = schema_nearest_name(word, flag->value.choices, count);
	return !near || err_set(err, ERR_INVALID_ARGUMENT,
	                        "--%s has no value \"%.100s\"; did you mean \"%s\"? If it is the "
	                        "prompt, put it before --%s.", flag->name, word, near, flag->name);
}

/* The value of a flag that needs one: what is attached, or the next word. */
static bool take_value(struct cursor *cursor, const struct flag *flag, const char *attached,
                       const char **ret_value, struct err *err)
{
	if ((flag->optional || flag->boolean) && !attached && !next_is_value(cursor, flag))
		return check_no_value(cursor, flag, err);
	if (!flag->value.name && !flag->boolean) {
		if (attached)
			return err_set(err, ERR_INVALID_ARGUMENT, "--%s takes no value.",
			               flag->name);
		return true;
	}
	if (!attached && cursor->next >= cursor->argc)
		return err_set(err, ERR_INVALID_ARGUMENT, "--%s needs a value: %s.", flag->name,
		               flag->value.name);
	*ret_value = attached ? attached : cursor->argv[cursor->next++];
	return true;
}

/* "--no-NAME" of a flag that can be negated. */
static const struct flag *find_negated(const struct command *command, const char *name)
{
	for (size_t i = 0; strncmp(name, "no-", 3) == 0 && i < command->flag_count; i++)
		if (command->flags[i].boolean && strcmp(command->flags[i].name, name + 3) == 0)
			return &command->flags[i];
	return NULL;
}

static const struct flag *find_letter(const struct command *command, char letter)
{
	for (size_t i = 0; i < command->flag_count; i++) {
		if (command->flags[i].letter == letter)
			return &command->flags[i];
	}
	return NULL;
}

/* After `loose`, an unknown flag belongs to another program, and the whole word stays. */
static bool is_foreign_flag(const struct invocation *ret, const char *word)
{
	const struct command *command = ret->command;
	const char *name = word + 2;
	const size_t len = strcspn(name, "=");

	if (!command->loose || !ret->positional_count ||
	    strcmp(ret->positionals[0], command->loose) != 0)
		return false;
	if (word[1] != '-')
		return !find_letter(command, word[1]);
	for (size_t i = 0; i < command->flag_count; i++)
		if (strncmp(command->flags[i].name, name, len) == 0 &&
		    !command->flags[i].name[len])
			return false;
	return true;
}

static bool parse_long(struct cursor *cursor, const char *word, struct invocation *ret,
                       struct err *err)
{
	size_t len = strcspn(word, "=");
	const char *attached = word[len] == '=' ? word + len + 1 : NULL;
	_cleanup_free_ char *name = mem_dup(word, len);
	const struct flag *negated = attached ? NULL : find_negated(ret->command, name);

	if (negated)
		return add_flag(ret, negated, "false", err);
	for (size_t i = 0; i < ret->command->flag_count; i++) {
		const struct flag *flag = &ret->command->flags[i];
		const char *value = NULL;

		if (strcmp(flag->name, name) != 0)
			continue;
		return take_value(cursor, flag, attached, &value, err) &&
		       add_flag(ret, flag, value, err);
	}
	return unknown_flag(ret->command, name, err);
}

static bool unknown_letter(const struct command *command, const char *letters, struct err *err)
{
	const char name[2] = { letters[0], '\0' };
	const char *instead = other_flag(command, name);

	return err_set(err, ERR_INVALID_ARGUMENT, "Unknown option -%s%s%s", letters,
	               instead ? "; " : ".", instead ? instead : "");
}

/* Letters of switches can be joined: -jp. */
static bool parse_short(struct cursor *cursor, const char *letters, struct invocation *ret,
                        struct err *err)
{
	for (size_t i = 0; letters[i]; i++) {
		const struct flag *flag = find_letter(ret->command, letters[i]);
		const char *value = NULL;

		if (!flag)
			return unknown_letter(ret->command, letters + i, err);
		if ((flag->value.name || flag->boolean) &&
		    !((flag->optional || flag->boolean) && letters[i + 1])) {
			const char *attached = letters[i + 1] ? letters + i + 1 : NULL;

			return take_value(cursor, flag, attached, &value, err) &&
			       add_flag(ret, flag, value, err);
		}
		if (!add_flag(ret, flag, NULL, err))
			return false;
	}
	return true;
}

/* Of a command's flags the first with this id; NULL: none. */
static const struct flag *find_flag(const struct command *command, enum flag_id id)
{
	for (size_t i = 0; i < command->flag_count; i++)
		if (command->flags[i].id == id)
			return &command->flags[i];
	return NULL;
}

/* The first of the program's flags that may not stand before a command; NULL: none. "hasp --help
 * COMMAND" is about the command. */
static const struct flag *flag_in_the_way(const struct invocation *ret)
{
	for (size_t i = 0; i < ret->flag_count; i++) {
		const struct flag *flag = find_flag(command_root(), ret->flags[i].id);

		if (flag->id != FLAG_HELP && !flag->anywhere)
			return flag;
	}
	return NULL;
}

/* The name of a command, or a word of a prompt. */
static bool parse_word_of_root(const char *word, struct invocation *ret)
{
	const struct command *named = command_find(word);

	/* After other flags and words there are only words. */
	if (named && !ret->positional_count && !flag_in_the_way(ret))
		ret->command = named;
	else
		ret->positionals[ret->positional_count++] = word;
	return true;
}

/* `word_only`: after "--", where the name of a command is a word like others. */
static bool parse_positional(const char *word, bool word_only, struct invocation *ret,
                             struct err *err)
{
	const struct command *command = ret->command;

	if (command == command_root() && !word_only)
		return parse_word_of_root(word, ret);
	if (command == command_root()) {
		ret->positionals[ret->positional_count++] = word;
		return true;
	}
	if (ret->positional_count >= command->positional_count && !command->passes_on &&
	    !(command->loose && strcmp(ret->positionals[0], command->loose) == 0))
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp %s does not take \"%s\".",
		               command->name, word);
	if (ret->positional_count < command->positional_count &&
	    !value_allowed(&command->positionals[ret->positional_count].value,
	                   command->positionals[ret->positional_count].value.name, word, err))
		return false;
	ret->positionals[ret->positional_count++] = word;
	return true;
}

/* ---- what is no prompt ---- */

/* Gemini CLI's commands begin no prompt there, so they do not here. */
static const char *const gemini_commands[] = { "gemma", "update" };

/* Alone, they ask for something that other programs have as a command. */
static const struct {
	const char *word, *instead;
} lone_words[] = {
	{ "version", "\"hasp --version\" shows the version" },
	{ "login", "to add an API key, run hasp and type /auth" },
	{ "logout", "API keys are in the environment, ~/.gemini/.env or the key store" },
	{ "auth", "to add an API key, run hasp and type /auth" },
	{ "connect", "to add an API key, run hasp and type /auth" },
	{ "init", "run hasp and type /init" },
	{ "install", "hasp is one program, with nothing to install" },
	{ "upgrade", "hasp does not update itself" },
	{ "doctor", "\"hasp models check\" tests the model, \"hasp sandbox --status\" shows the "
	  "sandbox" },
	{ "resume", "to resume a session: hasp --resume" },
	{ "continue", "to resume a session: hasp --resume" },
	{ "settings", "to list the settings: hasp config" },
	{ "fork", "to continue in a copy: run hasp -c and type /fork" },
	{ "export", "to write a session to a file: hasp sessions export NUMBER" },
	{ "trust", "to trust this folder: hasp config trust" },
	{ "permissions", "to list the rules: hasp policy" },
	{ "plugin", "\"hasp extensions\" installs plugins, too" },
	{ "review", "to review changes: hasp -p \"review the uncommitted changes\"" },
	{ "exec", "to run a prompt: hasp -p PROMPT; a command: hasp sandbox -- COMMAND" },
	{ "run", "to run a prompt: hasp -p PROMPT; a command: hasp sandbox -- COMMAND" },
};

/* One letter more, less, another, or two that changed places. */
static bool is_one_slip(const char *a, const char *b)
{
	size_t same = 0, alen = strlen(a), blen = strlen(b);

	while (a[same] && a[same] == b[same])
		same++;
	a += same;
	b += same;
	alen -= same;
	blen -= same;
	if (alen == blen)
		return alen && (strcmp(a + 1, b + 1) == 0 ||
		                (alen > 1 && a[0] == b[1] && a[1] == b[0] &&
		                 strcmp(a + 2, b + 2) == 0));
	return (alen == blen + 1 && strcmp(a + 1, b) == 0) ||
	       (blen == alen + 1 && strcmp(a, b + 1) == 0);
}

static bool refuse_prompt(const char *word, const char *why, struct err *err)
{
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "%s. As a prompt: hasp -- %.100s ..., or hasp -p \"%.100s ...\".", why, word,
	               word);
}

/* The command of hasp's or Gemini CLI's that a word is, or is one slip away from; NULL: none. */
static const char *command_meant(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(gemini_commands); i++)
		if (strcmp(word, gemini_commands[i]) == 0)
			return gemini_commands[i];
	for (size_t i = 0; i < command_count(); i++)
		if (strcmp(word, command_listed(i)->name) == 0)
			return command_listed(i)->name;
	for (size_t i = 0; i < command_count(); i++)
		if (is_one_slip(word, command_listed(i)->name))
			return command_listed(i)->name;
	for (size_t i = 0; i < ARRAY_LEN(gemini_commands); i++)
		if (is_one_slip(word, gemini_commands[i]))
			return gemini_commands[i];
	return NULL;
}

static bool is_lone_word(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(lone_words); i++)
		if (strcmp(word, lone_words[i].word) == 0)
			return true;
	return false;
}

/* Whether it is another agent's command with what it is about: exec "fix it", auth login. */
static bool is_foreign_command(const struct invocation *ret)
{
	static const char *const actions[] = { "list", "login", "logout", "ls", "status" };
	const char *next = invocation_positional(ret, 1);

	if (ret->positional_count != 2)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (strcmp(next, actions[i]) == 0)
			return true;
	return strchr(next, ' ') != NULL;
}

/* A single word is more likely a mistyped command than a prompt. */
static bool check_lone_word(const struct invocation *ret, struct err *err)
{
	const char *word = ret->positionals[0];
	const bool alone = ret->positional_count == 1, foreign = is_foreign_command(ret);

	for (size_t i = 0; i < ARRAY_LEN(lone_words); i++) {
		const bool same = strcmp(word, lone_words[i].word) == 0;
		_cleanup_free_ char *why = NULL;

		if (alone ? !same && !is_one_slip(word, lone_words[i].word) : !same || !foreign)
			continue;
		why = mem_printf("hasp has no command \"%.100s\": %s", word, lone_words[i].instead);
		return refuse_prompt(word, why, err);
	}
	return true;
}

/* Explains that a command must come before flags, and what to type; the caller frees. */
static char *misplaced_command(const struct invocation *ret, const char *name)
{
	const struct flag *flag = flag_in_the_way(ret);

	if (!flag || find_flag(command_find(name), flag->id))
		return mem_printf("\"%s\" is a command: it stands before its flags, hasp %s ...",
		                  name, name);
	return mem_printf("\"%s\" is a command, and --%s is none of its flags: leave it out, "
	                  "hasp %s ...", name, flag->name, name);
}

/* Other agents and editors take the folder to work in as their argument. */
static bool check_folder(const struct invocation *ret, struct err *err)
{
	const char *word = ret->positionals[0];
	_cleanup_free_ char *why = NULL;
	struct stat status;

	if (ret->positional_count > 1 ||
	    (!strchr(word, '/') && strcmp(word, ".") != 0 && strcmp(word, "..") != 0) ||
	    stat(word, &status) != 0 || !S_ISDIR(status.st_mode))
		return true;
	why = mem_printf("\"%.100s\" is a folder; to work in that folder: cd %.100s && hasp",
	                 word, word);
	return refuse_prompt(word, why, err);
}

/* Refuses words that start with a command's name, or a misspelt one: sent as a prompt with -y, they
 * would start an agent that may do anything. */
static bool check_prompt_words(const struct invocation *ret, struct err *err)
{
	const char *word = ret->positionals[0], *meant;
	_cleanup_free_ char *why = NULL;

	if (strpbrk(word, " \t\n"))
		return true;
	if (!check_folder(ret, err))
		return false;
	if (is_lone_word(word))
		return check_lone_word(ret, err);
	meant = command_meant(word);
	if (!meant && (!ret->flag_count || ret->positional_count == 1))
		meant = nearest_command(word);
	if (!meant)
		return check_lone_word(ret, err);
	if (!command_find(meant))
		why = mem_printf("Gemini CLI has a command \"%s\", hasp has none", meant);
	else if (strcmp(meant, word) == 0)
		why = misplaced_command(ret, meant);
	else
		why = mem_printf("Unknown command \"%.100s\" (did you mean \"%s\"?)", word, meant);
	return refuse_prompt(word, why, err);
}

bool invocation_parse(int argc, char *const *argv, struct invocation *ret, struct err *err)
{
	struct cursor cursor = { argc, argv, 1 };
	size_t room = argc > 0 ? (size_t)argc : 1;
	bool flags_ended = false, checked = false;

	/* Each word holds at most one value; switches are counted once each. */
	ret->flags = mem_alloc(room + ROWS_MAX, sizeof(*ret->flags));
	ret->positionals = mem_alloc(room, sizeof(*ret->positionals));
	ret->command = command_root();
	while (cursor.next < argc) {
		const char *word = argv[cursor.next++];
		bool ok;

		if (!flags_ended && strcmp(word, "--") == 0) {
			flags_ended = true;
			/* Words that stand after it are meant as they are. */
			checked = ret->positional_count == 0;
			continue;
		}
		if (!flags_ended && word[0] == '-' && word[1] && is_foreign_flag(ret, word))
			ok = parse_positional(word, true, ret, err);
		else if (!flags_ended && strncmp(word, "--", 2) == 0)
			ok = parse_long(&cursor, word + 2, ret, err);
		else if (!flags_ended && word[0] == '-' && word[1])
			ok = parse_short(&cursor, word + 1, ret, err);
		else
			ok = parse_positional(word, flags_ended, ret, err);
		if (!ok)
			return false;
		flags_ended |= ret->command->passes_on && ret->positional_count > 0;
	}
	return checked || ret->command != command_root() || !ret->positional_count ||
	       invocation_has(ret, FLAG_HELP) || check_prompt_words(ret, err);
}
