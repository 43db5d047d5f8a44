/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a call's refusals the user can be asked to allow. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "data/json.h"
#include "sandbox/plan/denial.h"
#include "tool/private.h"

static const struct {
	const char *word;
	const char *meaning; /* of a yes */
} kinds[] = {
	[OUTSIDE_LIST] = { "list", "the names in this folder, and nothing else" },
	[OUTSIDE_FIND] = { "list", "the names in this folder and in those beneath it, and no "
	                           "file" },
	[OUTSIDE_TREE] = { "read", "all files in this folder and beneath it may be read, but for "
	                           "what is hidden" },
	[OUTSIDE_READ] = { "read", "this file may be read, and nothing else" },
	[OUTSIDE_WRITE] = { "write", "this file may be read and replaced, and nothing else" },
	[OUTSIDE_REMOVE] = { "remove", "this file may be read and removed, and nothing else" },
	[OUTSIDE_MOVE] = { "move", "this file may be read and get that name, and nothing else" },
};

static const char too_many[] = "there are too many";
static const char moves_out[] = "nothing is moved out of the workspace";

/* A new file, and it can be changed by the same yes later. */
static const char create_word[] = "create";
static const char create_meaning[] = "this file may be made, read and replaced, and nothing else";

/* A refused place, looked at now. */
struct proposal {
	const struct outside_place *wanted;
	struct outside_place place;  /* the permission; paths borrowed from: */
	struct location at, to;      /* owned */
};

static void proposal_release(struct proposal *proposal)
{
	location_release(&proposal->at);
	location_release(&proposal->to);
}

static bool makes_file(const struct proposal *proposal)
{
	return proposal->place.kind == OUTSIDE_WRITE && proposal->at.kind == LOCATION_MISSING;
}

static json_t *proposal_json(const struct proposal *proposal, const char *what)
{
	json_t *item = json_object();

	json_object_set_new(item, "kind", json_string(makes_file(proposal) ? create_word :
	                                              kinds[proposal->place.kind].word));
	json_object_set_new(item, "what", json_name(what));
	return item;
}

static void outside_keep_denied(struct outside_offer *offer, const struct proposal *proposal,
                                const char *why)
{
	json_t *item;

	if (json_array_size(offer->kept) >= LIMIT_DENIALS_OFFERED) {
		offer->left_out++;
		return;
	}
	item = proposal_json(proposal, proposal->wanted->path);
	json_object_set_new(item, "why", json_string(why));
	json_array_append_new(offer->kept, item);
}

static void outside_propose(struct outside_offer *offer, const struct proposal *proposal)
{
	const struct outside_place *place = &proposal->place;
	json_t *item = proposal_json(proposal, place->path);

	outside_add(&offer->places, place);
	offer->changes |= place->kind >= OUTSIDE_WRITE;
	if (place->to)
		json_object_set_new(item, "to", json_name(place->to));
	if (strcmp(proposal->wanted->path, place->path) != 0)
		json_object_set_new(item, "named", json_name(proposal->wanted->path));
	json_object_set_new(item, "allows", json_string(makes_file(proposal) ? create_meaning :
	                                                kinds[place->kind].meaning));
	json_array_append_new(offer->allowed, item);
}

/* What the session hides by what the user said of it, and by its own home folder. */
static bool session_hides(const struct outside *outside, const char *path)
{
	const struct run_request request = { 0 };
	struct sandbox_plan *plan = NULL;
	struct err ignored = ERR_INIT;
	bool hides = true;

	if (outside->front.base->ops->plan(outside->front.base, &request, &plan, &ignored))
		hides = !plan_judge(plan, path, SANDBOX_READ, false, NULL);
	sandbox_plan_free(plan);
	return hides;
}

static bool may_be_made(const char *path, const struct location *at, const char **ret_why)
{
	if (at->kind == LOCATION_MISSING)
		return sandbox_new_offered(path, ret_why);
	*ret_why = "there is such a file";
	return false;
}

/* Whether the target of a move may be offered; inside the workspace its provider decides. */
static bool target_is_offered(const struct outside *outside, const struct location *to,
                              const char **ret_why)
{
	if (!to->path || to->kind == LOCATION_CLOSED)
		*ret_why = "you may not look where it is to go";
	else if (outside_is_inside(outside, to->path))
		return true;
	else if (session_hides(outside, to->path))
		*ret_why = "where it is to go is hidden";
	else
		return may_be_made(to->path, to, ret_why);
	return false;
}

/* NULL: it may be offered; else why not. */
static const char *why_not_offered(const struct outside *outside, const struct proposal *proposal)
{
	const enum outside_kind kind = proposal->place.kind;
	const struct location *at = &proposal->at;
	const char *why = NULL;

	if (!at->path || at->kind == LOCATION_CLOSED)
		return "you may not look there";
	/* What has it open, or another name for it, could go on writing to it out there. */
	if (outside_is_inside(outside, at->path))
		return kind == OUTSIDE_MOVE ? moves_out : "it is in the workspace, by another way";
	if (session_hides(outside, at->path))
		return "it is hidden";
	if (kind <= OUTSIDE_READ)
		sandbox_read_offered(at->path, kind <= OUTSIDE_TREE, &why);
	else if (kind == OUTSIDE_WRITE && at->kind == LOCATION_MISSING)
		sandbox_new_offered(at->path, &why);
	else if (sandbox_exact_offered(at->path, &why) && kind == OUTSIDE_MOVE)
		target_is_offered(outside, &proposal->to, &why);
	return why;
}

/* How many paths a question names; a move has two. */
static size_t paths_named(const struct outside_places *places)
{
	size_t count = 0;

	for (size_t i = 0; i < places->count; i++)
		count += places->all[i].to ? 2 : 1;
	return count;
}

/* Looks where it leads; what is wanted there. */
static void proposal_resolve(const struct outside *outside, const struct outside_place *wanted,
                             struct proposal *ret)
{
	ret->wanted = wanted;
	outside_resolve(outside, wanted->path, &ret->at);
	ret->place = (struct outside_place){ ret->at.path, wanted->kind, NULL };
	if (wanted->to) {
		outside_resolve(outside, wanted->to, &ret->to);
		ret->place.to = ret->to.path;
	}
	/* Who names a folder among many files means what is in it; and what is looked through may
	 * be one file. */
	if (outside->use == OUTSIDE_TREE && wanted->kind <= OUTSIDE_READ)
		ret->place.kind = ret->at.kind == LOCATION_FOLDER ? OUTSIDE_TREE : OUTSIDE_READ;
}

static void offer_one(struct outside *outside, struct outside_offer *offer,
                      const struct outside_place *wanted)
{
	__attribute__((cleanup(proposal_release))) struct proposal proposal = { 0 };
	const struct outside_place *place = &proposal.place;
	bool known;
	const char *why;

	proposal_resolve(outside, wanted, &proposal);
	known = place->path && (!wanted->to || place->to);
	if (known && outside_allowed(outside, place)) {
		offer->covered = true;
		return;
	}
	if (known && outside_covered(&offer->places, place))
		return;
	why = paths_named(&offer->places) + (wanted->to ? 2 : 1) > LIMIT_DENIALS_OFFERED ?
	              too_many : why_not_offered(outside, &proposal);
	if (why)
		outside_keep_denied(offer, &proposal, why);
	else
		outside_propose(offer, &proposal);
}

static bool keeps_for(const struct outside_offer *offer, const char *why)
{
	size_t i;
	json_t *item;

	json_array_foreach(offer->kept, i, item)
		if (span_eq(json_span(json_object_get(item, "why")), span_str(why)))
			return true;
	return false;
}

/* A change is made as a whole, so one path that cannot be allowed is enough.  Why not in detail is
 * for people: a model would learn from it what there is. */
static void refuse_whole(struct outside_offer *offer)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	size_t i;
	json_t *item;

	if (keeps_for(offer, too_many)) {
		buf_printf(&text, "The user was not asked, because the change names more than %zu "
		                  "paths outside the workspace (a move has two). Split it.",
		           LIMIT_DENIALS_OFFERED);
	} else if (keeps_for(offer, moves_out)) {
		buf_str(&text, "The user was not asked, because nothing is moved out of the "
		               "workspace. Make the file there with its content and delete it "
		               "here, in one change.");
	} else {
		buf_str(&text, "The user was not asked, because this cannot be allowed: ");
		json_array_foreach(offer->kept, i, item) {
			buf_str(&text, i ? ", " : "");
			buf_span(&text, json_span(json_object_get(item, "what")));
		}
		buf_str(&text, ". Only the user's plain files can be, and new files in a folder "
		               "that exists; no secrets, no programs, and nothing that programs "
		               "obey. Leave it out.");
	}
	offer->refused = buf_steal(&text);
	outside_places_release(&offer->places);
	json_array_clear(offer->allowed);
	offer->covered = offer->changes = false;
}

bool outside_offer_make(struct outside *outside, struct outside_offer *ret)
{
	const size_t count = outside->wanted.count;

	*ret = (struct outside_offer){ .allowed = json_array(), .kept = json_array() };
	for (size_t i = 0; i < count; i++)
		offer_one(outside, ret, &outside->wanted.all[i]);
	if (outside->many && json_array_size(ret->kept))
		refuse_whole(ret);
	outside_places_release(&outside->wanted);
	return count > 0;
}

void outside_offer_release(struct outside_offer *offer)
{
	outside_places_release(&offer->places);
	json_decref(offer->allowed);
	json_decref(offer->kept);
	free(offer->refused);
	*offer = (struct outside_offer){ 0 };
}
