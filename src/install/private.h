/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of install/ share. */
#ifndef HASP_INSTALL_PRIVATE_H
#define HASP_INSTALL_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "config/extensions.h"
#include "config/settings.h"
#include "install/install.h"
#include "install/market.h"

struct install_source;

/* A line below what an extension brings, where install.env is set. */
#define INSTALL_ENV_LINE \
	"  .env: not used; the answers to its settings are yours to give\n"

/* ---- unpacking (unpack.c) ------------------------------------------------------------- */

/* Unpacks an archive into the open folder `folder`, through libarchive, which is loaded by the
 * first call: tar, also in gzip, and zip.  `file` is read from where it stands: a regular file, or
 * a pipe.  `packed`: the bytes that the archive has, from which follows how many its content may
 * have (LIMIT_UNPACK_RATIO); 0: not known.  `what` is for messages, as it may be shown.
 *
 * All of it is a stranger's.  Refused: absolute names and "..", names that are no UTF-8 or have
 * control or invisible characters, what is there twice or differs in letters' case alone, links
 * that lead out (as tree_copy has it) or into .git, hard links to what is not unpacked, devices,
 * FIFOs; too many files, bytes or folders.  Left out: .git.  Files become the user's, mode 0644 or
 * 0755.  No link is followed on the way.
 *
 * INVALID_ARGUMENT: no archive, or one of these; TOO_LARGE; IO_ERROR, DISK_FULL, ...; INTERNAL:
 * there is no libarchive.  What was unpacked before stays there, for the caller to remove. */
bool unpack(int file, uint64_t packed, const char *what, int folder, struct err *err);

/* ---- where it comes from (source.c) ----------------------------------------------------- */

enum source_kind {
	SOURCE_FOLDER,
	SOURCE_FILE,   /* an archive */
	SOURCE_URL,    /* the address of an archive */
	SOURCE_GIT,
	SOURCE_GITHUB, /* a release, else git */
};

struct install_source {
	enum source_kind kind;
	char *text;  /* owned; what is written down: canonical if it is a path */
	char *git;   /* owned; the URL that git is given; NULL */
	char *owner; /* owned; at GitHub; NULL */
	char *name;  /* owned; of the repository there; NULL */
};

/* Parses the source that the user has named. FILE_NOT_FOUND: a path that does not exist;
 * INVALID_ARGUMENT: not a file or folder, or a URL that is not https (http only for this machine),
 * ssh or file, or contains a password. */
bool source_parse(const char *word, struct install_source *ret, struct err *err);
void source_release(struct install_source *source);
#define _cleanup_source_ __attribute__((cleanup(source_release)))
/* Whether hasp may read from there: https, or http of this machine. */
bool source_url_allowed(const char *url, struct err *err);

/* ---- marketplaces (market.c) -------------------------------------------------------------- */

/* A list of plugins.  Each is {"name", "version", "description": lines, may be "",
 * "from": where it comes from, a line,
 * "source", "ref"?, "path"?: the same for install_wish; or "problem": why hasp cannot install it,
 * "manifest": what the list itself says in place of a manifest,
 * "format": the product's word (extension_format_word)}. */
struct market {
	char *name;         /* owned; letters, digits, "-", "_" and "." */
	const char *format; /* for people: "Claude Code" */
	enum extension_format kind; /* of manifests of the same product */
	json_t *plugins;    /* owned; an array */
	json_t *notices;    /* owned; sentences about skipped entries */
};

/* Frees the contents. */
void market_release(struct market *market);

/* Where a list was found. */
struct market_place {
	const char *shown; /* for messages and names: a line */
	const char *root;  /* the folder that it is the list of, absolute; NULL */
	const char *git;   /* the repository's word for install_wish; NULL */
	const char *ref;   /* of that; NULL */
	bool own;          /* it is on this machine */
};

/* Whether it may be the name of a marketplace or of a plugin in one. */
bool market_name_is_fine(struct span name);
/* Reads a list; the place is borrowed meanwhile. INVALID_ARGUMENT: it is none. */
bool market_parse(struct span text, const struct market_place *place, struct market *ret,
                  struct err *err);

/* ---- fetching --------------------------------------------------------------------------- */

/* A folder of our own beneath ~/.gemini/extensions, which is put in place whole or removed. */
struct install_stage {
	char *extensions; /* owned; that folder; NULL: there is no stage */
	char *name;       /* owned; the stage, in .../.staging */
	char *path;       /* owned; absolute */
};

/* Makes one, and removes those of processes that have ended. */
bool install_stage_open(const struct home *home, struct install_stage *ret, struct err *err);
/* Removes it, with all that is still in it. Twice is fine. */
void install_stage_close(struct install_stage *stage);

/* Fetches what the wish names into STAGE/content (fetch.c): copied, unpacked, or got from the
 * network. Adds to `origin` what became known: "type", "releaseTag", "commit", "mark" (what
 * install_download_mark says). */
bool install_fetch(const struct install_wish *wish, const struct install_source *source,
                   const struct install_stage *stage, json_t *origin, struct err *err);

/* The release of a GitHub repository (github.c): *ret_url becomes the address of its archive, for
 * the caller to free, and *ret_tag its tag; *ret_url stays NULL if there is no release.
 * NETWORK_ERROR: GitHub does not answer, or with an error. */
bool github_release(const struct install_source *source, const char *ref, bool pre_release,
                    char **ret_url, char **ret_tag, struct err *err);
/* Writes what is at an address of an archive to the end of `file`; redirects count where
 * source_url_allowed does.  A token goes to GitHub's API alone.  *ret_mark, which the caller frees,
 * is what install_download_mark would say; NULL: nothing. */
bool install_download(const char *url, int file, char **ret_mark, struct err *err);
/* What the server calls the version of what is at an address: its ETag, else Last-Modified, of a
 * HEAD; the caller frees.  NULL: it does not say. */
char *install_download_mark(const char *url);
/* Reads a text of an address into `out`. NETWORK_ERROR: another status than 200; TOO_LARGE. */
bool install_download_text(const char *url, struct buf *out, struct err *err);

/* ---- git (git.c) ------------------------------------------------------------------------- */

/* What is asked for of a repository. */
struct git_place {
	const char *url;
	const char *ref;  /* a branch, a tag or a commit; NULL: the remote's HEAD */
	const char *path; /* the folder in it that counts alone; NULL: all of it */
};

/* Fetches one commit and unpacks it, or its folder `path`, into a new folder `content` beneath
 * `folder`, with a .git that has the remote and the commit.  *ret_commit: its hash; the caller
 * frees.  git runs without prompts, hooks and submodules, and does not check out files: they are
 * unpacked like a hostile archive.  The protocol is that of the URL, else https or ssh.
 * INVALID_ARGUMENT: invalid `ref`, or a file is refused; NETWORK_ERROR: git failed, with its
 * message; TOO_LARGE; INTERNAL: git or libarchive is not installed. */
bool git_fetch(const struct git_place *place, const char *folder, char **ret_commit,
               struct err *err);
/* Fetches the commit beneath `folder` and reads the first of `files` (NULL-terminated, of which
 * *ret_which is the number) that it has into `out`; none of its files is written.  FILE_NOT_FOUND:
 * it has none of them; TOO_LARGE: more than `out` takes; else as git_fetch. */
bool git_read(const struct git_place *place, const char *folder, const char *const *files,
              struct buf *out, size_t *ret_which, struct err *err);
/* Asks the server which commit it is, without fetching it; the caller frees.  NULL: it has no such
 * ref, or does not say; with *err, git cannot be run. */
char *git_remote_commit(const struct git_place *place, struct err *err);

#endif
