/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of strangers, unpacked. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utf8proc.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "config/extensions.h"
#include "data/json.h"
#include "install/private.h"

/* ---- the library ---------------------------------------------------------------------- */

struct archive_library {
	__typeof__(archive_read_new) *read_new;
	__typeof__(archive_read_free) *read_free;
	__typeof__(archive_read_support_filter_gzip) *support_gzip;
	__typeof__(archive_read_support_format_tar) *support_tar;
	__typeof__(archive_read_support_format_zip_seekable) *support_zip;
	__typeof__(archive_read_open_fd) *open_fd;
	__typeof__(archive_read_next_header) *next_header;
	__typeof__(archive_read_data) *read_data;
	__typeof__(archive_filter_count) *filter_count;
	__typeof__(archive_filter_bytes) *filter_bytes;
	__typeof__(archive_error_string) *error_string;
	__typeof__(archive_entry_pathname) *pathname;
	__typeof__(archive_entry_filetype) *filetype;
	__typeof__(archive_entry_hardlink) *hardlink;
	__typeof__(archive_entry_symlink) *symlink;
	__typeof__(archive_entry_perm) *perm;
	__typeof__(archive_entry_size) *size;
	__typeof__(archive_entry_size_is_set) *size_is_set;
};

#define ROW(member, name) { name, offsetof(struct archive_library, member) }
static const struct library_symbol archive_symbols[] = {
	ROW(read_new, "archive_read_new"),
	ROW(read_free, "archive_read_free"),
	ROW(support_gzip, "archive_read_support_filter_gzip"),
	ROW(support_tar, "archive_read_support_format_tar"),
	ROW(support_zip, "archive_read_support_format_zip_seekable"),
	ROW(open_fd, "archive_read_open_fd"),
	ROW(next_header, "archive_read_next_header"),
	ROW(read_data, "archive_read_data"),
	ROW(filter_count, "archive_filter_count"),
	ROW(filter_bytes, "archive_filter_bytes"),
	ROW(error_string, "archive_error_string"),
	ROW(pathname, "archive_entry_pathname"),
	ROW(filetype, "archive_entry_filetype"),
	ROW(hardlink, "archive_entry_hardlink"),
	ROW(symlink, "archive_entry_symlink"),
	ROW(perm, "archive_entry_perm"),
	ROW(size, "archive_entry_size"),
	ROW(size_is_set, "archive_entry_size_is_set"),
};
#undef ROW

static const struct library archive_row = { { "libarchive.so.13" }, "An archive needs",
                                            "libarchive13", archive_symbols,
                                            ARRAY_LEN(archive_symbols) };

static pthread_once_t archive_once = PTHREAD_ONCE_INIT;
static struct archive_library library;
static struct err archive_absent;

static void load_archive_library(void)
{
	library_load(&archive_row, &library, &archive_absent);
}

/* ---- names ---------------------------------------------------------------------------- */

enum {
	UNPACK_PIECE = 128 << 10,
	UNPACK_BLOCK = 64 << 10,
	UNPACK_FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

struct unpacking {
	struct archive *archive;
	const char *what;
	int root;
	json_t *names;      /* {path in one case: path}: what there is, folders on the way too */
	size_t entries;     /* of the archive, and folders on their way */
	uint64_t bytes;     /* of content */
	uint64_t max_bytes;
	char *piece;        /* UNPACK_PIECE bytes */
};

static bool refuse(const struct unpacking *unpacking, const char *path, const char *why,
                   struct err *err)
{
	_cleanup_free_ char *shown = extension_line(utf8_head(span_str(path), 200));

	return err_set(err, ERR_INVALID_ARGUMENT, "%s was not unpacked: \"%s\" %s.",
	               unpacking->what, shown, why);
}

static bool refuse_size(const struct unpacking *unpacking, const char *what, uint64_t max,
                        struct err *err)
{
	return err_set(err, ERR_TOO_LARGE, "%s was not unpacked: it has more than %llu %s.",
	               unpacking->what, (unsigned long long)max, what);
}

/* A sentence's end, if a part of a path may not be a name. */
static const char *name_problem(struct span name)
{
	struct unseen state = { .rest = name };
	struct unseen_piece piece;

	if (span_eq(name, SPAN("..")))
		return "leads out of it";
	if (name.len > NAME_MAX)
		return "has too long a name";
	while (unseen_next(&state, &piece)) {
		if (piece.bad)
			return "has a name that is not UTF-8";
		if (piece.hidden || piece.code == 0x2028 || piece.code == 0x2029 ||
		    (piece.code >= 0x7f && piece.code < 0xa0))
			return "has an invisible or control character in its name";
		/* A run of ASCII is one piece. */
		for (size_t i = 0; i < piece.bytes.len; i++)
			if ((unsigned char)piece.bytes.data[i] < ' ' ||
			    piece.bytes.data[i] == 0x7f)
				return "has an invisible or control character in its name";
	}
	return NULL;
}

static bool name_is_git(struct span name)
{
	return name.len == 4 && !strncasecmp(name.data, ".git", 4);
}

/* Takes the next part of a path that is a name; false at its end. */
static bool name_take(struct span *rest, struct span *ret)
{
	while (rest->len) {
		const char *slash = memchr(rest->data, '/', rest->len);
		const size_t len = slash ? (size_t)(slash - rest->data) : rest->len;

		*ret = span_head(*rest, len);
		*rest = span_skip(*rest, len + (slash != NULL));
		if (len && !span_eq(*ret, SPAN(".")))
			return true;
	}
	return false;
}

/* The path without "." and empty names, and how many names it has; false with *err where one of
 * them is refused.  *ret: the caller frees. */
static bool path_clean(const struct unpacking *unpacking, const char *said, char **ret,
                       unsigned *ret_names, bool *ret_git, struct err *err)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES);
	struct span rest = span_str(said), name;
	unsigned names = 0;
	bool git = false;

	if (rest.len && rest.data[0] == '/')
		return refuse(unpacking, said, "is an absolute path", err);
	for (; name_take(&rest, &name); names++) {
		const char *problem = name_problem(name);

		if (problem)
			return refuse(unpacking, said, problem, err);
		git = git || name_is_git(name);
		if (path.len)
			buf_char(&path, '/');
		buf_span(&path, name);
	}
	if (path.overflowed)
		return refuse(unpacking, said, "has too long a name", err);
	if (names > TREE_DEPTH_MAX)
		return refuse(unpacking, said, "is too deep", err);
	*ret = mem_dup(path.data ? path.data : "", path.len);
	*ret_names = names;
	*ret_git = git;
	return true;
}

/* Letters' cases aside, and how characters are composed. */
static char *path_folded(const char *path)
{
	utf8proc_uint8_t *folded = NULL;
	const utf8proc_ssize_t len =
		utf8proc_map((const utf8proc_uint8_t *)path, 0, &folded,
	                     UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPOSE |
	                     UTF8PROC_CASEFOLD);

	return len < 0 ? mem_strdup(path) : (char *)folded;
}

/* Records `path`; refuses a path that a file system may treat as the same as an earlier one. */
static bool name_note(struct unpacking *unpacking, const char *path, struct err *err)
{
	_cleanup_free_ char *folded = path_folded(path);
	const json_t *known = json_object_get(unpacking->names, folded);

	if (known && strcmp(json_string_value(known), path) != 0)
		return refuse(unpacking, path, "is there twice but for letters' cases", err);
	if (!known)
		json_object_set_new(unpacking->names, folded, json_text(span_str(path)));
	return true;
}

static bool count_unpacked(struct unpacking *unpacking, struct err *err)
{
	return ++unpacking->entries <= LIMIT_TREE_FILES ||
	       refuse_size(unpacking, "files", LIMIT_TREE_FILES, err);
}

/* ---- one entry ------------------------------------------------------------------------ */

/* The folder with this name, made if it is missing; -1 with *err. */
static int folder_enter(struct unpacking *unpacking, int folder, const char *path, const char *name,
                        struct err *err)
{
	int inner;

	if (!name_note(unpacking, path, err))
		return -1;
	if (mkdirat(folder, name, 0755) == 0) {
		if (!count_unpacked(unpacking, err))
			return -1;
	} else if (errno != EEXIST) {
		err_set_errno(err, errno, "Cannot make the folder %s", path);
		return -1;
	}
	inner = fd_open_beneath(folder, name, UNPACK_FOLDER);
	if (inner < 0)
		refuse(unpacking, path, "is there twice", err);
	return inner;
}

/* Opens the folder that the cleaned path is in, made where it is missing; *ret_name: the last part.
 * With `whole` the path's own. -1 with *err. */
static int folder_of(struct unpacking *unpacking, char *path, bool whole, const char **ret_name,
                     struct err *err)
{
	_cleanup_fd_ int folder = fd_open_beneath(unpacking->root, ".", UNPACK_FOLDER);
	char *name = path;

	if (folder < 0)
		err_set_errno(err, errno, "Cannot open a folder");
	while (folder >= 0) {
		char *slash = strchr(name, '/');
		int inner;

		if (!slash && (!whole || !*name))
			break;
		if (slash)
			*slash = '\0';
		inner = folder_enter(unpacking, folder, path, name, err);
		if (slash)
			*slash = '/';
		close(folder);
		folder = inner;
		if (!slash)
			break;
		name = slash + 1;
	}
	*ret_name = name;
	return fd_steal(&folder);
}

static bool count_content(struct unpacking *unpacking, uint64_t more, struct err *err)
{
	if (more > unpacking->max_bytes || unpacking->bytes + more > unpacking->max_bytes)
		return refuse_size(unpacking, "bytes", unpacking->max_bytes, err);
	unpacking->bytes += more;
	return true;
}

/* What the library says, harmless. */
static bool archive_fail(const struct unpacking *unpacking, struct err *err)
{
	const char *said = library.error_string(unpacking->archive);
	_cleanup_free_ char *line =
		extension_line(utf8_head(span_str(said ? said : "it is damaged"), 200));

	return err_set(err, ERR_INVALID_ARGUMENT, "%s was not unpacked: %s.", unpacking->what,
	               line);
}

/* Its bytes, from the archive or, of a hard link, from what it names; to nowhere if `out` is -1. */
static bool content_write(struct unpacking *unpacking, int from, int out, struct err *err)
{
	for (;;) {
		const ssize_t got =
			from >= 0 ? fd_read_full(from, unpacking->piece, UNPACK_PIECE) :
			            library.read_data(unpacking->archive, unpacking->piece,
			                              UNPACK_PIECE);

		if (got < 0 && from < 0)
			return archive_fail(unpacking, err);
		if (got < 0)
			return err_set_errno(err, errno, "Cannot read what was unpacked");
		if (!got)
			return true;
		if (!count_content(unpacking, (uint64_t)got, err))
			return false;
		if (out >= 0 && !fd_write_all(out, unpacking->piece, (size_t)got))
			return err_set_errno(err, errno, "Cannot write what is unpacked");
	}
}

static bool file_unpack(struct unpacking *unpacking, int folder, const char *path,
                        const char *name, int from, bool runs, struct err *err)
{
	_cleanup_fd_ int out = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	                                            O_CLOEXEC, runs ? 0755 : 0644);

	if (out < 0 && errno == EEXIST)
		return refuse(unpacking, path, "is there twice", err);
	if (out < 0)
		return err_set_errno(err, errno, "Cannot make the file %s", path);
	return content_write(unpacking, from, out, err);
}

static bool symlink_unpack(struct unpacking *unpacking, int folder, const char *path,
                           const char *name, const char *target, unsigned depth, struct err *err)
{
	struct span rest = span_str(target ? target : ""), part;

	if (!tree_link_stays(rest, depth))
		return refuse(unpacking, path, "is a link that leads out of it", err);
	while (name_take(&rest, &part))
		if (name_is_git(part) ||
		    (!span_eq(part, SPAN("..")) && name_problem(part)))
			return refuse(unpacking, path, "is a link to a name that is not taken",
			              err);
	if (symlinkat(target, folder, name) == 0)
		return true;
	return errno == EEXIST ? refuse(unpacking, path, "is there twice", err) :
	                         err_set_errno(err, errno, "Cannot make the link %s", path);
}

/* Unpacks a hard link as a copy. */
static bool hardlink_unpack(struct unpacking *unpacking, int folder, const char *path,
                            const char *name, const char *target, struct err *err)
{
	_cleanup_free_ char *other = NULL;
	_cleanup_fd_ int from = -1;
	struct stat status;
	unsigned names;
	bool git;

	if (!path_clean(unpacking, target, &other, &names, &git, err))
		return false;
	from = fd_open_beneath(unpacking->root, other, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (from < 0 || fstat(from, &status) != 0 || !S_ISREG(status.st_mode))
		return refuse(unpacking, path, "is a link to a file that is not in it", err);
	return file_unpack(unpacking, folder, path, name, from, status.st_mode & S_IXUSR, err);
}

static bool entry_place(struct unpacking *unpacking, struct archive_entry *entry, char *path,
                        unsigned names, struct err *err)
{
	const char *hard = library.hardlink(entry), *name = NULL;
	const mode_t type = hard ? S_IFREG : library.filetype(entry);
	_cleanup_fd_ int folder = -1;

	if (type != S_IFREG && type != S_IFDIR && type != S_IFLNK)
		return refuse(unpacking, path, "is neither a file nor a folder nor a link", err);
	folder = folder_of(unpacking, path, type == S_IFDIR, &name, err);
	if (folder < 0)
		return false;
	if (type == S_IFDIR)
		return true;
	if (!*name)
		return refuse(unpacking, path, "has no name", err);
	if (!name_note(unpacking, path, err))
		return false;
	if (hard)
		return hardlink_unpack(unpacking, folder, path, name, hard, err);
	if (type == S_IFLNK)
		return symlink_unpack(unpacking, folder, path, name, library.symlink(entry),
		                      names - 1, err);
	return file_unpack(unpacking, folder, path, name, -1, library.perm(entry) & S_IXUSR, err);
}

static bool entry_unpack(struct unpacking *unpacking, struct archive_entry *entry, struct err *err)
{
	const char *said = library.pathname(entry);
	_cleanup_free_ char *path = NULL;
	unsigned names;
	bool git;

	if (!said)
		return refuse(unpacking, "?", "has a name that is not UTF-8", err);
	if (!count_unpacked(unpacking, err) ||
	    !path_clean(unpacking, said, &path, &names, &git, err))
		return false;
	/* What it says of itself, before anything of it is read or skipped. */
	if (library.size_is_set(entry) &&
	    (uint64_t)library.size(entry) > unpacking->max_bytes)
		return refuse_size(unpacking, "bytes", unpacking->max_bytes, err);
	return git ? content_write(unpacking, -1, -1, err) :
	             entry_place(unpacking, entry, path, names, err);
}

/* ---- the whole ------------------------------------------------------------------------ */

static uint64_t bytes_allowed(uint64_t packed)
{
	uint64_t allowed = LIMIT_TREE_BYTES;

	if (packed && packed < LIMIT_TREE_BYTES / LIMIT_UNPACK_RATIO)
		allowed = packed * LIMIT_UNPACK_RATIO;
	return packed && allowed < LIMIT_UNPACK_FREE ? LIMIT_UNPACK_FREE : allowed;
}

static bool entries_unpack(struct unpacking *unpacking, struct err *err)
{
	for (;;) {
		struct archive_entry *entry;
		const int got = library.next_header(unpacking->archive, &entry);

		if (got == ARCHIVE_EOF)
			return true;
		if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
			return archive_fail(unpacking, err);
		/* Headers and what was skipped count with some room. */
		if ((uint64_t)library.filter_bytes(unpacking->archive, 0) >
		    2 * unpacking->max_bytes)
			return refuse_size(unpacking, "bytes", unpacking->max_bytes, err);
		if (!entry_unpack(unpacking, entry, err))
			return false;
	}
}

static bool archive_open(struct unpacking *unpacking, int file, struct err *err)
{
	struct archive *archive = unpacking->archive;

	library.support_gzip(archive);
	library.support_tar(archive);
	library.support_zip(archive);
	if (library.open_fd(archive, file, UNPACK_BLOCK) != ARCHIVE_OK)
		return archive_fail(unpacking, err);
	/* One gzip around it, and the file itself: several would hide a bomb from the ratio. */
	return library.filter_count(archive) <= 2 ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "%s was not unpacked: it is compressed several times.", unpacking->what);
}

/* libarchive reads names as the locale has them. */
static bool unpack_in_utf8(struct unpacking *unpacking, int file, struct err *err)
{
	const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	const locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
	const bool ok = archive_open(unpacking, file, err) && entries_unpack(unpacking, err);

	if (utf8) {
		uselocale(before);
		freelocale(utf8);
	}
	return ok;
}

bool unpack(int file, uint64_t packed, const char *what, int folder, struct err *err)
{
	struct unpacking unpacking = { .what = what, .root = folder,
		                       .max_bytes = bytes_allowed(packed) };
	bool ok;

	pthread_once(&archive_once, load_archive_library);
	if (archive_absent.code != ERR_NONE) {
		*err = archive_absent;
		return false;
	}
	unpacking.archive = library.read_new();
	if (!unpacking.archive)
		return err_set(err, ERR_INTERNAL, "libarchive has no memory.");
	unpacking.names = json_object();
	unpacking.piece = mem_alloc(UNPACK_PIECE, 1);
	ok = unpack_in_utf8(&unpacking, file, err);
	library.read_free(unpacking.archive);
	json_decref(unpacking.names);
	free(unpacking.piece);
	return ok;
}
