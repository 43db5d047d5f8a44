-- SPDX-License-Identifier: Apache-2.0
-- A program that speaks JSON-RPC 2.0 over its standard input and output, one message a line
-- (Agent Client Protocol v1, transports).
--
--     local agent = rpc.start({ "hasp", "acp" }, cwd, {
--         request = function(id, method, params) end,     -- answered by agent:answer or agent:refuse
--         notification = function(method, params) end,
--         exit = function(reason) end,                    -- once; what was asked is refused first
--     })
--     agent:request("initialize", params, function(result, err) end)   -- one of the two is nil
--
-- All callbacks run on Neovim's main loop, in the order of the messages.
local M = {}

local Agent = {}
Agent.__index = Agent

-- A longer line ends the connection: no message of an agent's is that long.
local LINE_BYTES = 64 * 1024 * 1024
-- What is kept of its standard error, for the message at its end.
local ERROR_BYTES = 4096

local function write(agent, message)
	message.jsonrpc = "2.0"
	if not agent.ended then
		agent.stdin:write(vim.json.encode(message) .. "\n")
	end
end

function Agent:request(method, params, callback)
	self.last = self.last + 1
	self.asked[self.last] = callback
	if self.ended then
		self:forget("hasp is not running.")
		return
	end
	write(self, { id = self.last, method = method, params = params })
end

function Agent:notify(method, params)
	write(self, { method = method, params = params })
end

function Agent:answer(id, result)
	write(self, { id = id, result = result or vim.empty_dict() })
end

function Agent:refuse(id, code, message)
	write(self, { id = id, error = { code = code, message = message } })
end

function Agent:forget(reason)
	local asked = self.asked
	self.asked = {}
	for _, callback in pairs(asked) do
		callback(nil, { code = -32000, message = reason })
	end
end

-- Ends it: an agent ends when its input does.
function Agent:stop()
	if not self.ended and not self.stdin:is_closing() then
		self.stdin:close()
	end
end

local function receive(agent, line)
	local ok, message = pcall(vim.json.decode, line, { luanil = { object = true } })
	if not ok or type(message) ~= "table" then
		agent:fail("hasp sent a line that is not JSON.")
	elseif type(message.method) == "string" then
		local params = type(message.params) == "table" and message.params or {}
		if message.id ~= nil then
			agent.handlers.request(message.id, message.method, params)
		else
			agent.handlers.notification(message.method, params)
		end
	else
		local callback = agent.asked[message.id]
		agent.asked[message.id or 0] = nil
		if callback then
			callback(message.error == nil and (message.result or {}) or nil, message.error)
		end
	end
end

-- Takes the whole lines of what has come.
local function take(agent, data)
	while not agent.ended do
		local from = data:find("\n", 1, true)
		if not from then
			break
		end
		table.insert(agent.parts, data:sub(1, from - 1))
		local line = table.concat(agent.parts)
		agent.parts, agent.bytes, data = {}, 0, data:sub(from + 1)
		receive(agent, line)
	end
	table.insert(agent.parts, data)
	agent.bytes = agent.bytes + #data
	if agent.bytes > LINE_BYTES then
		agent:fail("hasp sent a line of more than 64 MiB.")
	end
end

function Agent:fail(reason)
	if self.ended then
		return
	end
	self.ended = true
	for _, pipe in ipairs({ self.stdin, self.stdout, self.stderr }) do
		if not pipe:is_closing() then
			pipe:close()
		end
	end
	if self.handle and self.handle:is_active() then
		self.handle:kill("sigterm")
	end
	self:forget(reason)
	self.handlers.exit(reason)
end

local function exited(agent, code)
	local told = vim.trim(agent.error_text)
	agent:fail(code == 0 and "hasp has ended."
		or ("hasp ended with exit code %d.%s%s"):format(code, told == "" and "" or "\n", told))
end

-- The agent, or nil and why it cannot be started.
function M.start(command, cwd, handlers)
	local agent = setmetatable({
		handlers = handlers, asked = {}, last = 0, parts = {}, bytes = 0, error_text = "",
		stdin = vim.loop.new_pipe(false), stdout = vim.loop.new_pipe(false),
		stderr = vim.loop.new_pipe(false),
	}, Agent)
	local handle, err = vim.loop.spawn(command[1], {
		args = vim.list_slice(command, 2), cwd = cwd,
		stdio = { agent.stdin, agent.stdout, agent.stderr },
	}, function(code)
		agent.code = code
		if agent.handle and not agent.handle:is_closing() then
			agent.handle:close()
		end
		-- What it has written before its end comes first.
		vim.schedule(function()
			if agent.is_read then
				exited(agent, code)
			end
		end)
	end)
	if not handle then
		return nil, ("%s cannot be started: %s"):format(command[1], err)
	end
	agent.handle = handle
	agent.stdout:read_start(function(_, data)
		vim.schedule(function()
			if data and not agent.ended then
				take(agent, data)
			elseif not data then
				agent.is_read = true
				if agent.code then
					exited(agent, agent.code)
				end
			end
		end)
	end)
	agent.stderr:read_start(function(_, data)
		agent.error_text = (agent.error_text .. (data or "")):sub(-ERROR_BYTES)
	end)
	return agent
end

return M
