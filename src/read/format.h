/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of one format: what each file of this folder that is named after one has to give.
 *
 *     bool format_pdf_read(const struct format_input *input,
 *                          const struct derive_request *request,
 *                          struct derive_result *ret, struct err *err)
 *     {
 *             struct text_out out;
 *
 *             text_out_init(&out, request, ret);          // text_out.h
 *             format_library(ret, "poppler %s", version());
 *             format_fact_count(ret, "pages", count);
 *             ... text_out(&out, span), which says when there is enough ...
 *             text_out_end(&out);
 *             return true;
 *     }
 *
 * To add a reader:
 *   1. FORMAT.c with the two functions (load may be missing: then nothing is loaded);
 *   2. their prototypes below and a row in formats.c; the file in meson.build;
 *   3. cases in test/read/, a corpus in fuzz/corpus/read_FORMAT; a line in docs/formats.md.
 *
 * Both run in the child (child.c).  `load` comes first, while files can still be opened: it loads
 * the libraries (base/library.h) and what these read when they start.  It must not look at the
 * input.  After it the child is confined: `read` can open nothing but what is beneath `data`,
 * for reading; calls beyond that fail with EPERM or EACCES.
 * What is allocated needs not be freed, since the child ends, but fuzzers call `read` many times in
 * one process: free what is large.
 *
 * Errors are sentences about the file: NOT_TEXT for damaged or encrypted ones, INVALID_ARGUMENT for
 * a part that is not there (with what there is), TOO_LARGE for bombs.  The name of the file is put
 * before them, so they begin with "It": "It is encrypted."
 */
#ifndef HASP_READ_FORMAT_H
#define HASP_READ_FORMAT_H

#include "read/read.h"

struct format_input {
	int fd;           /* the file, opened for reading, at its beginning */
	const char *name; /* its last name */
	uint64_t size;
	unsigned level;   /* how many archives it is in: a member can be read by its format */
	struct format_content *content; /* set by format_run */
};

/* Where a reader of archives leaves the member that was asked for: format_run shows it, by the
 * reader of its format if it is no text. */
struct format_content {
	bool there;
	bool cut;         /* there is more of it than FORMAT_CONTENT */
	char *name;       /* owned, as the bytes */
	struct buf bytes;
};

enum { FORMAT_CONTENT = 64 << 20 };

typedef bool format_load_fn(struct err *err);
typedef bool format_read_fn(const struct format_input *input,
                            const struct derive_request *request, struct derive_result *ret,
                            struct err *err);

/* Bytes at a place by which a format is known. */
struct format_magic {
	unsigned at;
	struct span bytes; /* empty: the end of the list */
};

enum { FORMAT_MAGICS = 6 };

struct format {
	const char *key;        /* "pdf": of settings, tests and fuzzers */
	const char *words;      /* "a PDF document" */
	const char *extensions; /* space-separated, lower case; "" none */
	/* One of them must be there; with none the extension alone decides. */
	struct format_magic magic[FORMAT_MAGICS];
	/* NULL, or asked after `magic`, or in its place, when that is empty and the extension does
	 * not say so: whether the content is of this format. */
	bool (*sniff)(struct span head);
	/* Of files that several rows know by content, the one with the right extension is taken,
	 * and `by_name` rows are taken with it alone: a .docx is a ZIP archive, too. */
	bool by_name;
	bool source;            /* text, of which one usually reads the source: only when a part is
	                         * asked for */
	bool media;             /* comes as media to callers that take those, unless a part is
	                         * asked for */
	bool query;             /* for DERIVE_QUERY alone: format_find_query */
	const char *takes;      /* members of derive_request that mean something: "pages render" */
	const char *const *data; /* NULL, or folders that the library still reads;
	                          * NULL-terminated */
	format_load_fn *load;   /* NULL: nothing to load */
	format_read_fn *read;
};

/* By content first, then by name.  `head` is the file's beginning, LIMIT_DERIVE_HEAD bytes or all
 * of it; NULL: none knows it. */
const struct format *format_find(struct span head, const char *name);
/* What answers DERIVE_QUERY: a database by its content, else the reader of data in text formats,
 * which knows by the name what it is. Never NULL. */
const struct format *format_find_query(struct span head);
/* By the name alone: whose libraries a file that is still to be unpacked will need. */
const struct format *format_of_name(const char *name);
/* The table; NULL past the last row. */
const struct format *format_at(size_t i);
/* By key; NULL: none. */
const struct format *format_by_key(const char *key);
/* What the child does once it is confined, and fuzzers in their own process: prepares *ret and
 * reads.  *ret is the caller's to release, on failure too.  INVALID_ARGUMENT also if the request
 * names a part that this format does not take. */
bool format_run(const struct format *format, const struct format_input *input,
                const struct derive_request *request, struct derive_result *ret, struct err *err);

/* derive() with a reader that is named, in place of one of the table. */
bool format_derive(const struct format *format, const struct derive_request *request,
                   const struct cancel *cancel, struct derive_result *ret, struct err *err);

/* ---- for readers ---- */

/* All of the input in memory: *ret is the caller's to free.  TOO_LARGE above `max` bytes. */
bool format_slurp(const struct format_input *input, size_t max, struct buf *ret, struct err *err);
/* The text as UTF-8, whatever its encoding (as read_file finds it), without a byte order mark, with
 * LF for CR LF.  NOT_TEXT: it is none. */
bool format_decode(struct span bytes, struct buf *ret, struct err *err);
/* Opens decoders of usual encodings, for a reader's `load`: later no file can be opened. */
void format_load_charsets(void);
/* Appends the text as UTF-8, from the encoding of that name; as it is if that is none of those, or
 * NULL.  Bytes that it has not are U+FFFD. */
void format_to_utf8(struct span bytes, const char *charset, struct buf *ret);
/* "libxml2 2.9.14" */
void format_library(struct derive_result *ret, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A fact, in the order of the calls; text of any bytes is cleaned and shortened
 * (LIMIT_DERIVE_FACT). An empty text is left out. */
void format_fact(struct derive_result *ret, const char *name, struct span text);
void format_fact_count(struct derive_result *ret, const char *name, uint64_t count);
/* One entry of the outline: its name, cleaned and shortened, and the part that reads it: `member`
 * ("pages", "sheet", "cell" ...) of `value`.  Returns the entry (borrowed) for more members
 * (format_entry_count), NULL when there are LIMIT_DERIVE_OUTLINE already: then the fact
 * "outline_left_out" counts them. */
json_t *format_outline(struct derive_result *ret, struct span name, const char *member,
                       struct span value);
/* The same with a number for the value. */
json_t *format_outline_at(struct derive_result *ret, struct span name, const char *member,
                          uint64_t value);
/* An outline of a text in which headings are lines that begin with "#"s: "line" of each. */
void format_outline_headings(struct derive_result *ret, struct span text);
/* A count in an entry: "level", "bytes", "rows". `entry` may be NULL. */
void format_entry_count(json_t *entry, const char *name, uint64_t count);
/* A picture; `bytes` of `mime_type`.  False: no more fit (LIMIT_DERIVE_PICTURES). */
bool format_picture(struct derive_result *ret, const char *mime_type, struct span bytes);

/* ---- page numbers ---- */

enum { FORMAT_RANGES = 64 };

/* "3-5,8,11-": which of 1 to `last` are asked for. */
struct format_pages {
	size_t count;
	struct { uint64_t first, last; } ranges[FORMAT_RANGES]; /* ascending, apart */
};

/* `text` NULL: all.  INVALID_ARGUMENT names `noun` ("page", "slide") and how many there are. */
bool format_pages(const char *text, const char *noun, uint64_t last, struct format_pages *ret,
                  struct err *err);
bool format_pages_have(const struct format_pages *pages, uint64_t number);

/* ---- the readers ---- */

/* Of each format: what is loaded before the child is confined, and the reading. */
bool format_html_load(struct err *err);
bool format_html_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err);
bool format_mail_load(struct err *err);
bool format_eml_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err);
bool format_mbox_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err);
bool format_rtf_load(struct err *err);
bool format_rtf_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err);
bool format_image_load(struct err *err);
bool format_image_read(const struct format_input *input, const struct derive_request *request,
                       struct derive_result *ret, struct err *err);
bool format_recording_load(struct err *err);
bool format_recording_read(const struct format_input *input, const struct derive_request *request,
                           struct derive_result *ret, struct err *err);
bool format_ipynb_read(const struct format_input *input, const struct derive_request *request,
                       struct derive_result *ret, struct err *err);

/* Each as those of html. */
bool format_pdf_load(struct err *err);
bool format_pdf_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err);
/* The head of a PDF may stand behind up to 1,024 other bytes. */
bool format_pdf_sniff(struct span head);
extern const char *const format_pdf_data[];
/* Of documents that are ZIP archives of XML. */
bool format_office_load(struct err *err);
bool format_epub_load(struct err *err);
bool format_docx_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err);
bool format_odt_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err);
bool format_pptx_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err);
bool format_odp_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err);
bool format_epub_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err);
bool format_xlsx_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err);
bool format_ods_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err);
/* Archives, and files that are compressed, with an archive in them or not. */
bool format_archive_load(struct err *err);
bool format_archive_read(const struct format_input *input, const struct derive_request *request,
                         struct derive_result *ret, struct err *err);
bool format_compressed_read(const struct format_input *input, const struct derive_request *request,
                            struct derive_result *ret, struct err *err);
bool format_ole_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err);
bool format_sqlite_read(const struct format_input *input, const struct derive_request *request,
                        struct derive_result *ret, struct err *err);
/* Programs and fonts. */
bool format_elf_load(struct err *err);
bool format_elf_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err);
bool format_class_sniff(struct span head);
bool format_class_read(const struct format_input *input, const struct derive_request *request,
                       struct derive_result *ret, struct err *err);
bool format_pyc_sniff(struct span head);
bool format_pyc_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err);
bool format_font_load(struct err *err);
bool format_font_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err);

#endif
