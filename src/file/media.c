/* SPDX-License-Identifier: Apache-2.0 */
/* Types of files that are not text, by libmagic and extension. */
#include "file/document.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* libmagic looks near the beginning; ELF headers and archives need no more than this. */
enum { IDENTIFY_BYTES = 256 << 10 };

#define ADVICE_MEDIA "Ask for it as media, or use a program that knows the type."
#define ADVICE_CONVERT "Convert it with a program that knows the type, then read the result."
#define ADVICE_OFFICE "Read it as text (read_file); change it with a program that knows the type."
#define ADVICE_ARCHIVE                                                                      \
	"Read its list and members (read_file with part \"member NAME\"), or unpack it with a " \
	"shell command."
#define ADVICE_PROGRAM                                                                      \
	"Read what it is (read_file with part \"details\" or \"strings\"), or use a shell "     \
	"command such as readelf."
#define ADVICE_DATABASE "Query it with query_data, or a program that knows the format."
#define ADVICE_COMPRESSED "Read what is in it (read_file), or decompress it with a shell command."
#define ADVICE_BINARY                                                                        \
	"Look at it with a shell command such as file, xxd or strings. If it is text all the " \
	"same, name its encoding."

/* A row per type: what libmagic may call it, what it is called here, its extensions. */
static const struct kind {
	const char *magic; /* space-separated; a trailing * matches the rest */
	const char *mime;  /* NULL: keep libmagic's */
	const char *words;
	const char *extensions; /* space-separated, lower case; "" none */
	const char *advice;
	bool media;
	bool by_name; /* the extension alone is believed when libmagic does not know */
} kinds[] = {
	{ "image/png image/apng", "image/png", "a PNG image", "png", ADVICE_MEDIA, true, false },
	{ "image/jpeg", "image/jpeg", "a JPEG image", "jpg jpeg", ADVICE_MEDIA, true, false },
	{ "image/gif", "image/gif", "a GIF image", "gif", ADVICE_MEDIA, true, false },
	{ "image/webp", "image/webp", "a WebP image", "webp", ADVICE_MEDIA, true, false },
	{ "image/bmp image/x-ms-bmp", "image/bmp", "a BMP image", "bmp", ADVICE_MEDIA, true,
	  false },
	{ "image/heic image/heif image/heic-sequence image/heif-sequence", "image/heic",
	  "a HEIC image", "heic heif", ADVICE_MEDIA, true, false },
	{ "image/avif", "image/avif", "an AVIF image", "avif", ADVICE_MEDIA, true, false },
	{ "audio/mpeg audio/mp3 audio/x-mp3", "audio/mpeg", "an MP3 recording", "mp3",
	  ADVICE_MEDIA, true, true },
	{ "audio/x-wav audio/wav audio/vnd.wave", "audio/wav", "a WAV recording", "wav",
	  ADVICE_MEDIA, true, true },
	{ "audio/x-aiff audio/aiff", "audio/aiff", "an AIFF recording", "aiff aif aifc",
	  ADVICE_MEDIA, true, true },
	{ "audio/x-hx-aac-adts audio/aac audio/x-aac audio/x-hx-aac-adif", "audio/aac",
	  "an AAC recording", "aac", ADVICE_MEDIA, true, true },
	{ "audio/ogg application/ogg", "audio/ogg", "an Ogg recording", "ogg oga opus",
	  ADVICE_MEDIA, true, true },
	{ "audio/flac audio/x-flac", "audio/flac", "a FLAC recording", "flac", ADVICE_MEDIA,
	  true, true },
	{ "audio/x-m4a audio/mp4", "audio/mp4", "an MPEG-4 recording", "m4a", ADVICE_MEDIA, true,
	  true },
	{ "audio/*", NULL, "a recording", "", ADVICE_MEDIA, true, false },
	{ "video/mp4 video/x-m4v", "video/mp4", "an MPEG-4 video", "mp4 m4v", ADVICE_MEDIA, true,
	  true },
	{ "video/quicktime", "video/quicktime", "a QuickTime video", "mov", ADVICE_MEDIA, true,
	  true },
	{ "video/webm", "video/webm", "a WebM video", "webm", ADVICE_MEDIA, true, true },
	{ "video/x-matroska", "video/x-matroska", "a Matroska video", "mkv", ADVICE_MEDIA, true,
	  true },
	{ "video/x-msvideo", "video/x-msvideo", "an AVI video", "avi", ADVICE_MEDIA, true, true },
	{ "video/mpeg video/mpv video/mp2t video/MP2T video/mp2p", "video/mpeg", "an MPEG video",
	  "mpg mpeg ts m2ts", ADVICE_MEDIA, true, true },
	{ "video/*", NULL, "a video", "", ADVICE_MEDIA, true, false },
	{ "application/pdf", "application/pdf", "a PDF document", "pdf", ADVICE_MEDIA, true,
	  false },
	{ "image/tiff", "image/tiff", "a TIFF image", "tif tiff", ADVICE_CONVERT, false, false },
	{ "image/vnd.microsoft.icon image/x-icon", NULL, "an icon", "ico", ADVICE_CONVERT, false,
	  false },
	{ "image/*", NULL, "an image", "", ADVICE_CONVERT, false, false },
	{ "font/* application/vnd.ms-fontobject application/font*", NULL, "a font",
	  "ttf otf woff woff2 eot", ADVICE_CONVERT, false, false },
	{ "application/x-pie-executable application/x-executable", NULL, "an ELF executable", "",
	  ADVICE_PROGRAM, false, false },
	{ "application/x-sharedlib", NULL, "an ELF shared library", "so", ADVICE_PROGRAM, false,
	  false },
	{ "application/x-object", NULL, "an ELF object file", "o", ADVICE_PROGRAM, false, false },
	{ "application/x-coredump", NULL, "a core dump", "", ADVICE_PROGRAM, false, false },
	{ "application/x-archive", NULL, "an ar archive", "a", ADVICE_ARCHIVE, false, false },
	{ "application/x-dosexec application/vnd.microsoft.portable-executable", NULL,
	  "a Windows program", "exe dll", ADVICE_PROGRAM, false, false },
	{ "application/x-mach-binary", NULL, "a macOS program", "dylib", ADVICE_PROGRAM, false,
	  false },
	{ "application/wasm", NULL, "a WebAssembly module", "wasm", ADVICE_PROGRAM, false, false },
	{ "application/x-java-applet application/java-vm", NULL, "a Java class", "class",
	  ADVICE_PROGRAM, false, false },
	{ "text/x-bytecode.python application/x-bytecode.python", "application/x-bytecode.python",
	  "Python byte code", "pyc pyo", ADVICE_PROGRAM, false, false },
	{ "application/gzip application/x-gzip", "application/gzip", "a gzip file", "gz tgz",
	  ADVICE_COMPRESSED, false, false },
	{ "application/x-bzip2", NULL, "a bzip2 file", "bz2", ADVICE_COMPRESSED, false, false },
	{ "application/x-xz", NULL, "an xz file", "xz", ADVICE_COMPRESSED, false, false },
	{ "application/zstd application/x-zstd", NULL, "a Zstandard file", "zst",
	  ADVICE_COMPRESSED, false, false },
	{ "application/x-lz4", NULL, "an LZ4 file", "lz4", ADVICE_COMPRESSED, false, false },
	{ "application/java-archive", NULL, "a Java archive", "jar", ADVICE_ARCHIVE, false,
	  false },
	{ "application/vnd.openxmlformats-officedocument* application/vnd.oasis.opendocument*",
	  NULL, "an office document", "docx xlsx pptx odt ods odp", ADVICE_OFFICE, false, false },
	{ "application/msword application/vnd.ms-* application/CDFV2", NULL,
	  "an office document", "doc xls ppt", ADVICE_CONVERT, false, false },
	{ "application/zip", NULL, "a ZIP archive", "zip whl", ADVICE_ARCHIVE, false, false },
	{ "application/x-tar", NULL, "a tar archive", "tar", ADVICE_ARCHIVE, false, false },
	{ "application/x-7z-compressed", NULL, "a 7-Zip archive", "7z", ADVICE_ARCHIVE, false,
	  false },
	{ "application/x-rar application/vnd.rar", NULL, "a RAR archive", "rar", ADVICE_ARCHIVE,
	  false, false },
	{ "application/vnd.debian.binary-package", NULL, "a Debian package", "deb",
	  ADVICE_ARCHIVE, false, false },
	{ "application/x-rpm", NULL, "an RPM package", "rpm", ADVICE_ARCHIVE, false, false },
	{ "application/vnd.sqlite3 application/x-sqlite3", "application/vnd.sqlite3",
	  "an SQLite database", "sqlite sqlite3 db", ADVICE_DATABASE, false, false },
};

static const struct kind unknown = {
	"", "application/octet-stream", "binary data", "", ADVICE_BINARY, false, false,
};

/* ---- looking things up -------------------------------------------------- */

/* Whether one of the space-separated words of `list` is, or with a final * begins, `word`. */
static bool media_list_has(const char *list, const char *word)
{
	size_t word_len = strlen(word);

	while (*list) {
		size_t len = strcspn(list, " ");
		bool prefix = len && list[len - 1] == '*';

		if (prefix ? word_len >= len - 1 && strncasecmp(list, word, len - 1) == 0 :
		             word_len == len && strncasecmp(list, word, len) == 0)
			return true;
		list += len + (list[len] == ' ');
	}
	return false;
}

static const char *extension_of(const char *name)
{
	const char *slash = name ? strrchr(name, '/') : NULL;
	const char *leaf = slash ? slash + 1 : name;
	const char *dot = leaf && *leaf ? strrchr(leaf + 1, '.') : NULL;

	return dot ? dot + 1 : "";
}

static const struct kind *kind_by_name(const char *name)
{
	const char *extension = extension_of(name);

	for (size_t i = 0; *extension && i < ARRAY_LEN(kinds); i++)
		if (media_list_has(kinds[i].extensions, extension))
			return &kinds[i];
	return NULL;
}

static const struct kind *kind_by_mime(const char *mime)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (media_list_has(kinds[i].magic, mime))
			return &kinds[i];
	return NULL;
}

/* ---- libmagic ----------------------------------------------------------- */

/* The part of libmagic's interface used here; its flags are from magic.h. */
enum { LIBMAGIC_MIME_TYPE = 0x10, LIBMAGIC_NO_CHECK_COMPRESS = 0x1000 };

struct libmagic {
	void *library;
	void *(*open)(int);
	int (*load)(void *, const char *);
	const char *(*buffer)(void *, const void *, size_t);
	int (*setflags)(void *, int);
	void (*close)(void *);
};

/* ISO C has no cast from an object pointer to a function pointer; POSIX has. */
#define BIND(api, member, symbol) \
	(*(void **)(void *)&(api)->member = dlsym((api)->library, symbol))

static bool libmagic_load(struct libmagic *api)
{
	api->library = dlopen("libmagic.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!api->library)
		return false;
	BIND(api, open, "magic_open");
	BIND(api, load, "magic_load");
	BIND(api, buffer, "magic_buffer");
	BIND(api, setflags, "magic_setflags");
	BIND(api, close, "magic_close");
	dlclose(api->library); /* RTLD_NODELETE keeps it */
	return api->open && api->load && api->buffer && api->setflags && api->close;
}

/* Fills the type, and the first clause of the description; both "" when it does not know. */
static void ask_libmagic(struct span content, char *mime, size_t mime_size, char *description,
                         size_t description_size)
{
	struct span sample = span_head(content, IDENTIFY_BYTES);
	struct libmagic api;
	const char *answer;
	void *cookie;

	mime[0] = description[0] = '\0';
	if (!libmagic_load(&api))
		return;
	cookie = api.open(LIBMAGIC_MIME_TYPE | LIBMAGIC_NO_CHECK_COMPRESS);
	if (!cookie)
		return;
	if (api.load(cookie, NULL) == 0) {
		answer = api.buffer(cookie, sample.data, sample.len);
		snprintf(mime, mime_size, "%s", answer ? answer : "");
		api.setflags(cookie, LIBMAGIC_NO_CHECK_COMPRESS);
		answer = api.buffer(cookie, sample.data, sample.len);
		snprintf(description, description_size, "%.*s",
		         answer ? (int)strcspn(answer, ",(\n") : 0, answer ? answer : "");
	}
	api.close(cookie);
}

/* From a buffer libmagic takes position-independent programs for shared libraries: only the
 * former name an interpreter. 64-bit files in this machine's byte order; others stay as they
 * are. */
static bool has_interpreter(struct span content)
{
	Elf64_Ehdr header;
	Elf64_Phdr program;

	if (content.len < sizeof(header))
		return false;
	memcpy(&header, content.data, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(program))
		return false;
	for (size_t i = 0; i < header.e_phnum; i++) {
		struct span rest = span_skip(content, header.e_phoff);

		rest = span_skip(rest, i * sizeof(program));
		if (rest.len < sizeof(program))
			return false;
		memcpy(&program, rest.data, sizeof(program));
		if (program.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* ---- the decision ------------------------------------------------------- */

static void set_kind(struct media *media, const struct kind *kind, const char *mime)
{
	snprintf(media->mime_type, sizeof(media->mime_type), "%s", kind->mime ? kind->mime : mime);
	snprintf(media->words, sizeof(media->words), "%s", kind->words);
	media->advice = kind->advice;
	media->is_media = kind->media;
}

static bool mime_says_nothing(const char *mime)
{
	/* Text types come from content that could not be decoded: they do not say what it is. */
	return !*mime || strcmp(mime, "application/octet-stream") == 0 ||
	       strncmp(mime, "text/", 5) == 0;
}

void media_identify(struct span content, const char *name, struct media *ret)
{
	char mime[LIMIT_MIME_TYPE];
	char description[sizeof(ret->words)];
	const struct kind *named = kind_by_name(name);
	const struct kind *kind;
	size_t len;

	ask_libmagic(content, mime, sizeof(mime), description, sizeof(description));
	if (strcmp(mime, "application/x-sharedlib") == 0 && has_interpreter(content))
		snprintf(mime, sizeof(mime), "application/x-pie-executable");
	kind = kind_by_mime(mime);
	if (!kind && mime_says_nothing(mime))
		kind = named && named->by_name ? named : &unknown;
	else if (kind && kind->media && !kind->extensions[0] && named && named->media)
		kind = named;
	if (kind) {
		set_kind(ret, kind, mime);
		return;
	}
	set_kind(ret, &unknown, mime);
	snprintf(ret->mime_type, sizeof(ret->mime_type), "%s", mime);
	/* A description from the content may hold anything: keep it one plain line. */
	len = strlen(description);
	for (char *c = description; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7E)
			*c = '?';
	while (len && description[len - 1] == ' ')
		description[--len] = '\0';
	if (*description)
		snprintf(ret->words, sizeof(ret->words), "%s", description);
}

bool media_name_suggests(const char *name)
{
	const struct kind *kind = kind_by_name(name);

	return kind && kind->media;
}

bool media_looks_textual(struct span content)
{
	return span_starts(content, SPAN("%PDF-"));
}

void media_describe(const struct media *media, size_t size, struct buf *out)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%zu", size);

	buf_printf(out, "%s (%s, ", media->words, media->mime_type);
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_char(out, ',');
		buf_char(out, digits[i]);
	}
	buf_str(out, size == 1 ? " byte)" : " bytes)");
}
