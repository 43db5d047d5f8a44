/* SPDX-License-Identifier: Apache-2.0 */
/* The files of one edit call, each canonical path read once, and the forms that their text is
 * written and reported in. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "edit/edit.h"
#include "edit/private.h"
#include "file/encoding.h"

enum { SMALL_BYTES = 256 << 10 };

static struct edit_file *edit_file_find(struct edit_call *call, const char *path)
{
	for (size_t i = 0; i < call->file_count; i++)
		if (strcmp(call->files[i].disk.place.path, path) == 0)
			return &call->files[i];
	return NULL;
}

struct edit_body edit_body_on_disk(struct edit_file *file)
{
	return (struct edit_body){
		.exists = file->disk.exists,
		.pieces = &file->disk.content,
		.count = 1,
		.size = file->disk.content.len,
		.hashed = true,
		.sha256 = file->disk.sha256,
		.origin = file->disk.exists ? file : NULL,
		.verified = !file->disk.exists,
	};
}

/* Reading and comparing a large file takes long, too. */
static bool read_disk(const struct edit_call *call, const char *path, struct snapshot *ret,
                      struct err *err)
{
	size_t limit = call->options->max_file_bytes;
	struct err first = ERR_INIT;

	if (!call->options->commit.waits || (limit && limit <= SMALL_BYTES))
		return snapshot_read(call->ws, path, limit, ret, err);
	if (snapshot_read(call->ws, path, SMALL_BYTES, ret, &first))
		return true;
	if (first.code == ERR_TOO_LARGE) {
		commit_waits(&call->options->commit);
		return snapshot_read(call->ws, path, limit, ret, err);
	}
	*err = first;
	return false;
}

struct edit_file *edit_file_get(struct edit_call *call, const char *path, struct err *err)
{
	_cleanup_snapshot_ struct snapshot snapshot = SNAPSHOT_INIT;
	struct edit_file *file;

	/* With several changes the path is resolved first, so that a file that an earlier
	 * change named is not read again. */
	if (call->file_count) {
		_cleanup_place_ struct place place = PLACE_INIT;

		if (!workspace_resolve(call->ws, path, PLACE_FILE, &place, err))
			return NULL;
		file = edit_file_find(call, place.path);
		if (file)
			return file;
	}
	if (!read_disk(call, path, &snapshot, err))
		return NULL;
	file = edit_file_find(call, snapshot.place.path);
	if (file)
		return file;
	file = &call->files[call->file_count++];
	file->disk = snapshot;
	snapshot = (struct snapshot)SNAPSHOT_INIT;
	file->body = edit_body_on_disk(file);
	file->operation = SIZE_MAX;
	return file;
}

const char *edit_file_relative(const struct edit_call *call, const struct edit_file *file)
{
	const char *root = workspace_root_path(call->ws, file->disk.place.root);
	const char *path = file->disk.place.path;
	size_t len = strlen(root);

	if (strncmp(path, root, len) != 0)
		return path;
	path += len;
	while (*path == '/')
		path++;
	return path;
}

const struct sha256 *edit_body_sha256(struct edit_body *body)
{
	struct sha256_stream stream;

	if (!body->hashed) {
		sha256_init(&stream);
		for (size_t i = 0; i < body->count; i++)
			sha256_update(&stream, body->pieces[i]);
		body->sha256 = sha256_final(&stream);
		body->hashed = true;
	}
	return &body->sha256;
}

/* All its bytes in one run; flattened into `owned` when they are in pieces. False: no memory. */
static bool edit_body_flat(const struct edit_body *body, struct buf *owned, struct span *ret)
{
	if (!body->exists || body->count == 0) {
		*ret = span_of("", 0);
		return true;
	}
	if (body->count == 1) {
		*ret = body->pieces[0];
		return true;
	}
	owned->max = LIMIT_FILE_BYTES;
	if (!buf_reserve(owned, body->size))
		return false;
	for (size_t i = 0; i < body->count; i++)
		buf_span(owned, body->pieces[i]);
	*ret = buf_view(owned);
	return !owned->overflowed;
}


/* ---- writing in an encoding that the caller names ------------------------ */

/* What a file of these encodings begins with when it is new: by convention a file in "UTF-16"
 * names its byte order, and one in "UTF-16LE" does not. */
static struct span mark_of_new(const char *name, const struct document *form)
{
	size_t unit = encoding_unit(form->encoding);
	size_t len = strlen(name);

	if (strcasecmp(name, "utf-8-sig") == 0)
		return SPAN("\xEF\xBB\xBF");
	if (unit == 1 || (len > 2 && strcasecmp(name + len - 1, "E") == 0))
		return span_of(NULL, 0);
	return unit == 2 ? SPAN("\xFF\xFE") : span_of("\xFF\xFE\0\0", 4);
}

/* Whether the file is in the named encoding already; then it keeps its mark and byte order. */
static bool is_form_of(const struct document *doc, const struct document *form,
                       struct span mark)
{
	if (strcasecmp(doc->encoding, form->encoding) == 0)
		return doc->bom_bytes || !mark.len;
	return mark.len && doc->bom_bytes &&
	       encoding_unit(doc->encoding) == encoding_unit(form->encoding) &&
	       encoding_unit(doc->encoding) > 1;
}

static bool is_ascii_name(const char *name)
{
	return strcasecmp(name, "ascii") == 0 || strcasecmp(name, "us-ascii") == 0;
}

/* For reading, ASCII is a name for UTF-8; who writes it means it. */
static bool check_ascii(struct span text, struct err *err)
{
	size_t line = 1;

	for (size_t i = 0; i < text.len; i++) {
		line += text.data[i] == '\n';
		if ((unsigned char)text.data[i] < 0x80)
			continue;
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The encoding ASCII has no character U+%04X, in line %zu of the new "
		               "content. Write it without the character, or in another encoding.",
		               (unsigned)utf8_first(span_skip(text, i)).code, line);
	}
	return true;
}

/* The bytes as a reader takes them who knows the encoding (or, NULL, who does not). */
static bool reads_as(struct span bytes, const char *encoding, struct span text)
{
	struct err ignored = ERR_INIT;
	struct document doc;
	bool same;

	if (!document_open(bytes, encoding, &doc, &ignored))
		return false;
	same = span_eq(doc.lines.text, text);
	document_release(&doc);
	return same;
}

/* Decoding what iconv made must give the text again; and where the bytes do not show their
 * encoding, the caller must name it. */
static bool check_written(struct edit_step *step, struct span text, struct err *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(LIMIT_FILE_BYTES);
	struct change_result *result = step->result;
	const char *name = step->written_as;

	for (size_t i = 0; i < step->pieces.count; i++)
		buf_span(&bytes, step->pieces.spans[i]);
	if (bytes.overflowed)
		return err_set(err, ERR_TOO_LARGE, "%s would become too large.",
		               step->change->path);
	if (!reads_as(buf_view(&bytes), name, text))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The content does not survive the encoding %s: read back, it would "
		               "be another text. Choose another encoding; UTF-8 holds everything.",
		               name);
	if (!result->note[0] && !reads_as(buf_view(&bytes), NULL, text))
		snprintf(result->note, sizeof(result->note),
		         "These bytes do not show that their encoding is %s: reading the file "
		         "needs the argument encoding, and it cannot be patched.", name);
	return true;
}

static bool encode_as(struct edit_step *step, struct span text, struct err *err)
{
	const char *name = step->change->encoding;
	bool had_text = step->before.exists && !step->opaque;
	struct document form;
	struct span mark;
	bool ok;

	if (is_ascii_name(name) && !check_ascii(text, err))
		return false;
	if (!document_open(span_of("", 0), name, &form, err))
		return false;
	mark = mark_of_new(name, &form);
	if (had_text && is_form_of(&step->doc, &form, mark)) {
		document_release(&form);
		return document_encode_text(&step->doc, text, &step->pieces, err);
	}
	if (mark.len) {
		document_release(&form);
		if (!document_open(mark, NULL, &form, err))
			return false;
	}
	snprintf(step->written_as, sizeof(step->written_as), "%s", form.encoding);
	ok = document_encode_text(&form, text, &step->pieces, err);
	if (ok && strcmp(form.encoding, "UTF-8") != 0)
		ok = check_written(step,
		                   span_starts(text, SPAN("\xEF\xBB\xBF")) && form.bom_bytes ?
		                           span_skip(text, 3) : text, err);
	document_release(&form);
	return ok;
}

/* Whole new text as step->pieces, in the encoding that the change or the file has. */
static bool edit_encode_text(struct edit_step *step, struct span text, struct err *err)
{
	if (step->change->encoding)
		return encode_as(step, text, err);
	return document_encode_text(&step->doc, text, &step->pieces, err);
}

/* ---- the form that is reported -------------------------------------------- */

struct endings {
	size_t lf;
	size_t crlf;
};

static struct endings endings_of(struct span text)
{
	struct endings found = { 0 };
	struct span line;

	while (line_next(&text, &line)) {
		size_t len = line_ending(line).len;

		found.lf += len == 1;
		found.crlf += len == 2;
	}
	return found;
}

/* Those of the document as the script leaves it; only the lines of the edits are looked at. */
static struct endings endings_after(const struct document *doc, const struct script *script)
{
	struct endings sum = { doc->lf_lines, doc->crlf_lines };

	for (size_t i = 0; i < script->count; i++) {
		const struct edit *edit = &script->edits[i];
		struct endings added = endings_of(edit->insert);

		sum.lf += added.lf;
		sum.crlf += added.crlf;
		for (size_t line = edit->at; line < edit->at + edit->remove; line++) {
			size_t len = line_ending(lines_at(&doc->lines, line)).len;

			sum.lf -= len == 1;
			sum.crlf -= len == 2;
		}
	}
	return sum;
}

static void set_form(const char *encoding, struct endings endings, struct text_form *ret)
{
	struct document counts = { .lf_lines = endings.lf, .crlf_lines = endings.crlf };

	snprintf(ret->encoding, sizeof(ret->encoding), "%s", encoding);
	ret->line_endings = document_line_endings(&counts);
}

void edit_form_of_document(const struct document *doc, struct text_form *ret)
{
	set_form(doc->encoding, (struct endings){ doc->lf_lines, doc->crlf_lines }, ret);
}

void edit_form_of_step(const struct edit_step *step, struct text_form *ret)
{
	const char *encoding = step->written_as[0] ? step->written_as : step->doc.encoding;

	*ret = (struct text_form){ 0 };
	if (step->change->bytes)
		return;
	set_form(encoding,
	         step->edits ? endings_after(&step->doc, step->edits) : endings_of(step->text),
	         ret);
}

/* ---- a step's document, and the body that new text or an edit script makes of it ---- */

bool edit_step_document(struct edit_step *step, struct err *err)
{
	struct span flat;

	if (step->has_doc)
		return true;
	if (step->file && edit_text_take(step->file, &step->before)) {
		/* The file's body is the same: changes are planned one after the other. */
		step->file->body.pieces = step->before.pieces;
		step->file->body.count = step->before.count;
		step->file->body.text = step->before.text;
		step->doc = step->before.text->doc;
		step->has_doc = step->shares_doc = true;
		return true;
	}
	if (!edit_body_flat(&step->before, &step->input, &flat))
		return err_set(err, ERR_TOO_LARGE, "%s is too large to be held in memory.",
		               step->change->path);
	step->has_doc = document_open(flat, NULL, &step->doc, err);
	return step->has_doc;
}

bool edit_step_any_document(struct edit_step *step, struct err *err)
{
	struct err why = ERR_INIT;

	if (edit_step_document(step, &why))
		return true;
	if (why.code == ERR_NOT_TEXT) {
		step->opaque = true;
		step->has_doc = document_open(span_of("", 0), NULL, &step->doc, &why);
	}
	if (!step->has_doc)
		*err = why;
	return step->has_doc;
}

bool edit_body_same(const struct edit_body *a, const struct edit_body *b)
{
	struct span left = { 0 }, right = { 0 };
	size_t i = 0, j = 0;

	if (a->exists != b->exists || a->size != b->size)
		return false;
	for (;;) {
		size_t n;

		while (left.len == 0 && i < a->count)
			left = a->pieces[i++];
		while (right.len == 0 && j < b->count)
			right = b->pieces[j++];
		n = left.len < right.len ? left.len : right.len;
		if (n == 0)
			return left.len == right.len;
		if (left.data != right.data && memcmp(left.data, right.data, n) != 0)
			return false;
		left = span_skip(left, n);
		right = span_skip(right, n);
	}
}

/* Makes step->pieces the body after the step. */
bool edit_take_pieces(struct edit_step *step, struct err *err)
{
	struct edit_body *after = &step->after;

	*after = (struct edit_body){
		.exists = true,
		.pieces = step->pieces.spans,
		.count = step->pieces.count,
		.origin = step->before.origin,
		.made_by = step,
		.verified = step->before.verified,
	};
	for (size_t i = 0; i < after->count; i++) {
		if (step->pieces.spans[i].len > LIMIT_FILE_BYTES - after->size)
			return err_set(err, ERR_TOO_LARGE,
			               "%s would become larger than %zu bytes.", step->change->path,
			               LIMIT_FILE_BYTES);
		after->size += step->pieces.spans[i].len;
	}
	/* A body that is what it was stays the one on disk: there is nothing to write. */
	if (edit_body_same(&step->before, after))
		*after = step->before;
	return true;
}

/* Appends `text` with CRLF for each LF that has none. */
bool edit_to_crlf(struct buf *out, struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		struct span ending = line_ending(line);

		buf_span(out, line_body(line));
		if (ending.len)
			buf_str(out, "\r\n");
	}
	return !out->overflowed;
}

/* Whether LF in the new text stands for CRLF: the file has nothing else, the text none. */
static bool lf_means_crlf(const struct edit_step *step, struct span text)
{
	return step->doc.crlf_lines && !step->doc.lf_lines && !step->change->exact_line_endings &&
	       text.len && memchr(text.data, '\n', text.len) &&
	       !memmem(text.data, text.len, "\r\n", 2);
}

/* Whole new text as the step's body, with the line endings and encoding the file had. */
bool edit_plan_text(struct edit_step *step, struct span text, struct err *err)
{
	if (!utf8_valid(text))
		return err_set(err, ERR_INVALID_ARGUMENT, "The new content of %s is not UTF-8.",
		               step->change->path);
	if (!edit_step_any_document(step, err))
		return false;
	if (step->doc.bom_bytes)
		text = utf8_skip_mark(text); /* the file's own mark is kept */
	if (lf_means_crlf(step, text)) {
		step->text_owned.max = LIMIT_FILE_BYTES;
		if (!edit_to_crlf(&step->text_owned, text))
			return err_set(err, ERR_TOO_LARGE, "The new content of %s is too large.",
			               step->change->path);
		text = buf_view(&step->text_owned);
	}
	step->text = text;
	return edit_encode_text(step, text, err) && edit_take_pieces(step, err);
}

/* The document as `edits` leaves it as the step's body. */
bool edit_plan_script(struct edit_step *step, const struct script *edits, bool keep_bom,
                             struct err *err)
{
	step->edits = edits;
	step->drops_bom = !keep_bom;
	return document_encode(&step->doc, edits, keep_bom, &step->pieces, err) &&
	       edit_take_pieces(step, err);
}
