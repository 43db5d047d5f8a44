-- SPDX-License-Identifier: Apache-2.0
-- hasp in Neovim: a client of the Agent Client Protocol that starts `hasp acp`.
--
--     require("hasp").setup({ command = { "hasp", "acp" } })       -- what is changed of M.options
--
-- One session at a time, in Neovim's current directory; plugin/hasp.lua has the commands.
local ask = require("hasp.ask")
local files = require("hasp.files")
local rpc = require("hasp.rpc")
local view = require("hasp.view")

local M = {}

M.options = {
	command = { "hasp", "acp" },
	tool_lines = 20, -- shown of a tool's output
	notify = true,   -- says when a question waits and the conversation is not shown
}

-- What there is of a session; `agent` is the process.
local state = { questions = {}, calls = {}, options = {}, commands = {} }
M.state = state

function M.setup(options)
	M.options = vim.tbl_extend("force", M.options, options or {})
end

local function conversation()
	if not state.view or not vim.api.nvim_buf_is_valid(state.view.buffer) then
		state.view = view.new()
	end
	return state.view
end

local function say(kind, text)
	conversation():add(kind, text)
end

-- ---- updates

local MARKS = { pending = "·", in_progress = "…", completed = "✓", failed = "✗" }

local function tail(text)
	local lines = vim.split(text, "\n", { plain = true })
	local most = M.options.tool_lines
	return #lines <= most and text
		or ("(%d lines more)\n"):format(#lines - most) .. table.concat(lines, "\n", #lines - most + 1)
end

local function show_call(update)
	local call = state.calls[update.toolCallId] or {}
	state.calls[update.toolCallId] = vim.tbl_extend("force", call, update)
	call = state.calls[update.toolCallId]
	local text = ("%s %s"):format(MARKS[call.status] or "·", call.title or "")
	local details = call.status ~= "pending" and ask.texts_of(call.content) or ""
	conversation():update("tool", details == "" and text or text .. "\n" .. tail(details),
		"call " .. update.toolCallId)
	if call.status == "completed" then
		for _, part in ipairs(call.content or {}) do
			if part.type == "diff" then
				files.reload(part.path)
			end
		end
	end
end

local function show_plan(update)
	local lines = { "Plan" }
	for _, entry in ipairs(update.entries or {}) do
		table.insert(lines, ("%s %s"):format(MARKS[entry.status] or "·", entry.content))
	end
	conversation():update("plan", table.concat(lines, "\n"), "plan")
end

local function piece(kind)
	return function(update)
		if update.content and update.content.type == "text" then
			conversation():append(kind, update.content.text, update.messageId or kind)
		end
	end
end

local UPDATES = {
	agent_message_chunk = piece("agent"),
	agent_thought_chunk = piece("thought"),
	user_message_chunk = piece("user"),
	tool_call = show_call,
	tool_call_update = show_call,
	plan = show_plan,
	available_commands_update = function(update)
		state.commands = update.availableCommands
	end,
	config_option_update = function(update)
		state.options = update.configOptions
	end,
	usage_update = function(update)
		state.usage = update
	end,
	session_info_update = function(update)
		state.title = update.title or state.title
	end,
}

local function on_notification(method, params)
	local update = method == "session/update" and params.sessionId == state.id and params.update
	if update and UPDATES[update.sessionUpdate] then
		UPDATES[update.sessionUpdate](update)
	elseif method == "$/cancel_request" then
		M.withdraw(params.requestId)
	end
end

-- ---- questions

local function drop(question, words)
	for i, other in ipairs(state.questions) do
		if other == question then
			table.remove(state.questions, i)
		end
	end
	if question.review then
		require("hasp.review").close(question.review)
	end
	conversation():add("notice", "→ " .. words)
end

local function answerer(question)
	return function(result, words)
		if not question.answered and state.agent then
			question.answered = true
			state.agent:answer(question.id, result)
			drop(question, words)
		end
	end
end

-- The agent asks no longer.
function M.withdraw(id)
	for _, question in ipairs(state.questions) do
		if question.id == id then
			question.answered = true
			drop(question, "The question was withdrawn.")
			return
		end
	end
end

local function ask_user(id, method, params)
	local question = { id = id, method = method, params = params }
	table.insert(state.questions, question)
	conversation():add("question", ask.text(question))
	if M.options.notify and #vim.fn.win_findbuf(state.view.buffer) == 0 then
		vim.notify("hasp has a question (:Hasp)", vim.log.levels.WARN)
	end
end

local REQUESTS = {
	["session/request_permission"] = ask_user,
	["elicitation/create"] = ask_user,
	["fs/read_text_file"] = files.read,
	["fs/write_text_file"] = files.write,
}

local function on_request(id, method, params)
	local handler = REQUESTS[method]
	if handler == ask_user then
		ask_user(id, method, params)
		return
	end
	if not handler then
		state.agent:refuse(id, -32601, "Neovim has no method " .. method .. ".")
		return
	end
	local ok, result, code, message = pcall(handler, params)
	if ok and result then
		state.agent:answer(id, result)
	else
		state.agent:refuse(id, ok and code or -32603, ok and message or tostring(result))
	end
end

-- ---- the session

local function on_exit(reason)
	for _, question in ipairs(vim.list_slice(state.questions)) do
		question.answered = true
		drop(question, "The question was withdrawn.")
	end
	state.agent, state.id, state.waiting = nil, nil, nil
	state.is_ready, state.is_busy, state.is_opening = false, false, false
	say("error", reason)
end

local function refused(err)
	say("error", err.message or "hasp refused it.")
end

local function opened(result, id)
	state.id, state.is_ready = result.sessionId or id, true
	state.options = result.configOptions or {}
	local waiting = state.waiting
	state.waiting = nil
	if waiting then
		M.send(waiting)
	end
end

-- Opens a new session, or the recorded one `id`, whose conversation comes again.
local function open_session(id)
	local params = { cwd = vim.fn.getcwd(), mcpServers = {}, sessionId = id }
	state.id, state.is_opening = id, true
	state.calls, state.commands = {}, {}
	state.agent:request(id and "session/load" or "session/new", params, function(result, err)
		state.is_opening = false
		if err then
			state.id = nil
			refused(err)
		else
			opened(result, id)
		end
	end)
end

-- Starts hasp, if it does not run; then opens the session.
local function start(id)
	local agent, err = rpc.start(M.options.command, vim.fn.getcwd(),
		{ request = on_request, notification = on_notification, exit = on_exit })
	if not agent then
		say("error", err)
		return
	end
	state.agent, state.is_opening = agent, true
	agent:request("initialize", {
		protocolVersion = 1,
		clientInfo = { name = "hasp.nvim", title = "Neovim", version = "1" },
		clientCapabilities = {
			fs = { readTextFile = true, writeTextFile = true },
			elicitation = { form = vim.empty_dict(), url = vim.empty_dict() },
		},
	}, function(result, problem)
		if problem then
			state.is_opening = false
			refused(problem)
		elseif result.protocolVersion ~= 1 then
			say("error", "hasp speaks another version of the protocol than this plugin.")
			agent:stop()
		else
			open_session(id)
		end
	end)
end

-- ---- what commands call

-- Sends a prompt, as soon as the session is open.
function M.send(text)
	if vim.trim(text) == "" then
		return
	elseif not state.is_ready then
		state.waiting = text
		if not state.agent then
			start()
		elseif not state.is_opening then
			open_session()
		end
		return
	elseif state.is_busy then
		say("error", "hasp is still at the last prompt; :Hasp cancel ends it.")
		return
	end
	say("user", "> " .. text:gsub("\n", "\n> "))
	state.is_busy, state.stop = true, nil
	state.agent:request("session/prompt", { sessionId = state.id, prompt = files.content(text) },
		function(result, err)
			state.is_busy = false
			state.stop = result and result.stopReason or "error"
			if err then
				refused(err)
			elseif state.stop ~= "end_turn" then
				say("notice", "(" .. state.stop:gsub("_", " ") .. ")")
			end
		end)
end

function M.cancel()
	if state.agent and state.is_busy then
		for _, question in ipairs(vim.list_slice(state.questions)) do
			answerer(question)(ask.no(question), "cancelled")
		end
		state.agent:notify("session/cancel", { sessionId = state.id })
	end
end

-- Sets one of the session's options ("mode", "model" ...); without a value, asks.
function M.set(id, value)
	local option
	for _, one in ipairs(state.options) do
		option = one.id == id and one or option
	end
	if not option then
		say("error", ("The session has no option %s."):format(id))
		return
	end
	if not value then
		vim.ui.select(option.options, { prompt = option.name, format_item = function(item)
			return item.name .. (item.value == option.currentValue and " (current)" or "")
		end }, function(item)
			if item then
				M.set(id, item.value)
			end
		end)
		return
	end
	state.agent:request("session/set_config_option",
		{ sessionId = state.id, configId = id, value = value }, function(result, err)
			if err then
				refused(err)
			else
				state.options = result.configOptions
				say("notice", ("%s: %s"):format(option.name, value))
			end
		end)
end

-- Answers the first question that waits.
function M.answer(word)
	local question = state.questions[1]
	if not question then
		say("error", "No question waits.")
	elseif not ask.answer(question, word, answerer(question)) then
		say("error", ("%s is no answer to the question."):format(word))
	end
end

function M.review()
	local question = state.questions[1]
	if not question or question.method ~= "session/request_permission"
		or not ask.review(question, answerer(question)) then
		say("error", "No diff waits for a review.")
	end
end

function M.open()
	conversation():show()
	if not state.agent then
		start()
	end
end

-- Another session in place of this one: a new one, or the recorded one `id`.
function M.new(id)
	M.cancel()
	conversation():clear()
	state.is_ready = false
	if not state.agent then
		start(id)
		return
	end
	if state.id then
		state.agent:request("session/close", { sessionId = state.id }, function() end)
	end
	open_session(id)
end

-- Chooses among the recorded sessions of this directory.
function M.resume()
	if not state.agent then
		start()
	end
	state.agent:request("session/list", { cwd = vim.fn.getcwd() }, function(result, err)
		if err then
			refused(err)
			return
		end
		vim.ui.select(result.sessions, { prompt = "Session", format_item = function(one)
			return ("%s  %s"):format(one.updatedAt or "", one.title or one.sessionId)
		end }, function(one)
			if one then
				M.new(one.sessionId)
			end
		end)
	end)
end

function M.stop()
	if state.agent then
		state.agent:stop()
	end
end

return M
