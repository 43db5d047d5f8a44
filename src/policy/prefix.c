/* SPDX-License-Identifier: Apache-2.0 */
/* Prefixes of commands. */
#include <string.h>

#include "base/mem.h"
#include "policy/decide.h"
#include "shell/programs.h"

/* How many words of the command the prefix is, which matches. */
static size_t words_of(const struct shell_command *command, struct span prefix)
{
	struct shell_command head = *command;

	for (head.word_count = 1; head.word_count < command->word_count; head.word_count++)
		if (shell_command_matches_prefix(&head, prefix))
			break;
	return head.word_count;
}

enum prefix_match prefix_certain(const struct shell_command *command, const char *prefix,
                                 bool writes)
{
	struct program_excess excess;

	if (!shell_command_matches_prefix(command, span_str(prefix)))
		return PREFIX_NO;
	/* Nearly always there is nothing, and the prefix need not be counted. */
	if (!program_exceeds(command, 1, &excess) ||
	    !program_exceeds(command, words_of(command, span_str(prefix)), &excess))
		return PREFIX_YES;
	return excess.effect == PROGRAM_WRITES && writes ? PREFIX_YES : PREFIX_NO;
}

/* ---- what denies ------------------------------------------------------------------------ */

static struct span next_word(struct span *rest)
{
	struct span text = span_trim(*rest);
	size_t len = 0;

	while (len < text.len && !strchr(" \t\r\n", text.data[len]))
		len++;
	*rest = span_skip(text, len);
	return span_head(text, len);
}

/* Gemini CLI's way: the text begins with it, and a blank or quote follows. */
static bool begins(struct span text, struct span prefix)
{
	text = span_trim(text);
	if (!prefix.len || !span_starts(text, prefix))
		return false;
	return text.len == prefix.len || strchr(" \t\r\n\"'", text.data[prefix.len]) != NULL;
}

/* Whether word `i` is `wanted`; the name also without its folders. */
static enum prefix_match word_is(const struct shell_command *command, size_t i, struct span wanted)
{
	const struct shell_word *word = &command->words[i];

	/* What is known of it is its beginning. */
	if (word->dynamic)
		return span_starts(wanted, word->value) ? PREFIX_MAYBE : PREFIX_NO;
	if (span_eq(word->value, wanted) ||
	    (i == 0 && span_eq(shell_command_base(command), wanted)))
		return PREFIX_YES;
	return PREFIX_NO;
}

static bool is_option(const struct shell_word *word)
{
	return word->dynamic || (word->value.len > 0 && word->value.data[0] == '-');
}

/* The place of `wanted` from `from` on, where options (and their values) may stand before it. */
static size_t find_behind_options(const struct shell_command *command, size_t from,
                                  struct span wanted)
{
	if (from >= command->word_count || !is_option(&command->words[from]))
		return SHELL_NONE;
	for (size_t i = from + 1; i < command->word_count; i++)
		if (word_is(command, i, wanted) != PREFIX_NO)
			return i;
	return SHELL_NONE;
}

static enum prefix_match match_words(const struct shell_command *command, struct span prefix)
{
	enum prefix_match result = PREFIX_YES;
	size_t i = 0;

	for (struct span word = next_word(&prefix); word.len; word = next_word(&prefix), i++) {
		enum prefix_match match = i < command->word_count ? word_is(command, i, word)
		                                                  : PREFIX_NO;

		if (match == PREFIX_NO && i > 0) {
			size_t at = find_behind_options(command, i, word);

			if (at == SHELL_NONE && (command->flags & SHELL_FLAG_APPENDED) &&
			    i >= command->word_count)
				return PREFIX_MAYBE;
			i = at == SHELL_NONE ? i : at;
			match = at == SHELL_NONE ? PREFIX_NO : PREFIX_MAYBE;
		}
		if (match < result)
			result = match;
		if (result == PREFIX_NO)
			break;
	}
	return result;
}

enum prefix_match prefix_possible(const struct shell_view *view, const char *prefix)
{
	const struct shell_command *command = view->command;
	const struct shell_script *script = &view->analysis->scripts[command->script];
	struct span raw = span_head(span_skip(script->text, command->offset), command->length);
	struct span text = span_trim(span_str(prefix));

	if (!text.len)
		return PREFIX_NO;
	if (begins(raw, text) || begins(view->analysis->scripts[0].text, text) ||
	    shell_command_matches_prefix(command, text))
		return PREFIX_YES;
	/* A name that is not known at all is the analysis's problem, and told as such. */
	if (command->word_count == 0 || command->words[0].dynamic)
		return PREFIX_NO;
	return match_words(command, text);
}

/* ---- what is offered --------------------------------------------------------------------- */

/* Programs whose first word says what they do. */
static const char *const with_verbs[] = {
	"apt", "apt-get", "brew", "bun", "bundle", "cargo", "composer", "conda", "deno", "docker",
	"dotnet", "flutter", "gh", "git", "glab", "go", "gradle", "gradlew", "hasp", "helm",
	"journalctl", "kubectl", "just", "make", "meson", "mix", "mvn", "ninja", "npm", "pip", "pip3",
	"pipx", "pnpm", "podman", "poetry", "rake", "rustup", "stack", "swift", "systemctl",
	"terraform", "uv", "yarn",
};
/* Programs that run whatever they are given: allowed, they allow all. */
static const char *const that_run_anything[] = {
	"ash", "awk", "bash", "builtin", "busybox", "chroot", "command", "dash", "doas", "env",
	"eval", "exec", "expect", "find", "fish", "gawk", "gdb", "git-shell", "ksh", "mawk", "nice",
	"nohup", "node", "npx", "parallel", "perl", "php", "pkexec", "python", "python2", "python3",
	"rm", "ruby", "script", "setsid", "sh", "source", "ssh", "stdbuf", "strace", "su", "sudo",
	"tclsh", "time", "timeout", "trap", "unshare", "watch", "xargs", "zsh", ".",
};

static bool is_in(struct span name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq(name, span_str(list[i])))
			return true;
	return false;
}

/* A word that is itself when it is read again. */
static bool is_plain(struct span word)
{
	if (!word.len)
		return false;
	for (size_t i = 0; i < word.len; i++) {
		char c = word.data[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      strchr("_-./:+@%,", c)) || c == '\0')
			return false;
	}
	return true;
}

/* The words, with the one that makes the call do more than the program is there for, if it is the
 * next; NULL: a prefix would not do. */
static char *offer_words(const struct shell_command *command, size_t count)
{
	const struct shell_word *words = command->words;
	struct program_excess excess;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	while (program_exceeds(command, count, &excess))
		if (excess.word != count++ || count > 4)
			return NULL;
	for (size_t i = 0; i < count; i++) {
		if (i >= command->word_count || words[i].dynamic || !is_plain(words[i].value))
			return NULL;
		if (i > 0)
			buf_char(&text, ' ');
		buf_span(&text, words[i].value);
	}
	return text.overflowed ? NULL : mem_dup(text.data, text.len);
}

char *prefix_offer(const struct shell_command *command)
{
	struct span base = shell_command_base(command);
	const struct shell_word *words = command->words;
	bool second;

	if (!base.len || command->assignment_count > 0 || !is_plain(words[0].value) ||
	    (command->flags & (SHELL_FLAG_WRAPPER | SHELL_FLAG_REMOTE)) ||
	    is_in(base, that_run_anything, ARRAY_LEN(that_run_anything)))
		return NULL;
	second = is_in(base, with_verbs, ARRAY_LEN(with_verbs));
	if (second && (command->word_count < 2 || words[1].dynamic ||
	               !is_plain(words[1].value) || words[1].value.data[0] == '-'))
		return NULL;
	return offer_words(command, second ? 2 : 1);
}
