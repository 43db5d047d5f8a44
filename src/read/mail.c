/* SPDX-License-Identifier: Apache-2.0 */
/* E-mails and mailboxes, by GMime: the headers that people look at, the text, attachments by name;
 * `member` reads one of them. */
#include <errno.h>
#include <fcntl.h>
#include <gmime/gmime.h>
#include <iconv.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "read/format.h"
#include "read/html_text.h"
#include "read/text_out.h"

enum {
	PART_MAX = 64 << 20,     /* bytes of one decoded part */
	PARTS_MAX = 2000,        /* parts of one message that are looked at */
	MESSAGES_MAX = 2000000,
};

/* With the types that its header gives them; GLib's are found through it. */
struct gmime {
	__typeof__(g_mime_init) *init;
	__typeof__(g_mime_stream_fs_new) *stream_fs_new;
	__typeof__(g_mime_stream_mem_new) *stream_mem_new;
	__typeof__(g_mime_stream_mem_get_byte_array) *stream_bytes;
	__typeof__(g_mime_parser_new_with_stream) *parser_new;
	__typeof__(g_mime_parser_set_format) *parser_set_format;
	__typeof__(g_mime_parser_construct_message) *parser_message;
	__typeof__(g_mime_parser_eos) *parser_eos;
	__typeof__(g_mime_message_get_subject) *subject;
	__typeof__(g_mime_object_get_header) *header;
	__typeof__(g_mime_utils_header_decode_text) *decode_text;
	__typeof__(g_mime_part_iter_new) *iter_new;
	__typeof__(g_mime_part_iter_free) *iter_free;
	__typeof__(g_mime_part_iter_get_current) *iter_current;
	__typeof__(g_mime_part_iter_next) *iter_next;
	__typeof__(g_mime_part_get_type) *part_type;
	__typeof__(g_mime_part_get_filename) *part_filename;
	__typeof__(g_mime_part_get_content) *part_content;
	__typeof__(g_mime_part_is_attachment) *part_is_attachment;
	__typeof__(g_mime_object_get_content_type) *content_type;
	__typeof__(g_mime_content_type_is_type) *type_is;
	__typeof__(g_mime_content_type_get_mime_type) *type_name;
	__typeof__(g_mime_object_get_content_type_parameter) *type_parameter;
	__typeof__(g_mime_data_wrapper_write_to_stream) *wrapper_write;
	__typeof__(g_type_check_instance_is_a) *is_a;
	__typeof__(g_object_unref) *unref;
	__typeof__(g_free) *free;
	unsigned *major, *minor, *micro;
};

#define ROW(member, name) { name, offsetof(struct gmime, member) }

static const struct library_symbol symbols[] = {
	ROW(init, "g_mime_init"),
	ROW(stream_fs_new, "g_mime_stream_fs_new"),
	ROW(stream_mem_new, "g_mime_stream_mem_new"),
	ROW(stream_bytes, "g_mime_stream_mem_get_byte_array"),
	ROW(parser_new, "g_mime_parser_new_with_stream"),
	ROW(parser_set_format, "g_mime_parser_set_format"),
	ROW(parser_message, "g_mime_parser_construct_message"),
	ROW(parser_eos, "g_mime_parser_eos"),
	ROW(subject, "g_mime_message_get_subject"),
	ROW(header, "g_mime_object_get_header"),
	ROW(decode_text, "g_mime_utils_header_decode_text"),
	ROW(iter_new, "g_mime_part_iter_new"),
	ROW(iter_free, "g_mime_part_iter_free"),
	ROW(iter_current, "g_mime_part_iter_get_current"),
	ROW(iter_next, "g_mime_part_iter_next"),
	ROW(part_type, "g_mime_part_get_type"),
	ROW(part_filename, "g_mime_part_get_filename"),
	ROW(part_content, "g_mime_part_get_content"),
	ROW(part_is_attachment, "g_mime_part_is_attachment"),
	ROW(content_type, "g_mime_object_get_content_type"),
	ROW(type_is, "g_mime_content_type_is_type"),
	ROW(type_name, "g_mime_content_type_get_mime_type"),
	ROW(type_parameter, "g_mime_object_get_content_type_parameter"),
	ROW(wrapper_write, "g_mime_data_wrapper_write_to_stream"),
	ROW(is_a, "g_type_check_instance_is_a"),
	ROW(unref, "g_object_unref"),
	ROW(free, "g_free"),
	ROW(major, "gmime_major_version"),
	ROW(minor, "gmime_minor_version"),
	ROW(micro, "gmime_micro_version"),
};

static const struct library gmime_library =
	{ { "libgmime-3.0.so.0" }, "E-mails need", "libgmime-3.0-0", symbols, ARRAY_LEN(symbols) };

static struct gmime gmime;

bool format_mail_load(struct err *err)
{
	if (gmime.init)
		return true;
	if (!library_load(&gmime_library, &gmime, err) || !format_html_load(err))
		return false;
	gmime.init();
	format_load_charsets();
	return true;
}

struct mail {
	const struct derive_request *request;
	struct derive_result *ret;
	struct text_out out;
	size_t attachments; /* of the current message */
	const char *member; /* the one that is asked for, or NULL */
	bool found;
};

/* ---- one part -------------------------------------------------------------------------- */

static bool is_part(GMimeObject *object)
{
	return object && gmime.is_a((GTypeInstance *)object, gmime.part_type());
}

/* The decoded bytes; the caller unrefs the stream, which has them. */
static GMimeStream *part_bytes(GMimePart *part, struct span *ret)
{
	GMimeDataWrapper *content = gmime.part_content(part);
	GMimeStream *stream = gmime.stream_mem_new();
	const GByteArray *bytes;

	*ret = span_of("", 0);
	if (content && gmime.wrapper_write(content, stream) >= 0) {
		bytes = gmime.stream_bytes((GMimeStreamMem *)stream);
		*ret = span_of((const char *)bytes->data, bytes->len < PART_MAX ? bytes->len :
		                                                                  PART_MAX);
	}
	return stream;
}

/* HTML becomes text; what is no text is named. */
static bool put_part_text(struct mail *mail, GMimePart *part, bool html, struct err *err)
{
	struct html_text page = { .title = BUF_INIT(300) };
	_cleanup_buf_ struct buf text = BUF_INIT(4 * PART_MAX);
	struct span bytes;
	GMimeStream *stream = part_bytes(part, &bytes);
	bool ok = true;

	format_to_utf8(bytes, gmime.type_parameter((GMimeObject *)part, "charset"), &text);
	gmime.unref(stream);
	page.text = (struct buf)BUF_INIT(2 * text.len + 1024);
	if (html)
		ok = html_text(buf_view(&text), &page, err);
	if (ok)
		text_out(&mail->out, html ? buf_view(&page.text) : buf_view(&text));
	text_out_line(&mail->out);
	buf_release(&page.text);
	buf_release(&page.title);
	return ok;
}

static bool type_is(GMimeObject *object, const char *type, const char *subtype)
{
	GMimeContentType *content_type = gmime.content_type(object);

	return content_type && gmime.type_is(content_type, type, subtype);
}

/* ---- attachments ----------------------------------------------------------------------- */

static bool names_attachment(const struct mail *mail, const char *name)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%zu", mail->attachments);
	return mail->member && ((name && strcmp(mail->member, name) == 0) ||
	                        strcmp(mail->member, digits) == 0);
}

static bool put_attachment(struct mail *mail, GMimePart *part, struct err *err)
{
	const char *name = gmime.part_filename(part);
	char *type = gmime.type_name(gmime.content_type((GMimeObject *)part));
	const bool text = type_is((GMimeObject *)part, "text", "*");
	struct span bytes;
	bool ok = true;

	mail->attachments++;
	gmime.unref(part_bytes(part, &bytes));
	if (!mail->member) {
		const struct span shown = span_str(name ? name : type);
		json_t *entry = name ? format_outline(mail->ret, shown, "member", shown) :
		                       format_outline_at(mail->ret, shown, "member",
		                                         mail->attachments);

		format_entry_count(entry, "bytes", bytes.len);
		text_out_printf(&mail->out, "[attachment %zu: %.200s, %.100s, %zu bytes]\n",
		                mail->attachments, name ? name : "(no name)", type, bytes.len);
	} else if (!mail->found && names_attachment(mail, name)) {
		mail->found = true;
		format_fact(mail->ret, "attachment", span_str(name));
		format_fact(mail->ret, "type", span_str(type));
		format_fact_count(mail->ret, "bytes", bytes.len);
		ok = text ? put_part_text(mail, part, type_is((GMimeObject *)part, "text", "html"),
		                          err) :
		            err_set(err, ERR_NOT_TEXT,
		                    "Its attachment is %.100s of %zu bytes, not text: save it to a "
		                    "file with a program, and read that.", type, bytes.len);
	}
	gmime.free(type);
	return ok;
}

/* ---- messages -------------------------------------------------------------------------- */

/* Whether a message has text that is no HTML. */
static bool has_plain(GMimeMessage *message)
{
	GMimePartIter *iter = gmime.iter_new((GMimeObject *)message);
	bool found = false;
	size_t parts = 0;

	do {
		GMimeObject *object = gmime.iter_current(iter);

		found = is_part(object) && type_is(object, "text", "plain") &&
		        !gmime.part_is_attachment((GMimePart *)object);
	} while (!found && ++parts < PARTS_MAX && gmime.iter_next(iter));
	gmime.iter_free(iter);
	return found;
}

static bool mail_put_parts(struct mail *mail, GMimeMessage *message, struct err *err)
{
	GMimePartIter *iter = gmime.iter_new((GMimeObject *)message);
	const bool plain = has_plain(message);
	bool ok = true;
	size_t parts = 0;

	mail->attachments = 0;
	do {
		GMimeObject *object = gmime.iter_current(iter);
		const bool html = is_part(object) && type_is(object, "text", "html");

		if (!is_part(object))
			continue;
		if (!gmime.part_is_attachment((GMimePart *)object) &&
		    type_is(object, "text", "*")) {
			if (!mail->member && (!html || !plain))
				ok = put_part_text(mail, (GMimePart *)object, html, err);
		} else {
			ok = put_attachment(mail, (GMimePart *)object, err);
		}
	} while (ok && ++parts < PARTS_MAX && gmime.iter_next(iter));
	gmime.iter_free(iter);
	return ok;
}

/* A header as people read it: encoded words decoded, on one line. The caller frees. */
static char *header_text(GMimeMessage *message, const char *name)
{
	const char *raw = gmime.header((GMimeObject *)message, name);
	char *decoded = raw ? gmime.decode_text(NULL, raw) : NULL;
	char *copy = mem_strdup(decoded ? decoded : "");

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	gmime.free(decoded);
	return copy;
}

static const char *const headers[] = { "From", "To", "Cc", "Date", "Subject", NULL };

static void put_headers(struct mail *mail, GMimeMessage *message)
{
	for (size_t i = 0; headers[i]; i++) {
		_cleanup_free_ char *text = header_text(message, headers[i]);

		if (*text)
			text_out_printf(&mail->out, "%s: %.2000s\n", headers[i], text);
	}
	text_out(&mail->out, SPAN("\n"));
}

static bool open_mail(const struct format_input *input, GMimeFormat format, GMimeParser **ret,
                      GMimeStream **ret_stream, struct err *err)
{
	/* Its stream closes the descriptor. */
	const int fd = fcntl(input->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0 || lseek(fd, 0, SEEK_SET) != 0)
		return err_set_errno(err, errno, "It cannot be read");
	*ret_stream = gmime.stream_fs_new(fd);
	*ret = gmime.parser_new(*ret_stream);
	gmime.parser_set_format(*ret, format);
	return true;
}

static void mail_library(struct derive_result *ret)
{
	format_library(ret, "GMime %u.%u.%u", *gmime.major, *gmime.minor, *gmime.micro);
}

bool format_eml_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	struct mail mail = { .request = request, .ret = ret, .member = request->member };
	GMimeStream *stream;
	GMimeParser *parser;
	GMimeMessage *message;
	bool ok;

	if (!open_mail(input, GMIME_FORMAT_MESSAGE, &parser, &stream, err))
		return false;
	mail_library(ret);
	message = gmime.parser_message(parser, NULL);
	ok = message || err_set(err, ERR_NOT_TEXT, "It is no e-mail that can be parsed.");
	if (ok) {
		_cleanup_free_ char *subject = header_text(message, "Subject");

		format_fact(ret, "subject", span_str(subject));
		text_out_init(&mail.out, request, ret);
		if (!mail.member)
			put_headers(&mail, message);
		ok = mail_put_parts(&mail, message, err);
		text_out_end(&mail.out);
		format_fact_count(ret, "attachments", mail.attachments);
		gmime.unref(message);
	}
	if (ok && mail.member && !mail.found)
		ok = err_set(err, ERR_INVALID_ARGUMENT,
		             "It has no attachment \"%.200s\"; there are %zu, by name or by number "
		             "from 1.", mail.member, mail.attachments);
	gmime.unref(parser);
	gmime.unref(stream);
	return ok;
}

/* ---- mailboxes ------------------------------------------------------------------------- */

static void outline_message(struct mail *mail, size_t number, GMimeMessage *message)
{
	_cleanup_free_ char *subject = header_text(message, "Subject");
	_cleanup_free_ char *from = header_text(message, "From");
	json_t *entry = format_outline_at(mail->ret, span_str(*subject ? subject : "(no subject)"),
	                                  "pages", number);

	if (entry)
		json_object_set_new(entry, "from", json_text(utf8_head(span_str(from), 100)));
}

/* Messages that are asked for are put out as they come: how many there are is known at the end. */
static bool put_messages(struct mail *mail, GMimeParser *parser, const struct format_pages *pages,
                         size_t *ret_count, struct err *err)
{
	bool ok = true;

	while (ok && *ret_count < MESSAGES_MAX && !gmime.parser_eos(parser)) {
		GMimeMessage *message = gmime.parser_message(parser, NULL);

		if (!message)
			break;
		++*ret_count;
		outline_message(mail, *ret_count, message);
		if (mail->request->want == DERIVE_TEXT && !mail->out.full &&
		    format_pages_have(pages, *ret_count)) {
			struct derive_result *ret = mail->ret;
			json_t *outline = ret->outline;

			ret->outline = NULL; /* of messages; attachments are in the text */
			text_out_printf(&mail->out, "=== message %zu\n", *ret_count);
			put_headers(mail, message);
			ok = mail_put_parts(mail, message, err);
			text_out(&mail->out, SPAN("\n"));
			json_decref(ret->outline);
			ret->outline = outline;
		}
		gmime.unref(message);
	}
	return ok;
}

bool format_mbox_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err)
{
	struct mail mail = { .request = request, .ret = ret };
	struct format_pages pages;
	GMimeStream *stream;
	GMimeParser *parser;
	size_t count = 0;
	bool ok;

	if (!format_pages(request->pages, "message", MESSAGES_MAX, &pages, err) ||
	    !open_mail(input, GMIME_FORMAT_MBOX, &parser, &stream, err))
		return false;
	mail_library(ret);
	text_out_init(&mail.out, request, ret);
	ok = put_messages(&mail, parser, &pages, &count, err);
	text_out_end(&mail.out);
	format_fact_count(ret, "messages", count);
	if (ok && request->pages && pages.ranges[0].first > count)
		ok = err_set(err, ERR_INVALID_ARGUMENT, "It has %zu message%s.", count,
		             count == 1 ? "" : "s");
	gmime.unref(parser);
	gmime.unref(stream);
	return ok;
}
