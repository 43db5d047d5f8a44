/* SPDX-License-Identifier: Apache-2.0 */
/* Images, audio and video in words: their kind by libmagic, EXIF by libexif, lengths and codecs by
 * MediaInfo where it is installed. */
#include <errno.h>
#include <libexif/exif-data.h>
#include <libexif/exif-loader.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/fd.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "read/format.h"
#include "read/text_out.h"

enum {
	HEAD_BYTES = 256 << 10,   /* that libmagic looks at */
	EXIF_BYTES = 4 << 20,     /* of the file, in which EXIF data are */
	VALUE_BYTES = 200,
	PIECE_BYTES = 64 << 10,   /* that MediaInfo gets at a time */
	MAGIC_FLAGS = 0x1000,     /* MAGIC_NO_CHECK_COMPRESS */
};

/* ---- the libraries --------------------------------------------------------------------- */

/* libmagic's interface; its flags are from magic.h. */
struct magic_library {
	void *(*open)(int flags);
	int (*load)(void *cookie, const char *files);
	const char *(*buffer)(void *cookie, const void *bytes, size_t len);
	int (*version)(void);
};

struct exif_library {
	__typeof__(exif_loader_new) *loader_new;
	__typeof__(exif_loader_write) *loader_write;
	__typeof__(exif_loader_get_data) *loader_data;
	__typeof__(exif_loader_unref) *loader_unref;
	__typeof__(exif_data_unref) *data_unref;
	__typeof__(exif_tag_get_name_in_ifd) *tag_name;
	__typeof__(exif_entry_get_value) *entry_value;
};

/* MediaInfo's C interface (MediaInfoDLL.h). */
struct mediainfo_library {
	void *(*make)(void);
	void (*remove)(void *handle);
	size_t (*begin)(void *handle, uint64_t size, uint64_t offset);
	size_t (*more)(void *handle, const uint8_t *bytes, size_t len);
	uint64_t (*go_to)(void *handle);
	size_t (*end)(void *handle);
	const wchar_t *(*get)(void *handle, int kind, size_t number, const wchar_t *name,
	                      int info, int search);
	size_t (*count)(void *handle, int kind, size_t number);
};

#define MAGIC_ROW(member, name) { name, offsetof(struct magic_library, member) }
#define EXIF_ROW(member, name) { name, offsetof(struct exif_library, member) }
#define INFO_ROW(member, name) { name, offsetof(struct mediainfo_library, member) }

static const struct library_symbol magic_symbols[] = {
	MAGIC_ROW(open, "magic_open"), MAGIC_ROW(load, "magic_load"),
	MAGIC_ROW(buffer, "magic_buffer"), MAGIC_ROW(version, "magic_version"),
};

static const struct library_symbol exif_symbols[] = {
	EXIF_ROW(loader_new, "exif_loader_new"), EXIF_ROW(loader_write, "exif_loader_write"),
	EXIF_ROW(loader_data, "exif_loader_get_data"),
	EXIF_ROW(loader_unref, "exif_loader_unref"), EXIF_ROW(data_unref, "exif_data_unref"),
	EXIF_ROW(tag_name, "exif_tag_get_name_in_ifd"),
	EXIF_ROW(entry_value, "exif_entry_get_value"),
};

static const struct library_symbol mediainfo_symbols[] = {
	INFO_ROW(make, "MediaInfo_New"), INFO_ROW(remove, "MediaInfo_Delete"),
	INFO_ROW(begin, "MediaInfo_Open_Buffer_Init"),
	INFO_ROW(more, "MediaInfo_Open_Buffer_Continue"),
	INFO_ROW(go_to, "MediaInfo_Open_Buffer_Continue_GoTo_Get"),
	INFO_ROW(end, "MediaInfo_Open_Buffer_Finalize"), INFO_ROW(get, "MediaInfo_Get"),
	INFO_ROW(count, "MediaInfo_Count_Get"),
};

static const struct library libraries[] = {
	{ { "libmagic.so.1" }, "Images and recordings need", "libmagic1", magic_symbols,
	  ARRAY_LEN(magic_symbols) },
	{ { "libexif.so.12" }, "EXIF data need", "libexif12", exif_symbols,
	  ARRAY_LEN(exif_symbols) },
	{ { "libmediainfo.so.0" }, "Lengths of recordings need", "libmediainfo0v5",
	  mediainfo_symbols, ARRAY_LEN(mediainfo_symbols) },
};

static struct magic_library magic;
static struct exif_library exif;
static struct mediainfo_library mediainfo;
static void *cookie;                   /* libmagic's, with its database */
static struct err no_exif, no_mediainfo; /* NONE: the library is there */

bool format_image_load(struct err *err)
{
	if (cookie)
		return true;
	if (!library_load(&libraries[0], &magic, err))
		return false;
	library_load(&libraries[1], &exif, &no_exif);
	cookie = magic.open(MAGIC_FLAGS);
	if (cookie && magic.load(cookie, NULL) == 0)
		return true;
	return err_set(err, ERR_INTERNAL, "Its kind cannot be looked up: libmagic has no "
	                                  "database (on Debian: apt install libmagic-mgc).");
}

bool format_recording_load(struct err *err)
{
	if (!mediainfo.make)
		library_load(&libraries[2], &mediainfo, &no_mediainfo);
	return format_image_load(err);
}

/* ---- the kind -------------------------------------------------------------------------- */

static bool put_kind(const struct format_input *input, struct text_out *out, struct err *err)
{
	_cleanup_free_ char *head = mem_alloc(1, HEAD_BYTES);
	const ssize_t count = pread(input->fd, head, HEAD_BYTES, 0);
	const char *words;
	int version;

	if (count < 0)
		return err_set_errno(err, errno, "It cannot be read");
	words = magic.buffer(cookie, head, (size_t)count);
	version = magic.version();
	format_library(out->ret, "libmagic %d.%02d", version / 100, version % 100);
	text_out(out, span_str(words));
	text_out_line(out);
	return true;
}

/* ---- EXIF ------------------------------------------------------------------------------ */

static void put_exif(const ExifData *data, struct text_out *out)
{
	for (int ifd = 0; ifd < EXIF_IFD_COUNT; ifd++) {
		const ExifContent *content = data->ifd[ifd];

		for (unsigned i = 0; content && i < content->count; i++) {
			char value[VALUE_BYTES] = "";
			ExifEntry *entry = content->entries[i];
			const char *name = exif.tag_name(entry->tag, (ExifIfd)ifd);

			exif.entry_value(entry, value, sizeof(value));
			text_out_printf(out, "%s: %s\n", name ? name : "(unknown tag)", value);
		}
	}
}

static void read_exif(const struct format_input *input, struct text_out *out)
{
	_cleanup_free_ char *bytes = NULL;
	const size_t len = input->size < EXIF_BYTES ? (size_t)input->size : EXIF_BYTES;
	ExifLoader *loader;
	ExifData *data;
	ssize_t count;

	if (no_exif.code != ERR_NONE) {
		text_out_printf(out, "%s\n", no_exif.message);
		return;
	}
	bytes = mem_alloc(1, len + 1);
	count = pread(input->fd, bytes, len, 0);
	loader = exif.loader_new();
	if (count > 0)
		exif.loader_write(loader, (unsigned char *)bytes, (unsigned)count);
	data = exif.loader_data(loader);
	if (data)
		put_exif(data, out);
	text_out_printf(out, data ? "" : "It has no EXIF data.\n");
	if (data)
		exif.data_unref(data);
	exif.loader_unref(loader);
}

bool format_image_read(const struct format_input *input, const struct derive_request *request,
                       struct derive_result *ret, struct err *err)
{
	struct text_out out;

	text_out_init(&out, request, ret);
	if (!put_kind(input, &out, err))
		return false;
	if (request->details)
		read_exif(input, &out);
	text_out_end(&out);
	return true;
}

/* ---- lengths --------------------------------------------------------------------------- */

/* Feeds it what it asks for; it names the places. */
static void feed_mediainfo(void *handle, const struct format_input *input)
{
	_cleanup_free_ uint8_t *piece = mem_alloc(1, PIECE_BYTES);
	uint64_t at = 0;
	ssize_t count;

	mediainfo.begin(handle, input->size, 0);
	while ((count = pread(input->fd, piece, PIECE_BYTES, (off_t)at)) > 0) {
		uint64_t next;

		if (mediainfo.more(handle, piece, (size_t)count) & 8) /* it has enough */
			break;
		next = mediainfo.go_to(handle);
		at += (uint64_t)count;
		if (next != UINT64_MAX) {
			at = next;
			mediainfo.begin(handle, input->size, at);
		}
	}
	mediainfo.end(handle);
}

static void info_fact(struct derive_result *ret, void *handle, int kind, const wchar_t *field,
                      const char *name)
{
	const wchar_t *wide = mediainfo.get(handle, kind, 0, field, 1, 0);
	_cleanup_buf_ struct buf text = BUF_INIT(4 * VALUE_BYTES);

	for (; wide && *wide && text.len + 4 < text.max; wide++) {
		char bytes[4];
		const uint32_t code = (uint32_t)*wide;
		const bool scalar = code < 0xd800 || (code > 0xdfff && code < 0x110000);

		buf_append(&text, bytes, utf8_put(scalar ? code : 0xfffd, bytes));
	}
	format_fact(ret, name, buf_view(&text));
}

static void read_lengths(const struct format_input *input, struct derive_result *ret)
{
	enum { GENERAL, VIDEO, AUDIO };
	static const struct {
		int kind;
		const wchar_t *field;
		const char *name;
	} facts[] = {
		{ GENERAL, L"Format", "format" },       { GENERAL, L"Duration/String3", "length" },
		{ GENERAL, L"Title", "title" },         { GENERAL, L"Performer", "performer" },
		{ VIDEO, L"Format", "video" },          { VIDEO, L"Width", "width" },
		{ VIDEO, L"Height", "height" },         { VIDEO, L"FrameRate", "frame_rate" },
		{ AUDIO, L"Format", "audio" },          { AUDIO, L"Channel(s)", "channels" },
		{ AUDIO, L"SamplingRate", "sampling_rate" },
	};
	void *handle = mediainfo.make();

	feed_mediainfo(handle, input);
	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		info_fact(ret, handle, facts[i].kind, facts[i].field, facts[i].name);
	mediainfo.remove(handle);
}

bool format_recording_read(const struct format_input *input, const struct derive_request *request,
                           struct derive_result *ret, struct err *err)
{
	struct text_out out;

	text_out_init(&out, request, ret);
	if (!put_kind(input, &out, err))
		return false;
	if (mediainfo.make)
		read_lengths(input, ret);
	else
		format_fact(ret, "length", span_str(no_mediainfo.message));
	text_out_end(&out);
	return true;
}
