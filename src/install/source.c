/* SPDX-License-Identifier: Apache-2.0 */
/* What the user's word for an extension is: a path, an address, a repository. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/extensions.h"
#include "install/private.h"

enum { SOURCE_BYTES = 2000, OWNER_BYTES = 100 };

void source_release(struct install_source *source)
{
	free(source->text);
	free(source->git);
	free(source->owner);
	free(source->name);
	*source = (struct install_source){ 0 };
}

/* ---- addresses ------------------------------------------------------------------------ */

/* What stands between the scheme and the path; empty: no scheme. */
static struct span url_authority(const char *url)
{
	const char *begin = strstr(url, "://");

	begin = begin ? begin + 3 : "";
	return span_of(begin, strcspn(begin, "/?#"));
}

static bool authority_is_loopback(struct span authority)
{
	static const char *const hosts[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		const size_t len = strlen(hosts[i]);

		if (span_starts(authority, span_of(hosts[i], len)) &&
		    (authority.len == len || authority.data[len] == ':'))
			return true;
	}
	return false;
}

static bool text_is_plain(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7f || *c == '\\')
			return false;
	return strlen(text) <= SOURCE_BYTES;
}

bool source_url_allowed(const char *url, struct err *err)
{
	const struct span authority = url_authority(url);
	const bool loopback = authority_is_loopback(authority);

	if (text_is_plain(url) && authority.len && !memchr(authority.data, '@', authority.len) &&
	    (!strncasecmp(url, "https://", 8) || (loopback && !strncasecmp(url, "http://", 7))))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "hasp takes https alone (http: only from this machine), and no address with "
	               "a user's name or password in it.");
}

/* Without what follows the path. */
static bool url_is_archive(const char *url)
{
	static const char *const ends[] = { ".tar.gz", ".tgz", ".zip", ".tar", ".skill", ".mcpb",
		                            ".dxt" };
	const struct span path = span_of(url, strcspn(url, "?#"));

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (span_ends(path, span_str(ends[i])))
			return true;
	return false;
}

/* ---- GitHub --------------------------------------------------------------------------- */

static bool is_github_word(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!ascii_is_alnum(text.data[i]) && !strchr("-_.", text.data[i]))
			return false;
	return text.len > 0 && text.len <= OWNER_BYTES && text.data[0] != '.' &&
	       text.data[0] != '-';
}

/* rest = OWNER "/" NAME ["/"]; a NAME that ends with ".git" is one for git. */
static bool github_parse(const char *rest, struct install_source *ret)
{
	const char *slash = strchr(rest, '/');
	struct span owner, name;

	if (!slash)
		return false;
	owner = span_of(rest, (size_t)(slash - rest));
	name = span_str(slash + 1);
	name.len -= span_ends(name, SPAN("/"));
	if (!is_github_word(owner) || !is_github_word(name) || span_ends(name, SPAN(".git")))
		return false;
	ret->kind = SOURCE_GITHUB;
	ret->owner = mem_dup(owner.data, owner.len);
	ret->name = mem_dup(name.data, name.len);
	ret->text = mem_printf("https://github.com/%s/%s", ret->owner, ret->name);
	ret->git = mem_printf("%s.git", ret->text);
	return true;
}

/* ---- git ------------------------------------------------------------------------------ */

static bool git_source(struct install_source *ret, const char *word, const char *url)
{
	ret->kind = SOURCE_GIT;
	ret->text = mem_strdup(word);
	ret->git = mem_strdup(url);
	return true;
}

/* word = USER "@" HOST ":" PATH, also where there is such a file, as a project may have one; USER
 * and HOST begin with no "-". */
static bool is_ssh_place(const char *word)
{
	const char *colon = strchr(word, ':'), *at = strchr(word, '@');

	if (!colon || !colon[1] || memchr(word, '/', (size_t)(colon - word)) || colon[1] == '/' ||
	    colon[1] == ':')
		return false;
	if (!at || at > colon)
		return false;
	return is_github_word(span_of(word, (size_t)(at - word))) &&
	       is_github_word(span_of(at + 1, (size_t)(colon - at - 1))) && text_is_plain(word);
}

/* ssh://[USER@]HOST[:PORT]/PATH, without a password. */
static bool ssh_url_allowed(const char *url, struct err *err)
{
	const struct span authority = url_authority(url);
	const char *at = memchr(authority.data, '@', authority.len);
	const struct span host = at ? span_skip(authority, (size_t)(at + 1 - authority.data)) :
	                              authority;

	if (text_is_plain(url) && host.len && host.data[0] != '-' && authority.data[0] != '-' &&
	    (!at || !memchr(authority.data, ':', (size_t)(at - authority.data))))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "This is no address that ssh can be given safely, or it has a password.");
}

/* ---- the whole ------------------------------------------------------------------------ */

static bool path_parse(const char *word, struct install_source *ret, struct err *err)
{
	char *real = realpath(word, NULL);
	struct stat status;

	if (!real)
		return false;
	if (stat(real, &status) != 0 || (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))) {
		free(real);
		return err_set(err, ERR_INVALID_ARGUMENT, "%s is neither a folder nor an archive.",
		               word);
	}
	ret->kind = S_ISDIR(status.st_mode) ? SOURCE_FOLDER : SOURCE_FILE;
	ret->text = real;
	return true;
}

static bool url_parse(const char *word, struct install_source *ret, struct err *err)
{
	if (!strncasecmp(word, "ssh://", 6))
		return ssh_url_allowed(word, err) && git_source(ret, word, word);
	if (!strncmp(word, "file:///", 8))
		return text_is_plain(word) ?
		               git_source(ret, word, word) :
		               err_set(err, ERR_INVALID_ARGUMENT, "This is no address of a file.");
	if (!source_url_allowed(word, err))
		return false;
	if (url_is_archive(word)) {
		ret->kind = SOURCE_URL;
		ret->text = mem_strdup(word);
		return true;
	}
	return (!strncasecmp(word, "https://github.com/", 19) && github_parse(word + 19, ret)) ||
	       git_source(ret, word, word);
}

bool source_parse(const char *word, struct install_source *ret, struct err *err)
{
	struct install_source source = { 0 };
	struct err why = ERR_INIT;
	bool ok;

	if (strstr(word, "://"))
		ok = url_parse(word, &source, &why);
	else if (!strncmp(word, "github:", 7))
		ok = github_parse(word + 7, &source);
	else if (!strncmp(word, "gitlab:", 7) && text_is_plain(word)) {
		_cleanup_free_ char *url = mem_printf("https://gitlab.com/%s.git", word + 7);

		ok = git_source(&source, word, url);
	} else
		ok = (is_ssh_place(word) && git_source(&source, word, word)) ||
		     path_parse(word, &source, &why) ||
		     (why.code == ERR_NONE && github_parse(word, &source));
	if (ok) {
		*ret = source;
		return true;
	}
	if (why.code != ERR_NONE) {
		*err = why;
		return false;
	}
	return err_set(err, ERR_FILE_NOT_FOUND, "%.500s is neither a folder nor an archive.", word);
}

/* ---- what is fetched, of skills, too ------------------------------------------------------ */

bool install_is_repository(const char *word)
{
	return strstr(word, "://") || is_ssh_place(word);
}

bool install_is_fetched(const char *word)
{
	struct stat status;

	return install_is_repository(word) ||
	       (stat(word, &status) == 0 && S_ISREG(status.st_mode));
}
