/* SPDX-License-Identifier: Apache-2.0 */
/* What files are when they are not text: tiny real ones of each kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "file/document.h"

#include "scratch.h"

/* One black pixel. */
#define PNG                                                                                  \
	"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\0\0\0\0\x3A\x7E\x9B\x55\0\0\0\nIDAT\x78" \
	"\x9C\x63\x60\0\0\0\2\0\1\x48\xAF\xA4\x71\0\0\0\0IEND\xAE\x42\x60\x82"
#define GIF "GIF89a\1\0\1\0\x80\0\0\0\0\0\xFF\xFF\xFF,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"
#define JPEG "\xFF\xD8\xFF\xE0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xFF\xD9"
#define BMP \
	"BM\x3A\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0\0\0\0\0\4\0\0\0\0" \
	"\0\0\0\0\0\0\0"
#define WEBP "RIFF\x1A\0\0\0WEBPVP8L\x0D\0\0\0\x2F\0\0\0\x10\x07\x10\x11\x11\x88\x88\xFE\x07\0"
#define WAV \
	"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x44\xAC\0\0\x88\x58\1\0\2\0\x10\0data\4\0\0" \
	"\0\0\0\0\0"
#define OGG \
	"OggS\0\2\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\1\x1E\1vorbis\0\0\0\0\2\x44\xAC\0\0" \
	"\0\0\0\0"
#define FLAC "fLaC\0\0\0\x22\x10\0\x10\0\0\0\0\0\0\0\x0A\xC4\x42\xF0\0\0\0\0"
#define MP3 "ID3\3\0\0\0\0\0\0\xFF\xFB\x90\x64\0\0\0\0\0\0\0\0\0\0"
#define AIFF "FORM\0\0\0\x2E" "AIFFCOMM\0\0\0\x12\0\1\0\0\0\0\0\x10\x40\x0E\xAC\x44\0\0\0\0\0\0"
#define HEIC "\0\0\0\x18" "ftypheic\0\0\0\0mif1heic\0\0\0\0"
#define AVIF "\0\0\0\x1C" "ftypavif\0\0\0\0avifmif1miaf\0\0\0\0"
#define MP4 "\0\0\0\x18" "ftypisom\0\0\2\0isomiso2\0\0\0\x08" "free"
#define PDF \
	"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>" \
	"\n%%EOF\n"
#define GZIP "\x1F\x8B\x08\0\0\0\0\0\0\3\x4B\x4C\4\0\x43\xBE\xB7\xE8\2\0\0\0"
#define SQLITE "SQLite format 3\0\x10\0\1\1\0\x40\x20\x20\0\0\0\1\0\0\0\1"
#define ZIP \
	"\120\113\003\004\024\000\000\000\000\000\000\000\041\000\103\276\267\350\001\000" \
	"\000\000\001\000\000\000\001\000\000\000\141\141\120\113\001\002\024\003\024\000" \
	"\000\000\000\000\000\000\041\000\103\276\267\350\001\000\000\000\001\000\000\000" \
	"\001\000\000\000\000\000\000\000\000\000\000\000\200\001\000\000\000\000\141\120" \
	"\113\005\006\000\000\000\000\001\000\001\000\057\000\000\000\040\000\000\000\000" \
	"\000"

static const struct sample {
	struct span content;
	const char *name;
	const char *mime_type;
	const char *words;
	bool is_media;
} samples[] = {
	{ SPAN(PNG), "a.png", "image/png", "a PNG image", true },
	{ SPAN(PNG), "misnamed.txt", "image/png", "a PNG image", true },
	{ SPAN(GIF), NULL, "image/gif", "a GIF image", true },
	{ SPAN(JPEG), "a.jpg", "image/jpeg", "a JPEG image", true },
	{ SPAN(BMP), "a.bmp", "image/bmp", "a BMP image", true },
	{ SPAN(WEBP), "a.webp", "image/webp", "a WebP image", true },
	{ SPAN(HEIC), "a.heic", "image/heic", "a HEIC image", true },
	{ SPAN(AVIF), "a.avif", "image/avif", "an AVIF image", true },
	{ SPAN(WAV), "a.wav", "audio/wav", "a WAV recording", true },
	{ SPAN(OGG), "a.ogg", "audio/ogg", "an Ogg recording", true },
	{ SPAN(FLAC), "a.flac", "audio/flac", "a FLAC recording", true },
	{ SPAN(MP3), "a.mp3", "audio/mpeg", "an MP3 recording", true },
	{ SPAN(AIFF), "a.aiff", "audio/aiff", "an AIFF recording", true },
	{ SPAN("\0\0unknown\0"), "a.aac", "audio/aac", "an AAC recording", true },
	{ SPAN(MP4), "a.mp4", "video/mp4", "an MPEG-4 video", true },
	{ SPAN(PDF), "a.pdf", "application/pdf", "a PDF document", true },
	{ SPAN(GZIP), "a.gz", "application/gzip", "a gzip file", false },
	{ SPAN(SQLITE), "a.db", "application/vnd.sqlite3", "an SQLite database", false },
	{ SPAN(ZIP), "a.zip", "application/zip", "a ZIP archive", false },
	/* The content outranks the name, which alone does not make an image. */
	{ SPAN("\0\1\2\3 unknown"), "a.png", "application/octet-stream", "binary data", false },
	{ SPAN("\0\1\2\3 unknown"), "folder.png/a", "application/octet-stream", "binary data",
	  false },
};

static void every_kind_is_known_by_its_content(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		struct media media;

		media_identify(samples[i].content, samples[i].name, &media);
		if (strcmp(media.mime_type, samples[i].mime_type) != 0)
			fail_msg("sample %zu (%s) is taken for %s", i, samples[i].mime_type,
			         media.mime_type);
		assert_string_equal(media.words, samples[i].words);
		assert_int_equal(media.is_media, samples[i].is_media);
		assert_non_null(media.advice);
	}
}

static void none_of_them_opens_as_a_text_document(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		struct document doc;
		struct err err = ERR_INIT;

		if (samples[i].content.data[0] == '%')
			continue; /* a PDF of printable characters can be edited as text */
		if (document_open(samples[i].content, NULL, &doc, &err))
			fail_msg("%s opened as %s", samples[i].mime_type, doc.encoding);
		assert_int_equal(err.code, ERR_NOT_TEXT);
	}
}

static void a_program_is_described_with_its_size(void **state)
{
	_cleanup_buf_ struct buf content = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_buf_ struct buf text = BUF_INIT(512);
	_cleanup_fd_ int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
	char *room = buf_reserve(&content, 1 << 20);
	ssize_t n = fd_read_full(fd, room, 1 << 20);
	struct media media;

	(void)state;
	assert_true(n > 0);
	media_identify(span_of(room, (size_t)n), "/bin/true", &media);
	assert_string_equal(media.words, "an ELF executable");
	media_describe(&media, 71232, &text);
	assert_string_equal(text.data,
	                    "an ELF executable (application/x-pie-executable, 71,232 bytes)");
}

static void extensions_are_compared_whole_and_in_any_case(void **state)
{
	(void)state;
	assert_true(media_name_suggests("a/b.PNG"));
	assert_true(media_name_suggests("clip.ts"));
	assert_false(media_name_suggests("a.pn"));
	assert_false(media_name_suggests("a.c"));
	assert_false(media_name_suggests("png"));
	assert_false(media_name_suggests(".png"));
	assert_false(media_name_suggests("a.png/b"));
	assert_false(media_name_suggests(NULL));
	assert_false(media_name_suggests(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_known_by_its_content),
		cmocka_unit_test(none_of_them_opens_as_a_text_document),
		cmocka_unit_test(a_program_is_described_with_its_size),
		cmocka_unit_test(extensions_are_compared_whole_and_in_any_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
