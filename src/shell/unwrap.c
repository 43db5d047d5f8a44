/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that run commands: what is run by a command's operands and by its options, git's and
 * those of the table in wrappers.c. */
#include <strings.h>

#include "base/limits.h"
#include "shell/private.h"

/* ---- options that run something --------------------------------------------------- */

/* Whether the word is the option: 0 no, 1 its value is the next word, else 1 + where in the
 * word its value begins. Abbreviations of long ones count, from two letters on. */
static size_t match_option(struct span word, struct span name)
{
	const char *equals = span_find(word, '=');
	struct span given = equals ? span_head(word, (size_t)(equals - word.data)) : word;

	if (span_starts(name, SPAN("--"))) {
		if (given.len < 4 || !span_starts(name, given))
			return 0;
		return equals ? given.len + 2 : 1;
	}
	if (word.len < name.len || strncasecmp(word.data, name.data, name.len) != 0)
		return 0;
	if (name.len == 2 && word.data[1] != name.data[1])
		return 0;
	return word.len == name.len ? 1 : name.len + 1;
}

/* A value that must begin with a text, which is taken off: "ProxyCommand=". */
static bool take_beginning(struct shell_word *value, const char *prefix)
{
	size_t len = strlen(prefix);

	if (len == 0)
		return true;
	if (value->value.len < len || strncasecmp(value->value.data, prefix, len - 1) != 0 ||
	    !strchr("= \t", value->value.data[len - 1]))
		return false;
	*value = unwrapping_word_behind(value, len);
	return true;
}

static void check_running_option(struct unwrapping *u, const struct running_option *row)
{
	for (size_t i = 1; i < u->count; i++) {
		size_t at = match_option(u->words[i].value, span_str(row->name));
		struct shell_word value;

		if (at == 0 || (at == 1 && (u->words[i].dynamic || i + 1 >= u->count)))
			continue;
		value = at == 1 ? u->words[i + 1] : unwrapping_word_behind(&u->words[i], at - 1);
		if (take_beginning(&value, row->prefix) && (value.value.len > 0 || value.dynamic))
			unwrapping_script(u, &value, SHELL_VIA_OPTION, 0);
	}
}

/* Options that name a program to run (rg --pre). */
static void unwrap_running_options(struct unwrapping *u, struct span base)
{
	const struct running_option *row;

	for (size_t i = 0; (row = wrapper_running_option_at(base, i)); i++)
		check_running_option(u, row);
}

/* Commands that run commands. */

/* The command is looked at by number: adding others moves them. */
static const struct shell_word *unwrapped_word_at(const struct unwrapping *u, size_t i)
{
	return &u->words[i];
}

static void report_options(struct unwrapping *u, const struct options *options)
{
	if (options->unknown)
		unwrapping_problem(u, SHELL_PROBLEM_UNKNOWN_OPTION);
	if (options->dynamic)
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
}

/* NAME or NAME=VALUE is set for what is run. */
static void set_variable(struct unwrapping *u, const struct shell_word *word)
{
	const char *equals = span_find(word->value, '=');
	struct shell_word value = *word;
	struct span name = word->value;

	if (equals) {
		name = span_head(name, (size_t)(equals - name.data));
		value.value = span_skip(word->value, name.len + 1);
	} else if (word->dynamic) {
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
		return;
	}
	hazard_value(u->store, u->command, name, equals ? &value : NULL,
	             equals && !value.dynamic && shell_number_is_certain(value.value));
}

static void run_value(struct unwrapping *u, const struct shell_word *value, bool piped)
{
	struct shell_word script = *value;

	if (piped && !value->dynamic &&
	    !(value->value.len && strchr("|!", value->value.data[0])))
		return;
	if (piped && value->dynamic && value->value.len && !strchr("|!", value->value.data[0]))
		return;
	if (piped)
		script.value = span_skip(value->value, 1);
	unwrapping_script(u, &script, SHELL_VIA_OPTION, STORE_POSIX_SCRIPT);
}

static void apply_effect(struct unwrapping *u, enum option_effect effect,
                         const struct options *options)
{
	static const enum shell_problem_kind problems[] = {
		[EFFECT_SOURCED] = SHELL_PROBLEM_SOURCED,
		[EFFECT_READING] = SHELL_PROBLEM_BUILTIN,
		[EFFECT_PLACE] = SHELL_PROBLEM_ENVIRONMENT,
	};

	if (effect == EFFECT_VARIABLE && options->has_value)
		set_variable(u, &options->value);
	else if (effect == EFFECT_PROGRAM || effect == EFFECT_PIPED)
		run_value(u, &options->value, effect == EFFECT_PIPED);
	else if (effect == EFFECT_MODE && options->has_value) {
		if (options->value.dynamic || !wrapper_is_harmless_mode(options->value.value))
			unwrapping_problem(u, SHELL_PROBLEM_BUILTIN);
	} else if (effect == EFFECT_SOURCED || effect == EFFECT_READING ||
	           effect == EFFECT_PLACE)
		unwrapping_problem(u, problems[effect]);
}

/* wrapper_options_next, and the option's effect (option_rows). */
static bool next_option(struct unwrapping *u, struct options *options)
{
	const struct option_row *row;
	bool shell = u->wrapper->rest == REST_SHELL;

	if (!wrapper_options_next(options))
		return false;
	for (size_t i = 0; (row = wrapper_option_at(u->wrapper, options->letter, options->name, i));
	     i++)
		if (row->effect != EFFECT_MODE)
			apply_effect(u, row->effect, options);
	/* The value of -o comes with the last letter of its word. */
	if (shell && options->letter && options->has_value)
		apply_effect(u, EFFECT_MODE, options);
	return true;
}

/* env -S TEXT: words, with env's escapes, before those that follow. */
static void unwrap_split(struct unwrapping *u, const struct shell_word *text, size_t from)
{
	_cleanup_buf_ struct buf script = BUF_INIT(LIMIT_SHELL_BYTES);
	struct shell_word word = *text;

	buf_str(&script, "env ");
	buf_span(&script, text->value);
	for (size_t i = from; i < u->count; i++) {
		buf_char(&script, ' ');
		buf_span(&script, unwrapped_word_at(u, i)->raw);
	}
	if (span_find(text->value, '\\') || span_find(text->value, '$') || u->appended ||
	    script.overflowed)
		word.dynamic |= SHELL_DYNAMIC_VARIABLE;
	word.value = buf_from(&script, 0);
	unwrapping_script(u, &word, SHELL_VIA_WRAPPER, 0);
}

/* NAME=VALUE before the command; returns after them. */
static size_t skip_assignments(struct unwrapping *u, size_t at)
{
	for (; at < u->count; at++) {
		const struct shell_word *word = unwrapped_word_at(u, at);
		const char *equals = span_find(word->value, '=');
		struct shell_word value = *word;
		struct span name;

		if (!equals)
			return at;
		name = span_head(word->value, (size_t)(equals - word->value.data));
		value.value = span_skip(word->value, name.len + 1);
		hazard_value(u->store, u->command, name, &value,
		             !value.dynamic && shell_number_is_certain(value.value));
		if (word->splits && word->dynamic != SHELL_DYNAMIC_GLOB)
			unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
	}
	return at;
}

static void nothing_to_run(struct unwrapping *u)
{
	if (u->appended)
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_COMMAND);
	else if (u->wrapper->traits & TRAIT_OWN_SHELL)
		unwrapping_problem(u, SHELL_PROBLEM_STANDARD_INPUT);
}

static size_t skip_operands(struct unwrapping *u, size_t at)
{
	for (size_t i = 0; i < u->wrapper->skip && at < u->count; i++, at++) {
		const struct shell_word *word = unwrapped_word_at(u, at);

		if (word->splits)
			unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
		/* Without its number, it is the command that would be skipped. */
		if (u->wrapper->traits & TRAIT_NUMBER && !word->dynamic &&
		    !(word->value.len && ascii_is_digit(word->value.data[0])))
			unwrapping_child(u, at, u->count, SHELL_VIA_WRAPPER);
	}
	return at;
}

static void rest_command(struct unwrapping *u, struct options *options)
{
	unsigned traits = u->wrapper->traits;
	struct shell_word split = { 0 };
	bool has_split = false, joined = false, nothing = false;
	size_t at;

	while (next_option(u, options)) {
		if (traits & TRAIT_SPLIT && option_is(options, 'S', "split-string") &&
		    options->has_value) {
			split = options->value;
			has_split = true;
		}
		joined |= traits & TRAIT_JOINED_S && (option_is(options, 's', "shell") ||
		                                      option_is(options, 'i', "login"));
		options->unknown |= traits & TRAIT_KEYWORD && !option_is(options, 'p', NULL) &&
		                    span_eq(u->words[0].value, span_str(u->wrapper->name));
		nothing |= traits & TRAIT_NO_RUN &&
		           (option_is(options, 'v', NULL) || option_is(options, 'V', NULL));
	}
	report_options(u, options);
	at = options->at;
	if (nothing)
		return;
	if (has_split) {
		unwrap_split(u, &split, at);
		return;
	}
	if (traits & TRAIT_ASSIGNMENTS)
		at = skip_assignments(u, at);
	at = skip_operands(u, at);
	if (traits & TRAIT_PLACE)
		unwrapping_problem(u, SHELL_PROBLEM_ENVIRONMENT);
	if (at >= u->count) {
		if (joined)
			unwrapping_problem(u, SHELL_PROBLEM_STANDARD_INPUT);
		nothing_to_run(u);
	} else if (joined) {
		unwrapping_joined(u, at, u->count, SHELL_VIA_SHELL_STRING, 0);
	} else {
		unwrapping_child(u, at, u->count, SHELL_VIA_WRAPPER);
	}
}

static void rest_joined(struct unwrapping *u, struct options *options)
{
	bool exec = false;

	while (next_option(u, options))
		exec |= option_is(options, 'x', "exec");
	report_options(u, options);
	if (options->at >= u->count && u->appended)
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_SCRIPT);
	if (!(u->wrapper->traits & TRAIT_EXEC))
		unwrapping_joined(u, options->at, u->count, SHELL_VIA_EVAL, 0);
	else if (exec)
		unwrapping_child(u, options->at, u->count, SHELL_VIA_WRAPPER);
	else
		unwrapping_joined(u, options->at, u->count, SHELL_VIA_SHELL_STRING,
		              STORE_POSIX_SCRIPT);
}

/* A shell with a file, or with nothing: it reads its input. */
static void unwrap_shell_file(struct unwrapping *u, size_t at, bool from_input)
{
	if (at >= u->count && u->appended)
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_SCRIPT);
	else if (at >= u->count || from_input || 
	         name_in(unwrapped_word_at(u, at)->value, "- /dev/stdin /dev/fd/0 /proc/self/fd/0"))
		unwrapping_problem(u, SHELL_PROBLEM_STANDARD_INPUT);
	else if (unwrapped_word_at(u, at)->dynamic)
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_SCRIPT);
}

static void rest_shell(struct unwrapping *u, struct options *options)
{
	struct span name = span_str(u->wrapper->name);
	bool script = false, input = false, informs = false;

	while (next_option(u, options)) {
		script |= option_is(options, 'c', NULL);
		input |= option_is(options, 's', NULL);
		informs |= option_is(options, 0, "help") || option_is(options, 0, "version");
	}
	report_options(u, options);
	if (name_in(name, "zsh ksh ksh93 mksh lksh yash"))
		unwrapping_problem(u, SHELL_PROBLEM_DIALECT);
	if (informs)
		return;
	if (!script)
		unwrap_shell_file(u, options->at, input);
	else if (options->at < u->count)
		unwrapping_script(u, unwrapped_word_at(u, options->at), SHELL_VIA_SHELL_STRING,
		              name_in(name, "bash rbash") ? 0 : STORE_POSIX_SCRIPT);
	else if (u->appended)
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_SCRIPT);
}

/* script -c, su -c, runuser [-u USER COMMAND], fish -c */
static void rest_script_c(struct unwrapping *u, struct options *options)
{
	bool found = false, user = false;
	size_t operand = SHELL_NONE;

	for (;;) {
		while (next_option(u, options)) {
			user |= option_is(options, 'u', "user");
			if (!option_is(options, 'c', "command") &&
			    !option_is(options, 0, "session-command"))
				continue;
			found = true;
			if (options->has_value)
				unwrapping_script(u, &options->value, SHELL_VIA_SHELL_STRING,
				              STORE_POSIX_SCRIPT);
		}
		if (options->at >= u->count)
			break;
		operand = operand == SHELL_NONE ? options->at : operand;
		/* su -: a login */
		if (span_eq(unwrapped_word_at(u, options->at)->value, SPAN("-")))
			unwrapping_problem(u, SHELL_PROBLEM_SOURCED);
		if (options->ended || user)
			break;
		options->at++;
	}
	report_options(u, options);
	if (span_eq(span_str(u->wrapper->name), SPAN("fish")))
		unwrapping_problem(u, SHELL_PROBLEM_DIALECT);
	if (!found && operand != SHELL_NONE && (user || options->ended))
		unwrapping_child(u, operand, u->count, SHELL_VIA_WRAPPER);
	else if (!found || u->appended)
		nothing_to_run(u);
}

static void rest_flock(struct unwrapping *u, struct options *options)
{
	size_t at;

	while (next_option(u, options))
		;
	report_options(u, options);
	at = skip_operands(u, options->at);
	if (at + 1 < u->count && name_in(unwrapped_word_at(u, at)->value, "-c --command"))
		unwrapping_script(u, unwrapped_word_at(u, at + 1), SHELL_VIA_SHELL_STRING,
		              STORE_POSIX_SCRIPT);
	else if (at < u->count)
		unwrapping_child(u, at, u->count, SHELL_VIA_WRAPPER);
	else
		nothing_to_run(u);
}

static void rest_remote(struct unwrapping *u, struct options *options)
{
	while (next_option(u, options))
		;
	options->at = skip_operands(u, options->at); /* the host; options may follow it */
	while (next_option(u, options))
		;
	report_options(u, options);
	unwrapping_problem(u, SHELL_PROBLEM_REMOTE);
	unwrapping_joined(u, options->at, u->count, SHELL_VIA_REMOTE,
	              SHELL_FLAG_REMOTE | STORE_POSIX_SCRIPT);
}

static void rest_trap(struct unwrapping *u, struct options *options)
{
	const struct shell_word *word;

	while (next_option(u, options))
		;
	report_options(u, options);
	/* One word is a signal to reset, or - */
	if (options->at + 1 >= u->count)
		return;
	word = unwrapped_word_at(u, options->at);
	if (!word->dynamic && (word->value.len == 0 || span_eq(word->value, SPAN("-"))))
		return;
	unwrapping_script(u, word, SHELL_VIA_TRAP, 0);
}

/* The words with those marked in which another program puts text. */
static const struct shell_word *mark_inserted(struct unwrapping *u, size_t from, size_t to,
                                              struct span mark)
{
	struct shell_word *words = store_alloc(u->store, to - from, sizeof(*words));

	for (size_t i = from; i < to; i++) {
		struct shell_word *word = &words[i - from];
		char *place;

		*word = *unwrapped_word_at(u, i);
		place = mark.len ? memmem(word->value.data, word->value.len, mark.data, mark.len)
		                 : NULL;
		if (!place)
			continue;
		word->dynamic |= SHELL_DYNAMIC_INSERTED;
		word->value = span_head(word->value, (size_t)(place - word->value.data));
	}
	return words;
}

/* Whether the word can be `text` when it runs, or a word of several that it becomes. */
static bool word_may_become(const struct shell_word *word, struct span text)
{
	if (!word->dynamic)
		return span_eq(word->value, text);
	return span_starts(text, word->value) ||
	       (word->splits && word->dynamic != SHELL_DYNAMIC_GLOB);
}

static const char find_commands[] = "-exec -execdir -ok -okdir";
static const char find_writers[] = "-fprint -fprint0 -fprintf -fls";

/* Take one word after them, whatever it is. */
static const char find_values[] =
	"-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -newer "
	"-anewer -cnewer -newermt -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin -user "
	"-group -uid -gid -perm -maxdepth -mindepth -printf -samefile -inum -links -fstype "
	"-regextype -used -context";

/* NAME or NAME} after a $ or ${, taken off *rest; an empty one when it is something else. */
static struct span take_expansion_name(struct span *rest)
{
	bool braces = span_starts(*rest, SPAN("{"));
	struct span name = span_skip(*rest, braces);
	size_t len = 0;

	while (len < name.len && shell_is_name((unsigned char)name.data[len]))
		len++;
	*rest = span_skip(name, len);
	if (braces && !span_starts(*rest, SPAN("}")))
		return span_of("", 0);
	*rest = span_skip(*rest, braces);
	return span_head(name, len);
}

/* "$HOME/x", "$x/y", $HOME/x: no word of find's own, which have no slash, whatever the variable
 * holds; and "$HOME" alone, which is a path. */
static bool is_path(const struct shell_word *word)
{
	bool quoted = span_starts(word->raw, SPAN("\""));
	struct span rest = span_skip(word->raw, quoted), name;

	if (word->dynamic != SHELL_DYNAMIC_VARIABLE || !span_starts(rest, SPAN("$")))
		return false;
	rest = span_skip(rest, 1);
	name = take_expansion_name(&rest);
	if (!name.len)
		return false;
	if (!quoted)
		return span_eq(name, SPAN("HOME")) && span_starts(rest, SPAN("/")) &&
		       !span_find(rest, '$');
	/* One quoted text, no second one that could be split. */
	if (word->splits || span_find(rest, '"') != rest.data + rest.len - 1)
		return false;
	return span_starts(rest, SPAN("/")) ||
	       (shell_variable_traits(name) & VARIABLE_PATH && rest.len == 1);
}

static bool may_be_action(const struct shell_word *word)
{
	if (!word->dynamic)
		return name_in(word->value, find_commands) ||
		       name_in(word->value, find_writers) ||
		       span_eq(word->value, SPAN("-delete"));
	return unwrapping_may_be_option(word) && !is_path(word);
}

/* After -exec; returns after the ; or + that ends it. If a word before that may be the end, what
 * follows it may be find's own words. */
static size_t unwrap_exec(struct unwrapping *u, size_t from)
{
	bool ended = false;
	size_t to = from;

	for (; to < u->count && !span_eq(unwrapped_word_at(u, to)->value, SPAN(";")); to++) {
		const struct shell_word *word = unwrapped_word_at(u, to);
		const struct shell_word *before = to > from ? word - 1 : NULL;

		if (before && !before->dynamic && !word->dynamic &&
		    span_eq(word->value, SPAN("+")) && span_eq(before->value, SPAN("{}")))
			break;
		if ((ended && may_be_action(word)) ||
		    (word->dynamic && word->splits && word_may_become(word, SPAN(";"))))
			unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
		ended |= word->dynamic && word_may_become(word, SPAN(";"));
		ended |= before && word_may_become(word, SPAN("+")) &&
		         word_may_become(before, SPAN("{}"));
	}
	if (to < u->count && unwrapped_word_at(u, to)->dynamic)
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
	if (to > from)
		store_child(u->store, mark_inserted(u, from, to, SPAN("{}")), to - from, u->command,
		            SHELL_VIA_FIND, 0);
	return to + 1;
}

static void rest_find(struct unwrapping *u, struct options *options)
{
	unsigned *flags;

	(void)options;
	if (u->appended)
		unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
	for (size_t i = 1; i < u->count;) {
		const struct shell_word *word = unwrapped_word_at(u, i++);

		flags = &u->store->commands[u->command].flags;
		if (!word->dynamic && name_in(word->value, find_values) && i < u->count) {
			word = unwrapped_word_at(u, i++);
			/* It is taken, but no honest command searches for such a name. */
			if (word->splits ? word->dynamic != SHELL_DYNAMIC_GLOB
			                 : !word->dynamic && may_be_action(word))
				unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
		} else if (word->dynamic && may_be_action(word))
			unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_OPTION);
		else if (name_in(word->value, find_commands))
			i = unwrap_exec(u, i);
		else if (name_in(word->value, find_writers))
			*flags |= SHELL_FLAG_WRITES;
		else if (span_eq(word->value, SPAN("-delete")))
			*flags |= SHELL_FLAG_DELETES;
	}
}

static void rest_xargs(struct unwrapping *u, struct options *options)
{
	struct span mark = span_of("", 0);
	unsigned flags = SHELL_FLAG_APPENDED;

	while (next_option(u, options)) {
		if (!option_is(options, 'I', "replace") && !option_is(options, 'i', NULL) &&
		    !option_is(options, 'J', NULL))
			continue;
		mark = options->has_value && options->value.value.len ? options->value.value
		                                                       : SPAN("{}");
		flags = 0;
		if (options->has_value && options->value.dynamic)
			options->dynamic = true;
	}
	report_options(u, options);
	if (options->at >= u->count) {
		static const struct shell_word echo = { .raw = { "echo", 4 },
			                                .value = { "echo", 4 } };

		if (u->appended)
			unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_COMMAND);
		store_child(u->store, &echo, 1, u->command, SHELL_VIA_XARGS,
		            SHELL_FLAG_APPENDED);
		return;
	}
	store_child(u->store, mark_inserted(u, options->at, u->count, mark),
	            u->count - options->at, u->command, SHELL_VIA_XARGS, flags);
}

static void rest_parallel(struct unwrapping *u, struct options *options)
{
	size_t to;

	while (next_option(u, options))
		;
	report_options(u, options);
	to = options->at;
	while (to < u->count && !name_in(unwrapped_word_at(u, to)->value, "::: :::: :::+ ::::+"))
		to++;
	/* Its input is put into the script, or is the script. */
	unwrapping_problem(u, SHELL_PROBLEM_DYNAMIC_SCRIPT);
	unwrapping_joined(u, options->at, to, SHELL_VIA_SHELL_STRING, 0);
}

static void (*const rests[REST_COUNT])(struct unwrapping *u, struct options *options) = {
	[REST_COMMAND] = rest_command,   [REST_JOINED] = rest_joined,
	[REST_SHELL] = rest_shell,       [REST_SCRIPT_C] = rest_script_c,
	[REST_FLOCK] = rest_flock,       [REST_REMOTE] = rest_remote,
	[REST_TRAP] = rest_trap,         [REST_FIND] = rest_find,
	[REST_XARGS] = rest_xargs,       [REST_PARALLEL] = rest_parallel,
};

void unwrap_command(struct shell_store *store, size_t command)
{
	const struct shell_command *c = &store->commands[command];
	struct unwrapping u = { .store = store, .command = command, .words = c->words,
		                .count = c->word_count,
		                .appended = c->flags & SHELL_FLAG_APPENDED };
	struct span base = shell_command_base(c);
	struct options options;

	if (base.len == 0 || c->flags & SHELL_FLAG_TEST)
		return;
	u.wrapper = wrapper_find(base);
	if (u.wrapper) {
		wrapper_options_begin(&options, u.words, u.count, u.wrapper);
		rests[u.wrapper->rest](&u, &options);
	}
	if (span_eq(base, SPAN("git")))
		unwrap_git(&u);
	unwrap_running_options(&u, base);
}
