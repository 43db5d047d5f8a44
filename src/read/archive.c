/* SPDX-License-Identifier: Apache-2.0 */
/* Archives by libarchive: what is in them, and one member's text; packages of Debian with the
 * archives that they are made of; files that are compressed. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "read/archives.h"
#include "read/text_out.h"

enum {
	MEMBER_PIECE = 128 << 10,
	NAME_SHOWN = 4096,
	CONTROL_BYTES = 64 << 10,
	LISTED_MAX = 1000000,     /* members; what has more is cut there */
	LIST_MS = 4000,           /* a listing takes longer: what there is by then is the answer */
	EQUAL_ARCHIVES = 8,       /* members that are archives of one size: as in 42.zip */
	BOMB_TIMES = 1000,        /* members declare so many times the archive's size */
};

#define BOMB_BYTES ((uint64_t)1 << 30)

/* What is known when all was listed. */
struct archive_listing {
	const struct derive_request *request;
	struct derive_result *ret;
	struct text_out out;
	uint64_t members, bytes, unsafe, encrypted;
	uint64_t nested, nested_size;  /* archives in it of the first one's size, and that */
	uint64_t deadline;             /* clock_monotonic_ms */
	bool stopped;
	struct buf control;            /* of a package of Debian */
};

bool format_archive_load(struct err *err)
{
	return archives_load(err);
}

/* ---- names ----------------------------------------------------------------------------- */

/* Whether unpacking it by this name would write elsewhere. */
static bool leads_outside(struct span name)
{
	bool outside = span_starts(name, SPAN("/"));

	while (name.len && !outside) {
		const char *slash = memchr(name.data, '/', name.len);
		const size_t len = slash ? (size_t)(slash - name.data) : name.len;

		outside = span_eq(span_head(name, len), SPAN(".."));
		name = span_skip(name, len + (slash != NULL));
	}
	return outside;
}

static struct span without_dot(struct span name)
{
	return span_starts(name, SPAN("./")) ? span_skip(name, 2) : name;
}

static struct span entry_name(struct archive_entry *entry)
{
	const char *name = archives_library()->pathname(entry);

	return name ? span_str(name) : SPAN("(a name that cannot be shown)");
}

static struct span listed_name(struct archive_entry *entry)
{
	const struct span name = without_dot(entry_name(entry));

	return name.len ? name : SPAN(".");
}

static bool is_archive_name(struct span name)
{
	static const char *const endings[] = { ".zip", ".gz", ".xz", ".bz2", ".zst", ".7z", ".tar",
		                               ".rar", ".jar" };

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (span_ends(name, span_str(endings[i])))
			return true;
	return false;
}

/* ---- listing --------------------------------------------------------------------------- */

/* "drwxr-xr-x" */
static void mode_text(struct archive_entry *entry, char text[static 11])
{
	const unsigned mode = archives_library()->perm(entry);
	const unsigned type = archives_library()->filetype(entry);

	snprintf(text, 11, "-rwxrwxrwx");
	for (unsigned i = 0; i < 9; i++)
		if (!(mode & (0400U >> i)))
			text[1 + i] = '-';
	text[0] = type == AE_IFDIR ? 'd' : type == AE_IFLNK ? 'l' : type == AE_IFCHR ? 'c' :
	          type == AE_IFBLK ? 'b' : type == AE_IFIFO ? 'p' : '-';
}

static void time_text(struct archive_entry *entry, char text[static 20])
{
	const struct archives_library *lib = archives_library();
	const time_t moment = lib->mtime_is_set(entry) ? lib->mtime(entry) : 0;
	struct tm parts;

	if (!lib->mtime_is_set(entry) || moment < 0 || moment > 253402300799 ||
	    !gmtime_r(&moment, &parts) || !strftime(text, 20, "%Y-%m-%d %H:%M", &parts))
		snprintf(text, 20, "-");
}

static void list_line(struct archive_listing *listing, struct archive_entry *entry,
                      const char *prefix, uint64_t size, bool outside)
{
	const struct archives_library *lib = archives_library();
	_cleanup_free_ char *name = unseen_line(listed_name(entry), NAME_SHOWN);
	const char *target = lib->symlink(entry) ? lib->symlink(entry) : lib->hardlink(entry);
	_cleanup_free_ char *shown = target ? unseen_line(span_str(target), NAME_SHOWN) : NULL;
	char mode[11], moment[20], bytes[24] = "-";

	mode_text(entry, mode);
	time_text(entry, moment);
	if (lib->size_is_set(entry))
		snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)size);
	text_out_printf(&listing->out, "%s %10s  %s  %s%s%s%s%s%s\n", mode, bytes, moment, prefix,
	                name, target ? lib->symlink(entry) ? " -> " : " = " : "",
	                shown ? shown : "",
	                lib->data_encrypted(entry) ? "  (encrypted)" : "",
	                outside ? "  (unpacking it would write outside of the folder)" : "");
}

static void list_entry(struct archive_listing *listing, struct archive_entry *entry,
                       const char *prefix)
{
	const struct archives_library *lib = archives_library();
	const int64_t declared = lib->size_is_set(entry) ? lib->size(entry) : 0;
	const uint64_t size = declared > 0 ? (uint64_t)declared : 0;
	const struct span name = listed_name(entry);
	const bool outside = leads_outside(name), file = lib->filetype(entry) == AE_IFREG;

	listing->members++;
	listing->bytes = size > UINT64_MAX / 2 - listing->bytes ? UINT64_MAX / 2 :
	                 listing->bytes + size;
	listing->unsafe += outside;
	listing->encrypted += lib->data_encrypted(entry) != 0;
	if (file && size && is_archive_name(name)) {
		listing->nested_size = listing->nested_size ? listing->nested_size : size;
		listing->nested += size == listing->nested_size;
	}
	if (listing->request->want == DERIVE_OUTLINE && file) {
		_cleanup_free_ char *path = mem_printf("%s%.*s", prefix, (int)name.len, name.data);

		format_entry_count(format_outline(listing->ret, span_str(path), "member",
		                                  span_str(path)),
		                   "bytes", size);
	} else {
		list_line(listing, entry, prefix, size, outside);
	}
}

/* "control/" for control.tar.xz of a package of Debian; NULL: it is no such member. */
static const char *package_part(struct span name)
{
	if (span_starts(name, SPAN("control.tar")))
		return "control/";
	return span_starts(name, SPAN("data.tar")) ? "data/" : NULL;
}

static bool is_debian(const struct format_input *input)
{
	char head[8 + 16];

	return pread(input->fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       memcmp(head, "!<arch>\ndebian-binary", 21) == 0;
}

/* Up to `max` bytes of the current entry; *ret_more: there are more. */
static bool read_content(struct archives_source *source, size_t max, struct buf *ret,
                         bool *ret_more, struct err *err)
{
	ssize_t count;

	*ret = (struct buf)BUF_INIT(max + MEMBER_PIECE);
	do {
		char *room = ret->len < max ? buf_reserve(ret, MEMBER_PIECE) : NULL;

		if (!room)
			break;
		count = archives_read(source, room, MEMBER_PIECE, err);
		if (count < 0)
			return false;
		ret->len += (size_t)count;
	} while (count > 0);
	*ret_more = ret->len >= max;
	if (ret->data)
		ret->data[ret->len] = '\0';
	return true;
}

static bool list_entries(struct archive_listing *listing, struct archives_source *source,
                         const char *prefix, bool debian, struct err *err);

static bool list_within(struct archive_listing *listing, struct archives_source *outer,
                        const char *prefix, struct err *err)
{
	struct archives_source inner;
	const bool ok = archives_open_within(&inner, outer, err) &&
	                list_entries(listing, &inner, prefix, false, err);

	archives_close(&inner);
	return ok;
}

/* recursive to one level: `debian` is false within. */
static bool list_entries(struct archive_listing *listing, struct archives_source *source,
                         const char *prefix, bool debian, struct err *err)
{
	struct archive_entry *entry;

	while (archives_next(source, &entry, err)) {
		const char *part;
		bool more;

		listing->stopped |= listing->members == LISTED_MAX ||
		                    clock_monotonic_ms() > listing->deadline;
		if (!entry || listing->stopped)
			return true;
		list_entry(listing, entry, prefix);
		part = debian ? package_part(entry_name(entry)) : NULL;
		if (part && !list_within(listing, source, part, err))
			return false;
		if (strcmp(prefix, "control/") == 0 && !listing->control.len &&
		    span_eq(without_dot(entry_name(entry)), SPAN("control")) &&
		    !read_content(source, CONTROL_BYTES, &listing->control, &more, err))
			return false;
	}
	return false;
}

/* ---- what a listing says --------------------------------------------------------------- */

static void control_facts(struct derive_result *ret, struct span control)
{
	static const struct {
		const char *field, *fact;
	} rows[] = {
		{ "Package: ", "package" }, { "Version: ", "version" },
		{ "Architecture: ", "architecture" }, { "Depends: ", "depends" },
		{ "Description: ", "description" },
	};
	struct span line;

	while (line_next(&control, &line))
		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			if (span_starts(line, span_str(rows[i].field)))
				format_fact(ret, rows[i].fact,
				            span_skip(line, strlen(rows[i].field)));
}

static void bomb_fact(const struct archive_listing *listing, uint64_t size)
{
	char text[200];

	if (listing->nested >= EQUAL_ARCHIVES && listing->nested * 2 > listing->members)
		snprintf(text, sizeof(text), "%llu of its %llu members are archives of the same "
		         "size, as in a bomb of nested archives. Do not unpack it.",
		         (unsigned long long)listing->nested,
		         (unsigned long long)listing->members);
	else if (listing->bytes > BOMB_BYTES && listing->bytes / BOMB_TIMES > size)
		snprintf(text, sizeof(text), "Its members are %llu times as large as itself, as in "
		         "a decompression bomb. Do not unpack it.",
		         (unsigned long long)(listing->bytes / (size ? size : 1)));
	else
		return;
	format_fact(listing->ret, "warning", span_str(text));
}

static void source_facts(struct archives_source *source, struct derive_result *ret)
{
	const struct archives_library *lib = archives_library();
	_cleanup_buf_ struct buf filters = BUF_INIT(200);
	const char *name = lib->format_name(source->archive);

	format_library(ret, "%s", lib->version());
	if (name)
		format_fact(ret, "format", span_str(name));
	for (int i = 0; i + 1 < lib->filter_count(source->archive); i++)
		buf_printf(&filters, "%s%s", i ? ", " : "", lib->filter_name(source->archive, i));
	format_fact(ret, "compression", buf_view(&filters));
}

static void listing_facts(struct archive_listing *listing, uint64_t size)
{
	struct derive_result *ret = listing->ret;

	format_fact_count(ret, "members", listing->members);
	format_fact_count(ret, "bytes", listing->bytes);
	if (listing->encrypted)
		format_fact_count(ret, "encrypted", listing->encrypted);
	if (listing->unsafe)
		format_fact_count(ret, "unsafe_names", listing->unsafe);
	control_facts(ret, buf_view(&listing->control));
	bomb_fact(listing, size);
	if (listing->stopped) {
		ret->truncated = true;
		format_fact(ret, "note", SPAN("There are more members: the listing took too long, "
		                              "or has a million."));
	}
}

static bool list_archive(struct archives_source *source, const struct format_input *input,
                         const struct derive_request *request, struct derive_result *ret,
                         struct err *err)
{
	struct archive_listing listing = { .request = request, .ret = ret,
		                   .deadline = clock_monotonic_ms() + LIST_MS };
	struct err broken = ERR_INIT;
	bool ok;

	text_out_init(&listing.out, request, ret);
	ok = list_entries(&listing, source, "", is_debian(input), &broken);
	text_out_end(&listing.out);
	source_facts(source, ret);
	listing_facts(&listing, input->size);
	buf_release(&listing.control);
	if (ok)
		return true;
	/* What came before the damage is good. */
	if (!listing.members || broken.code == ERR_TOO_LARGE) {
		*err = broken;
		return false;
	}
	format_fact(ret, "damaged", span_str(broken.message));
	return true;
}

/* ---- a member -------------------------------------------------------------------------- */

/* The content of the current entry, for format_run. */
static bool hand_over(struct archives_source *source, const struct format_input *input,
                      const char *name, struct err *err)
{
	struct format_content *content = input->content;

	content->there = true;
	content->name = mem_strdup(name);
	return read_content(source, FORMAT_CONTENT, &content->bytes, &content->cut, err);
}

/* Goes to the entry of that name; *ret_found: it is there. */
static bool find_named(struct archives_source *source, struct span name, bool *ret_found,
                       struct err *err)
{
	struct archive_entry *entry;

	*ret_found = false;
	while (archives_next(source, &entry, err)) {
		if (!entry)
			return true;
		if (span_eq(without_dot(entry_name(entry)), without_dot(name)) &&
		    archives_library()->filetype(entry) != AE_IFDIR) {
			*ret_found = true;
			if (archives_library()->data_encrypted(entry))
				return err_set(err, ERR_NOT_TEXT, "Its member is encrypted.");
			return true;
		}
	}
	return false;
}

/* "data/usr/bin/x" of a package: leaves *inner in the archive that it names. */
static bool find_within(struct archives_source *source, struct archives_source *inner,
                        const char *member, bool *ret_found, struct err *err)
{
	struct archive_entry *entry;

	*ret_found = false;
	while (archives_next(source, &entry, err)) {
		const char *part = entry ? package_part(entry_name(entry)) : NULL;

		if (!entry)
			return true;
		if (part && strncmp(member, part, strlen(part)) == 0)
			return archives_open_within(inner, source, err) &&
			       find_named(inner, span_str(member + strlen(part)), ret_found, err);
	}
	return false;
}

static bool read_member(struct archives_source *source, const struct format_input *input,
                        const struct derive_request *request, struct derive_result *ret,
                        struct err *err)
{
	_cleanup_archives_ struct archives_source inner = { 0 };
	const char *member = request->member;
	bool found;
	const bool within = is_debian(input) && strchr(member, '/');

	if (!(within ? find_within(source, &inner, member, &found, err) :
	               find_named(source, span_str(member), &found, err)))
		return false;
	if (!found)
		return err_set(err, ERR_INVALID_ARGUMENT, "It has no member \"%.200s\": read it "
		               "without \"member\" to list what it has.", member);
	source_facts(source, ret);
	format_fact(ret, "member", span_str(member));
	return hand_over(within ? &inner : source, input, member, err);
}

/* ---- a compressed file ----------------------------------------------------------------- */

static bool read_compressed(const struct format_input *input, struct derive_result *ret,
                            struct err *err)
{
	_cleanup_archives_ struct archives_source source = { 0 };
	const char *dot = strrchr(input->name, '.');
	_cleanup_free_ char *name = dot ? mem_dup(input->name, (size_t)(dot - input->name)) :
	                                  mem_strdup(input->name);
	struct archive_entry *entry;

	if (!archives_open(&source, input, ARCHIVES_RAW, err) ||
	    !archives_next(&source, &entry, err))
		return false;
	if (!entry || archives_library()->filter_count(source.archive) < 2)
		return err_set(err, ERR_NOT_TEXT, "It is damaged, or no archive.");
	source_facts(&source, ret);
	json_object_del(ret->facts, "format");
	return hand_over(&source, input, name, err);
}

/* ---- all of them ----------------------------------------------------------------------- */

bool format_archive_read(const struct format_input *input, const struct derive_request *request,
                         struct derive_result *ret, struct err *err)
{
	_cleanup_archives_ struct archives_source source = { 0 };

	if (!archives_open(&source, input, ARCHIVES_ANY, err))
		return false;
	if (request->member)
		return read_member(&source, input, request, ret, err);
	if (request->pages || request->sheet || request->range || request->cell ||
	    request->table || request->formulas || request->strings || request->render)
		return err_set(err, ERR_INVALID_ARGUMENT, "It is an archive: name the \"member\" "
		               "that this is a part of.");
	return list_archive(&source, input, request, ret, err);
}

/* Whether an archive is in it is known when it is read. */
bool format_compressed_read(const struct format_input *input,
                            const struct derive_request *request, struct derive_result *ret,
                            struct err *err)
{
	struct err of_archive = ERR_INIT;

	/* Zeros are a tar archive without members. */
	if (format_archive_read(input, request, ret, &of_archive) &&
	    (request->member || json_integer_value(json_object_get(ret->facts, "members"))))
		return true;
	if ((of_archive.code && of_archive.code != ERR_NOT_TEXT) || request->member) {
		*err = of_archive;
		return false;
	}
	json_object_clear(ret->facts);
	buf_clear(&ret->text);
	return read_compressed(input, ret, err);
}
