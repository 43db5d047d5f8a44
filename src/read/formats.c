/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and which of them a file is of. */
#include "read/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "read/query.h"
#include "read/sqlite_open.h"
#include "read/text_out.h"

#define MAGIC(at_, bytes_) { (at_), SPAN(bytes_) }

/* ---- kinds with more signs than a row has room for ---- */

static bool is_riff(struct span head, const char *form)
{
	return span_starts(head, SPAN("RIFF")) &&
	       span_starts(span_skip(head, 8), span_of(form, 4));
}

/* The brand of an ISO media file. */
static bool has_brand(struct span head, const char *brand)
{
	return span_starts(span_skip(head, 4), SPAN("ftyp")) &&
	       span_starts(span_skip(head, 8), span_str(brand));
}

static bool is_media_image(struct span head)
{
	return span_starts(head, SPAN("\x89PNG\r\n\x1a\n")) ||
	       span_starts(head, SPAN("\xff\xd8\xff")) || span_starts(head, SPAN("GIF8")) ||
	       is_riff(head, "WEBP") || has_brand(head, "heic") || has_brand(head, "mif1") ||
	       has_brand(head, "avif") ||
	       (span_starts(head, SPAN("BM")) && span_starts(span_skip(head, 6), SPAN("\0\0\0\0")));
}

static bool is_video(struct span head)
{
	return is_riff(head, "AVI ") || span_starts(head, SPAN("\x1a\x45\xdf\xa3")) ||
	       span_starts(head, SPAN("\0\0\1\xba")) || span_starts(head, SPAN("\0\0\1\xb3")) ||
	       (has_brand(head, "") && !is_media_image(head) && !has_brand(head, "M4A"));
}

/* A part of a member that has another format, too. */
#define ARCHIVE_TAKES "member pages sheet range cell table formulas strings details render"

static const struct format formats[] = {
	{ .key = "image", .words = "an image", .extensions = "", .sniff = is_media_image,
	  .media = true, .takes = "details", .load = format_image_load,
	  .read = format_image_read },
	{ .key = "other_image", .words = "an image", .extensions = "",
	  .magic = { MAGIC(0, "II*\0"), MAGIC(0, "MM\0*"), MAGIC(0, "8BPS"),
	             MAGIC(0, "gimp xcf"), MAGIC(0, "\0\0\1\0") },
	  .takes = "details", .load = format_image_load, .read = format_image_read },
	{ .key = "audio", .words = "a recording", .extensions = "",
	  .magic = { MAGIC(0, "ID3"), MAGIC(0, "fLaC"), MAGIC(0, "OggS"), MAGIC(8, "WAVEfmt "),
	             MAGIC(8, "AIFF"), MAGIC(4, "ftypM4A") },
	  .media = true, .takes = "", .load = format_recording_load,
	  .read = format_recording_read },
	{ .key = "video", .words = "a video", .extensions = "", .sniff = is_video, .media = true,
	  .takes = "", .load = format_recording_load, .read = format_recording_read },
	{ .key = "rtf", .words = "an RTF document", .extensions = "rtf",
	  .magic = { MAGIC(0, "{\\rtf") }, .takes = "", .load = format_rtf_load,
	  .read = format_rtf_read },
	{ .key = "ipynb", .words = "a Jupyter notebook", .extensions = "ipynb", .takes = "cell",
	  .read = format_ipynb_read },
	{ .key = "eml", .words = "an e-mail", .extensions = "eml", .takes = "member",
	  .load = format_mail_load, .read = format_eml_read },
	{ .key = "mbox", .words = "a mailbox", .extensions = "mbox mbx",
	  .magic = { MAGIC(0, "From ") }, .by_name = true, .takes = "pages",
	  .load = format_mail_load, .read = format_mbox_read },
	{ .key = "database", .words = "an SQLite database", .extensions = "",
	  .magic = { MAGIC(0, "SQLite format 3") }, .query = true,
	  .takes = "sql query range details",
	  .load = sqlite_open_load, .read = query_sql },
	{ .key = "data", .words = "structured data", .extensions = "", .query = true,
	  .takes = "sql query range details", .load = query_data_load, .read = query_data_read },
	{ .key = "html", .words = "an HTML page", .extensions = "html htm xhtml",
	  .source = true, .takes = "", .load = format_html_load, .read = format_html_read },
	{ .key = "pdf", .words = "a PDF document", .extensions = "pdf",
	  .sniff = format_pdf_sniff, .takes = "pages render", .data = format_pdf_data,
	  .load = format_pdf_load, .read = format_pdf_read },
	/* Documents in ZIP archives, which have the mark of a ZIP archive, and then say what they
	 * are in their first member or by the names of others. */
	{ .key = "docx", .words = "a Word document", .extensions = "docx docm dotx dotm",
	  .magic = { MAGIC(0, "PK\3\4") }, .by_name = true, .takes = "",
	  .load = format_office_load, .read = format_docx_read },
	{ .key = "xlsx", .words = "an Excel workbook", .extensions = "xlsx xlsm xltx xltm",
	  .magic = { MAGIC(0, "PK\3\4") }, .by_name = true, .takes = "sheet range formulas",
	  .load = format_office_load, .read = format_xlsx_read },
	{ .key = "pptx", .words = "a PowerPoint presentation",
	  .extensions = "pptx pptm ppsx ppsm potx potm",
	  .magic = { MAGIC(0, "PK\3\4") }, .by_name = true, .takes = "pages",
	  .load = format_office_load, .read = format_pptx_read },
	{ .key = "odt", .words = "an OpenDocument text", .extensions = "odt ott",
	  .magic = { MAGIC(30, "mimetypeapplication/vnd.oasis.opendocument.text") },
	  .takes = "", .load = format_office_load, .read = format_odt_read },
	{ .key = "ods", .words = "an OpenDocument spreadsheet", .extensions = "ods ots",
	  .magic = { MAGIC(30, "mimetypeapplication/vnd.oasis.opendocument.spreadsheet") },
	  .takes = "sheet range formulas", .load = format_office_load,
	  .read = format_ods_read },
	{ .key = "odp", .words = "an OpenDocument presentation", .extensions = "odp otp",
	  .magic = { MAGIC(30, "mimetypeapplication/vnd.oasis.opendocument.presentation") },
	  .takes = "pages", .load = format_office_load, .read = format_odp_read },
	{ .key = "epub", .words = "an EPUB book", .extensions = "epub",
	  .magic = { MAGIC(30, "mimetypeapplication/epub+zip") },
	  .takes = "pages", .load = format_epub_load, .read = format_epub_read },
#define ARCHIVE .takes = ARCHIVE_TAKES, .load = format_archive_load, .read = format_archive_read
	{ .key = "zip", .words = "a ZIP archive", .extensions = "zip jar war whl apk xpi vsix",
	  .magic = { MAGIC(0, "PK\3\4"), MAGIC(0, "PK\5\6") }, ARCHIVE },
	{ .key = "tar", .words = "a tar archive", .extensions = "tar",
	  .magic = { MAGIC(257, "ustar") }, ARCHIVE },
	{ .key = "7z", .words = "a 7-Zip archive", .extensions = "7z",
	  .magic = { MAGIC(0, "7z\xBC\xAF\x27\x1C") }, ARCHIVE },
	{ .key = "ar", .words = "an ar archive", .extensions = "deb udeb a ar",
	  .magic = { MAGIC(0, "!<arch>\n") }, ARCHIVE },
	{ .key = "rpm", .words = "an RPM package", .extensions = "rpm",
	  .magic = { MAGIC(0, "\xED\xAB\xEE\xDB") }, ARCHIVE },
	{ .key = "cpio", .words = "a cpio archive", .extensions = "cpio",
	  .magic = { MAGIC(0, "070701"), MAGIC(0, "070702"), MAGIC(0, "070707"),
	             MAGIC(0, "\xC7\x71") }, ARCHIVE },
	{ .key = "iso", .words = "a CD image", .extensions = "iso",
	  .magic = { MAGIC(32769, "CD001") }, ARCHIVE },
	{ .key = "rar", .words = "a RAR archive", .extensions = "rar",
	  .magic = { MAGIC(0, "Rar!\x1A\x07") }, ARCHIVE },
	{ .key = "cab", .words = "a Cabinet archive", .extensions = "cab",
	  .magic = { MAGIC(0, "MSCF\0\0\0\0") }, ARCHIVE },
#undef ARCHIVE
	{ .key = "compressed", .words = "a compressed file",
	  .extensions = "gz tgz bz2 tbz2 xz txz zst tzst lz4 lz",
	  .magic = { MAGIC(0, "\x1F\x8B"), MAGIC(0, "BZh"), MAGIC(0, "\xFD" "7zXZ"),
	             MAGIC(0, "\x28\xB5\x2F\xFD"), MAGIC(0, "\x04\x22\x4D\x18"),
	             MAGIC(0, "LZIP") },
	  .takes = ARCHIVE_TAKES, .load = format_archive_load, .read = format_compressed_read },
	{ .key = "ole", .words = "an older Office document, or an encrypted one",
	  .extensions = "doc xls ppt",
	  .magic = { MAGIC(0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") }, .takes = "",
	  .read = format_ole_read },
	{ .key = "sqlite", .words = "an SQLite database", .extensions = "sqlite sqlite3 db db3",
	  .magic = { MAGIC(0, "SQLite format 3") }, .takes = "table range",
	  .load = sqlite_open_load, .read = format_sqlite_read },
	{ .key = "elf", .words = "a program or library in ELF", .extensions = "so o elf ko",
	  .magic = { MAGIC(0, "\x7F" "ELF") }, .takes = "strings details",
	  .load = format_elf_load, .read = format_elf_read },
	{ .key = "class", .words = "a compiled Java class", .extensions = "class",
	  .magic = { MAGIC(0, "\xCA\xFE\xBA\xBE") }, .sniff = format_class_sniff,
	  .takes = "strings", .read = format_class_read },
	{ .key = "pyc", .words = "compiled Python", .extensions = "pyc pyo", .by_name = true,
	  .sniff = format_pyc_sniff, .takes = "strings", .read = format_pyc_read },
	{ .key = "font", .words = "a font", .extensions = "ttf otf ttc otc woff woff2 pfb pcf",
	  .magic = { MAGIC(0, "\0\1\0\0\0"), MAGIC(0, "OTTO"), MAGIC(0, "ttcf"),
	             MAGIC(0, "wOFF"), MAGIC(0, "wOF2"), MAGIC(0, "\1fcp") }, .takes = "",
	  .load = format_font_load, .read = format_font_read },
};

const struct format *format_at(size_t i)
{
	return i < ARRAY_LEN(formats) ? &formats[i] : NULL;
}

const struct format *format_by_key(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i].key, key) == 0)
			return &formats[i];
	return NULL;
}

/* ---- which one ------------------------------------------------------------------------- */

/* Whether one of the space-separated words is `word`, in any case. */
static bool words_have(const char *words, struct span word)
{
	while (*words) {
		const size_t len = strcspn(words, " ");

		if (len == word.len && strncasecmp(words, word.data, len) == 0)
			return true;
		words += len + (words[len] == ' ');
	}
	return false;
}

/* Also ".tar.gz": the name ends with a point and one of the words. */
static bool has_ending(const struct format *format, const char *name)
{
	const char *slash = strrchr(name, '/');

	for (const char *dot = strchr(slash ? slash + 1 : name, '.'); dot;
	     dot = strchr(dot + 1, '.'))
		if (dot[1] && words_have(format->extensions, span_str(dot + 1)))
			return true;
	return false;
}

static bool has_magic(const struct format *format, struct span head)
{
	for (size_t i = 0; i < FORMAT_MAGICS && format->magic[i].bytes.len; i++)
		if (span_starts(span_skip(head, format->magic[i].at), format->magic[i].bytes))
			return true;
	return false;
}

/* Whether the content says so; `named`: its extension does. */
static bool format_fits(const struct format *format, struct span head, bool named)
{
	const bool has_own = format->magic[0].bytes.len;

	if (has_own && !has_magic(format, head))
		return false;
	if (format->sniff)
		return format->sniff(head);
	return has_own ? named || !format->by_name : named;
}

const struct format *format_find(struct span head, const char *name)
{
	const struct format *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		const struct format *format = &formats[i];
		const bool named = has_ending(format, name);

		if (format->query)
			continue;
		if ((named || (!format->by_name && !found)) && format_fits(format, head, named)) {
			found = format;
			if (named)
				break;
		}
	}
	return found;
}

const struct format *format_find_query(struct span head)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (formats[i].query && has_magic(&formats[i], head))
			return &formats[i];
	return format_by_key("data");
}

const struct format *format_of_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (has_ending(&formats[i], name))
			return &formats[i];
	return NULL;
}

/* ---- parts ----------------------------------------------------------------------------- */

/* Members of a request that name a part, and how a sentence calls them. */
static bool request_has(const struct derive_request *request, const char *member)
{
	const struct {
		const char *name;
		bool there;
	} members[] = {
		{ "pages", request->pages },       { "sheet", request->sheet },
		{ "range", request->range },       { "cell", request->cell },
		{ "member", request->member },     { "table", request->table },
		{ "query", request->query },       { "sql", request->sql },
		{ "formulas", request->formulas }, { "strings", request->strings },
		{ "details", request->details },   { "render", request->render },
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (strcmp(members[i].name, member) == 0)
			return members[i].there;
	return false;
}

static bool format_takes(const struct format *format, const struct derive_request *request,
                         struct err *err)
{
	static const char *const members[] = { "pages", "sheet", "range", "cell", "member",
		"table", "query", "sql", "formulas", "strings", "details", "render" };

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		if (!request_has(request, members[i]) ||
		    words_have(format->takes, span_str(members[i])))
			continue;
		if (!*format->takes)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "It is %s: it has no parts but \"outline\" and \"line N\", "
			               "so leave \"%s\" out.", format->words, members[i]);
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "It is %s, of which \"%s\" cannot be asked for; these can: %s.",
		               format->words, members[i], format->takes);
	}
	return true;
}

/* ---- what came of it ------------------------------------------------------------------- */

/* Numbers of entries and of pictures' bytes are checked as they are added; so is the text. */
static bool read_format(const struct format *format, const struct format_input *input,
                        const struct derive_request *request, struct derive_result *ret,
                        struct err *err)
{
	const size_t max = request->max_bytes ? request->max_bytes : LIMIT_DERIVE_TEXT;

	*ret = (struct derive_result){ .facts = json_object() };
	ret->text = (struct buf)BUF_INIT(max + 64);
	snprintf(ret->kind, sizeof(ret->kind), "%s", format->words);
	if (!format_takes(format, request, err) || !format->read(input, request, ret, err))
		return false;
	if (request->want == DERIVE_OUTLINE && ret->outline) {
		buf_clear(&ret->text);
		ret->truncated = false;
		ret->next[0] = '\0';
	}
	return true;
}

/* A member as a file of its format, in memory. */
static bool run_member_reader(const struct format *format, const struct format_content *content,
                              const struct derive_request *request, struct derive_result *ret,
                              struct err *err)
{
	struct format_content none = { 0 };
	_cleanup_fd_ int fd = memfd_create("member", MFD_CLOEXEC);
	const struct format_input input = { .fd = fd, .name = content->name, .level = 1,
		                            .size = content->bytes.len, .content = &none };
	struct derive_request own = *request;
	struct err absent = ERR_INIT;

	/* What the name did not say is not loaded, and nothing can be loaded any more. */
	if (format->load && !format->load(&absent))
		return err_set(err, ERR_NOT_TEXT, "Its member \"%.200s\" is %s, which its name "
		               "does not say: unpack it with run_shell_command.", content->name,
		               format->words);
	if (fd < 0 || !fd_write_all(fd, content->bytes.data, content->bytes.len) ||
	    lseek(fd, 0, SEEK_SET) != 0)
		return err_set_errno(err, errno, "Its member cannot be kept in memory");
	own.fd = fd;
	own.name = content->name;
	own.size = content->bytes.len;
	own.member = NULL;
	json_decref(ret->facts);
	buf_release(&ret->text);
	return read_format(format, &input, &own, ret, err);
}

/* Text as it is, anything else by the reader of its format. */
static bool show_member(const struct format_content *content,
                        const struct derive_request *request, struct derive_result *ret,
                        struct err *err)
{
	const struct span bytes = buf_view(&content->bytes);
	const struct format *format = format_find(span_head(bytes, LIMIT_DERIVE_HEAD),
	                                          content->name);
	_cleanup_buf_ struct buf text = { 0 };
	struct err ignored = ERR_INIT;
	struct text_out out;

	if (format && !format->source && content->cut)
		return err_set(err, ERR_TOO_LARGE, "Its member \"%.200s\" has more than %d MB: "
		               "unpack it with run_shell_command.", content->name,
		               FORMAT_CONTENT >> 20);
	if (format && !format->source)
		return run_member_reader(format, content, request, ret, err);
	if (bytes.len && !format_decode(bytes, &text, &ignored))
		return err_set(err, ERR_NOT_TEXT, "Its member \"%.200s\" (%zu bytes%s) is "
		               "neither text nor of a format that can be read.",
		               content->name, bytes.len,
		               content->cut ? " and more" : "");
	text_out_init(&out, request, ret);
	text_out(&out, buf_view(&text));
	text_out_end(&out);
	if (content->cut)
		format_fact(ret, "note", SPAN("It is longer than the 64 MB that were read."));
	return true;
}

bool format_run(const struct format *format, const struct format_input *input,
                const struct derive_request *request, struct derive_result *ret, struct err *err)
{
	struct format_content content = { 0 };
	struct format_input own = *input;
	bool ok;

	own.content = &content;
	ok = read_format(format, &own, request, ret, err) &&
	     (!content.there || show_member(&content, request, ret, err));
	buf_release(&content.bytes);
	free(content.name);
	return ok;
}
