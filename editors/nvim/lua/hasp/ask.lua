-- SPDX-License-Identifier: Apache-2.0
-- Questions: permissions, forms and addresses.  They wait in the conversation until the user answers
-- them by a command or a key there: nothing pops up under what is being typed.
local review = require("hasp.review")

local M = {}

local function diffs_of(question)
	local found = {}
	for _, part in ipairs(question.params.toolCall and question.params.toolCall.content or {}) do
		if part.type == "diff" and type(part.newText) == "string" then
			local meta = part._meta and part._meta.hasp
			table.insert(found, { path = part.path, oldText = part.oldText, newText = part.newText,
				modifiable = meta and meta.modifiable })
		end
	end
	return found
end

local function texts_of(content)
	local texts = {}
	for _, part in ipairs(content or {}) do
		if part.type == "content" and part.content and part.content.type == "text" then
			table.insert(texts, part.content.text)
		elseif part.type == "diff" then
			table.insert(texts, M.diff_text(part))
		end
	end
	return table.concat(texts, "\n")
end
M.texts_of = texts_of

-- A diff of the protocol's as unified text.
function M.diff_text(part)
	local ok, text = pcall(vim.diff, part.oldText or "", part.newText or "", { ctxlen = 2 })
	return ("%s\n%s"):format(part.path or "", ok and vim.trim(text) or "")
end

-- What a question shows.
function M.text(question)
	local params, lines = question.params, {}
	if question.method == "session/request_permission" then
		table.insert(lines, "? " .. (params.toolCall.title or ""))
		local details = texts_of(params.toolCall.content)
		if details ~= "" then
			table.insert(lines, details)
		end
		for i, option in ipairs(params.options) do
			table.insert(lines, (":Hasp answer %d  %s"):format(i, option.name))
		end
		if #diffs_of(question) > 0 then
			table.insert(lines, ":Hasp review    Look at the diff, take it in part")
		end
	else
		table.insert(lines, "? " .. (params.message or ""))
		if params.mode == "url" then
			table.insert(lines, params.url or "")
		end
		table.insert(lines, ":Hasp answer    Answer")
		table.insert(lines, ":Hasp answer no Decline")
	end
	return table.concat(lines, "\n")
end

local function option_of(params, kind)
	for _, option in ipairs(params.options) do
		if option.kind == kind then
			return option
		end
	end
end

local function selected(option, files)
	return { outcome = { outcome = "selected", optionId = option.optionId },
		_meta = files and { hasp = { files = files } } or nil }
end

-- The answer to a review: all as proposed, some of it, or nothing.
local function reviewed(question, diffs, results)
	local files, changed, taken = {}, false, false
	for i, diff in ipairs(diffs) do
		local result = results[i]
		table.insert(files, { path = diff.path, newText = result or vim.NIL })
		changed = changed or result ~= diff.newText
		taken = taken or result
	end
	if not taken then
		local no = option_of(question.params, "reject_once")
		return no and selected(no) or { outcome = { outcome = "cancelled" } }, "left"
	end
	return selected(option_of(question.params, "allow_once"), changed and files or nil),
		changed and "taken in part" or "taken"
end

-- Opens the diffs of a question; `done(result, words)` gets the answer.
function M.review(question, done)
	local diffs = diffs_of(question)
	if #diffs == 0 or not option_of(question.params, "allow_once") then
		return false
	end
	if question.review then
		review.close(question.review)
	end
	question.review = review.open(diffs, function(results)
		done(reviewed(question, diffs, results))
	end)
	return true
end

-- ---- forms

local function choices_of(property)
	local list = property.oneOf or property.enum or (property.items
		and (property.items.anyOf or property.items.oneOf or property.items.enum))
	local choices = {}
	for _, item in ipairs(list or {}) do
		table.insert(choices, type(item) == "table" and item or { const = item, title = item })
	end
	if property.type == "boolean" then
		choices = { { const = true, title = "Yes" }, { const = false, title = "No" } }
	end
	return #choices > 0 and choices or nil
end

-- Asks for one field; `take(value)` gets nil for nothing.
local function ask_field(property, name, take)
	local title = property.description or property.title or name
	local choices = choices_of(property)
	if choices then
		vim.ui.select(choices, { prompt = title, format_item = function(item)
			return item.title or tostring(item.const)
		end }, function(item)
			local value = item and item.const
			take(item and property.type == "array" and { value } or value)
		end)
		return
	end
	vim.ui.input({ prompt = title .. ": ", default = property.default and tostring(property.default) },
		function(text)
			local is_number = property.type == "number" or property.type == "integer"
			take(text ~= "" and (is_number and tonumber(text) or text) or nil)
		end)
end

local function ask_form(question, done)
	local schema = question.params.requestedSchema or {}
	local names, content = vim.tbl_keys(schema.properties or {}), vim.empty_dict()
	table.sort(names)
	local function step(i)
		if i > #names then
			done({ action = "accept", content = content }, "answered")
			return
		end
		ask_field(schema.properties[names[i]], names[i], function(value)
			content[names[i]] = value
			step(i + 1)
		end)
	end
	step(1)
end

local function ask_url(question, done)
	local url = question.params.url or ""
	if not url:find("^https?://") then
		done({ action = "decline" }, "declined: it is no address of the web")
		return
	end
	vim.ui.select({ "Open it", "No" }, { prompt = url }, function(choice)
		if choice == "Open it" then
			vim.fn.jobstart({ "xdg-open", url }, { detach = true })
		end
		done({ action = choice == "Open it" and "accept" or "decline" }, choice or "No")
	end)
end

-- Answers a question by `word`: a number or "no"; nothing: asks.  False: the word is no answer to it.
function M.answer(question, word, done)
	local params = question.params
	if question.method ~= "session/request_permission" then
		if word == "no" then
			done({ action = "decline" }, "declined")
		elseif word then
			return false
		else
			(params.mode == "url" and ask_url or ask_form)(question, done)
		end
		return true
	end
	if not word then
		vim.ui.select(params.options, { prompt = params.toolCall.title, format_item = function(item)
			return item.name
		end }, function(option)
			if option then
				done(selected(option), option.name)
			end
		end)
		return true
	end
	local option = word == "no" and option_of(params, "reject_once") or params.options[tonumber(word)]
	if not option then
		return false
	end
	done(selected(option), option.name)
	return true
end

-- The no that every question takes.
function M.no(question)
	return question.method == "session/request_permission" and { outcome = { outcome = "cancelled" } }
		or { action = "cancel" }
end

return M
