/* SPDX-License-Identifier: Apache-2.0 */
/* The table in environment.h, applied. */
#include "worker/environment.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/span.h"

extern char **environ;

struct environment_row {
	const char *name;
	const char *reason;
};

#define ROW(name, reason) { name, reason },
static const struct environment_row never[] = { ENVIRONMENT_NEVER(ROW) };
static const struct environment_row allowed[] = { ENVIRONMENT_TABLE(ROW) };

#define WORD(word) word,
static const char *const secrets[] = { ENVIRONMENT_SECRETS(WORD) };
static const char *const secret_edges[] = { ENVIRONMENT_SECRET_EDGES(WORD) };
static const char *const secret_ends[] = { ENVIRONMENT_SECRET_ENDS(WORD) };
static const char *const harmless[] = { ENVIRONMENT_HARMLESS(WORD) };
#undef WORD

static const struct environment_setting {
	const char *name, *value;
} settings[] = {
#define SETTING(name, value, reason) { name, value },
	ENVIRONMENT_SET(SETTING)
#undef SETTING
};

static const struct environment_setting git_settings[] = {
#define SETTING(name, value, reason) { name, value },
	ENVIRONMENT_GIT_ALWAYS(SETTING)
	ENVIRONMENT_GIT(SETTING)
#undef SETTING
};
enum {
#define COUNT(name, value, reason) +1
	GIT_ALWAYS = 0 ENVIRONMENT_GIT_ALWAYS(COUNT),
#undef COUNT
};

/* How tokens of known services, and keys, begin. */
static const char *const token_heads[] = {
	"-----BEGIN", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AIza",
	"AKIA", "ya29.", "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "xoxa-", "xoxb-",
	"xoxp-", "xoxr-", "npm_", "eyJhbGci",
};

static const char *find_row(const struct environment_row *rows, size_t count, struct span name)
{
	for (size_t i = 0; i < count; i++) {
		struct span row = span_str(rows[i].name);

		if (span_ends(row, SPAN("*")) ? span_starts(name, span_head(row, row.len - 1)) :
		                                span_eq(name, row))
			return rows[i].name;
	}
	return NULL;
}

/* Whether a text stands at an offset of a word, in any case. */
static bool word_has_at(struct span word, size_t at, const char *text)
{
	return at + strlen(text) <= word.len &&
	       strncasecmp(word.data + at, text, strlen(text)) == 0;
}

static bool is_harmless_word(struct span word)
{
	for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
		if (strlen(harmless[i]) == word.len && word_has_at(word, 0, harmless[i]))
			return true;
	return false;
}

static bool ends_with_one(struct span word, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(texts[i]) <= word.len &&
		    word_has_at(word, word.len - strlen(texts[i]), texts[i]))
			return true;
	return false;
}

static bool word_sounds_secret(struct span word)
{
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
		for (size_t at = 0; at < word.len; at++)
			if (word_has_at(word, at, secrets[i]))
				return true;
	for (size_t i = 0; i < ARRAY_LEN(secret_edges); i++)
		if (word_has_at(word, 0, secret_edges[i]))
			return true;
	return ends_with_one(word, secret_edges, ARRAY_LEN(secret_edges)) ||
	       ends_with_one(word, secret_ends, ARRAY_LEN(secret_ends));
}

/* The next word of a name; empty behind the last. */
static struct span next_name_word(struct span *rest)
{
	struct span word = { 0 };

	while (rest->len && !ascii_is_alnum(*rest->data))
		*rest = span_skip(*rest, 1);
	while (word.len < rest->len &&
	       ascii_is_alnum(rest->data[word.len]))
		word.len++;
	word = span_head(*rest, word.len);
	*rest = span_skip(*rest, word.len);
	return word;
}

static bool sounds_secret(struct span name)
{
	if (span_eq(name, SPAN("PWD"))) /* the working folder */
		return false;
	for (struct span word = next_name_word(&name); word.len; word = next_name_word(&name)) {
		while (word.len && ascii_is_digit(word.data[word.len - 1]))
			word.len--;
		if (!is_harmless_word(word) && word_sounds_secret(word))
			return true;
	}
	return false;
}

/* "scheme://user:password@host", anywhere. */
static bool has_password(const char *value)
{
	for (const char *at = strstr(value, "://"); at; at = strstr(at + 3, "://")) {
		size_t len = strcspn(at + 3, "/ ,");

		if (memchr(at + 3, '@', len))
			return true;
	}
	return false;
}

static bool is_secret_value(const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(token_heads); i++)
		if (strncmp(value, token_heads[i], strlen(token_heads[i])) == 0)
			return true;
	return has_password(value);
}

bool environment_allows(const char *variable)
{
	struct span name = span_of(variable, strcspn(variable, "="));
	const char *row;

	if (!name.len || !variable[name.len] || find_row(never, ARRAY_LEN(never), name))
		return false;
	row = find_row(allowed, ARRAY_LEN(allowed), name);
	return row && !(strchr(row, '*') && sounds_secret(name)) &&
	       !is_secret_value(variable + name.len + 1);
}

bool environment_is_secret(const char *variable)
{
	struct span name = span_of(variable, strcspn(variable, "="));

	return sounds_secret(name) ||
	       (variable[name.len] && is_secret_value(variable + name.len + 1));
}

void environment_conceal(void)
{
	for (char **at = environ; at && *at; at++) {
		const size_t name = strcspn(*at, "=");
		char *shown = *at;

		if (!shown[name] || !environment_is_secret(shown))
			continue;
		*at = mem_strdup(shown);
		explicit_bzero(shown + name + 1, strlen(shown + name + 1));
	}
}

struct environment_list {
	char **items;
	size_t count, cap;
};

static void list_add(struct environment_list *list, char *item)
{
	list->items = mem_grow(list->items, &list->cap, list->count + 2, sizeof(*list->items));
	list->items[list->count++] = item;
	list->items[list->count] = NULL;
}

static bool is_set_later(const char *variable)
{
	size_t len = strcspn(variable, "=");

	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (strlen(settings[i].name) == len &&
		    strncmp(settings[i].name, variable, len) == 0)
			return true;
	return false;
}

static bool has_name(const char *const *list, struct span name)
{
	for (; list && *list; list++)
		if (span_eq(span_of(*list, strcspn(*list, "=")), name))
			return true;
	return false;
}

static bool variable_passes(const char *variable, const struct environment_options *options)
{
	struct span name = span_of(variable, strcspn(variable, "="));

	return environment_allows(variable) && !has_name(options->more, name) &&
	       !has_name(options->blocked, name);
}

static struct environment_list let_through(const char *const *from,
                                           const struct environment_options *options)
{
	struct environment_list list = { 0 };
	bool path = false;

	for (; *from; from++) {
		if (!variable_passes(*from, options) || is_set_later(*from))
			continue;
		path |= strncmp(*from, "PATH=", 5) == 0;
		list_add(&list, mem_strdup(*from));
	}
	if (!path)
		list_add(&list, mem_strdup("PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:"
		                           "/usr/sbin:/sbin"));
	return list;
}

static void add_more(struct environment_list *list, const struct environment_options *options)
{
	for (const char *const *at = options->more; at && *at; at++)
		if (!is_set_later(*at) &&
		    !has_name(options->blocked, span_of(*at, strcspn(*at, "="))))
			list_add(list, mem_strdup(*at));
}

static bool is_pager(const char *name)
{
	const size_t len = strlen(name);

	return len >= 5 && strcmp(name + len - 5, "PAGER") == 0;
}

char **environment_for_worker(const char *const *from)
{
	return let_through(from, &(struct environment_options){ 0 }).items;
}

static void add_git_settings(struct environment_list *list, bool confined)
{
	size_t count = confined ? ARRAY_LEN(git_settings) : GIT_ALWAYS;

	list_add(list, mem_printf("GIT_CONFIG_COUNT=%zu", count));
	for (size_t i = 0; i < count; i++) {
		list_add(list, mem_printf("GIT_CONFIG_KEY_%zu=%s", i, git_settings[i].name));
		list_add(list, mem_printf("GIT_CONFIG_VALUE_%zu=%s", i, git_settings[i].value));
	}
}

char **environment_for_command(const char *const *from, const struct environment_options *options)
{
	struct environment_list list = let_through(from, options);

	add_more(&list, options);
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		list_add(&list, mem_printf("%s=%s", settings[i].name,
		                           options->pager && is_pager(settings[i].name) ?
		                                   options->pager :
		                                   settings[i].value));
	list_add(&list, mem_printf("TERM=%s", options->pty ? "xterm-256color" : "dumb"));
	add_git_settings(&list, options->level != SANDBOX_PATHS);
	if (options->level != SANDBOX_PATHS) {
		list_add(&list, mem_strdup("SANDBOX=hasp"));
		list_add(&list, mem_printf("HASP_LEVEL=%s", sandbox_level_name(options->level)));
	}
	return list.items;
}

void environment_free(char **env)
{
	for (char **at = env; at && *at; at++)
		free(*at);
	free(env);
}
