;;; hasp.el --- hasp, a coding agent -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools

;;; Commentary:

;; A client of the Agent Client Protocol that starts "hasp acp":
;;
;;     (require 'hasp)
;;     M-x hasp
;;
;; One session for each directory, in a buffer of its own.  Questions wait there until they are
;; answered by a key: nothing takes what is being typed for an answer.  Diffs are reviewed in Ediff.
;; What comes from a model is inserted as text: no properties, no local variables, no links.

;;; Code:

(require 'cl-lib)
(require 'ediff)
(require 'project)
(require 'subr-x)
(require 'url-util)

(defgroup hasp nil "hasp, a coding agent." :group 'tools)

(defcustom hasp-command '("hasp" "acp")
  "The agent and its arguments."
  :type '(repeat string) :risky t)

(defcustom hasp-tool-lines 20
  "Lines shown of a tool's output."
  :type 'integer)

(defconst hasp--line-bytes (* 64 1024 1024)
  "A longer line of the agent's ends the connection.")

(defface hasp-user '((t :inherit bold)) "What the user said.")
(defface hasp-thought '((t :inherit shadow)) "What the model thought, and hasp's notices.")
(defface hasp-tool '((t :inherit font-lock-function-name-face)) "Tool calls.")
(defface hasp-question '((t :inherit warning)) "Questions.")
(defface hasp-error '((t :inherit error)) "Errors.")

(defconst hasp--faces
  '((user . hasp-user) (thought . hasp-thought) (notice . hasp-thought) (tool . hasp-tool)
    (plan . hasp-tool) (question . hasp-question) (error . hasp-error)))

;; Of a session's buffer.
(defvar-local hasp--process nil)
(defvar-local hasp--parts nil "Pieces of a line of which the end has not come, newest first.")
(defvar-local hasp--bytes 0)
(defvar-local hasp--last-id 0)
(defvar-local hasp--asked nil "What is called with a result or an error, by id.")
(defvar-local hasp--session nil "The session's id.")
(defvar-local hasp--state nil "nil, `opening', `ready' or `busy'.")
(defvar-local hasp--waiting nil "A prompt that is sent when the session is open.")
(defvar-local hasp--stop nil "Why the last prompt ended.")
(defvar-local hasp--questions nil "Those that wait, oldest first.")
(defvar-local hasp--options nil)
(defvar-local hasp--commands nil)
(defvar-local hasp--calls nil)
(defvar-local hasp--blocks nil "Overlays of blocks that can be replaced, by id.")
(defvar-local hasp--message nil "Kind and id of the message at the end.")

;;;; JSON-RPC, one message a line

(defun hasp--send (message)
  "Send MESSAGE, a plist."
  (when (process-live-p hasp--process)
    (process-send-string hasp--process
                         (concat (json-serialize (append '(:jsonrpc "2.0") message)
                                                 :null-object :null :false-object :false)
                                 "\n"))))

(defun hasp--request (method params callback)
  "Send a request; CALLBACK gets its result and its error, one of which is nil."
  (let ((id (cl-incf hasp--last-id)))
    (push (cons id callback) hasp--asked)
    (hasp--send `(:id ,id :method ,method :params ,params))))

(defun hasp--answer (id result)
  (hasp--send `(:id ,id :result ,result)))

(defun hasp--refuse (id code text)
  (hasp--send `(:id ,id :error (:code ,code :message ,text))))

(defun hasp--get (object &rest names)
  "The member of OBJECT that NAMES lead to, or nil."
  (while (and names object)
    (setq object (and (listp object) (plist-get object (pop names)))))
  (unless (eq object :null) object))

(defun hasp--receive (line)
  (let* ((message (condition-case nil
                      (json-parse-string line :object-type 'plist :null-object :null
                                         :false-object :false)
                    (error nil)))
         (method (hasp--get message :method))
         (id (hasp--get message :id)))
    (cond ((not message) (hasp--fail "hasp sent a line that is not JSON."))
          ((and method id) (hasp--on-request id method (hasp--get message :params)))
          (method (hasp--on-notification method (hasp--get message :params)))
          (t (let ((asked (assoc id hasp--asked)))
               (setq hasp--asked (delq asked hasp--asked))
               (when asked
                 (funcall (cdr asked) (plist-get message :result)
                          (hasp--get message :error))))))))

(defun hasp--filter (process data)
  "Take the whole lines of DATA, of the session's PROCESS."
  (when (buffer-live-p (process-buffer process))
    (with-current-buffer (process-buffer process)
      (let ((from 0) end)
        (while (and hasp--process (setq end (string-search "\n" data from)))
          (push (substring data from end) hasp--parts)
          (let ((line (decode-coding-string (apply #'concat (nreverse hasp--parts)) 'utf-8)))
            (setq hasp--parts nil hasp--bytes 0 from (1+ end))
            (hasp--receive line)))
        (push (substring data from) hasp--parts)
        (when (> (cl-incf hasp--bytes (- (length data) from)) hasp--line-bytes)
          (hasp--fail "hasp sent a line of more than 64 MiB."))))))

(defun hasp--fail (reason)
  "End the connection because of REASON."
  (when hasp--process
    (let ((process hasp--process) (asked hasp--asked))
      (setq hasp--process nil hasp--session nil hasp--state nil hasp--waiting nil hasp--asked nil
            hasp--parts nil)
      (dolist (question hasp--questions)
        (hasp--drop question "The question was withdrawn."))
      (dolist (one asked)
        (funcall (cdr one) nil `(:message ,reason)))
      (when (process-live-p process)
        (delete-process process))
      (hasp--add 'error reason))))

(defun hasp--sentinel (process _event)
  (when (and (buffer-live-p (process-buffer process)) (not (process-live-p process)))
    (with-current-buffer (process-buffer process)
      (let* ((buffer (process-get process 'errors))
             (errors (if (buffer-live-p buffer)
                         (string-trim (with-current-buffer buffer (buffer-string)))
                       "")))
        (hasp--fail (if (zerop (process-exit-status process))
                        "hasp has ended."
                      (format "hasp ended with exit code %d.%s" (process-exit-status process)
                              (if (equal errors "") "" (concat "\n" errors)))))))))

;;;; The buffer

(defun hasp--clean (text)
  "TEXT without properties and characters that change how others look."
  (replace-regexp-in-string
   "[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
   (lambda (found) (if (equal found "\r") "" (format "\\x%02x" (aref found 0))))
   (substring-no-properties text) t t))

(defmacro hasp--at-end (&rest body)
  "Run BODY at the end of the buffer; points that are there follow."
  `(let* ((inhibit-read-only t)
          (follow (= (point) (point-max)))
          (windows (seq-filter (lambda (window) (= (window-point window) (point-max)))
                               (get-buffer-window-list nil nil t))))
     (save-excursion (goto-char (point-max)) ,@body)
     (when follow (goto-char (point-max)))
     (dolist (window windows) (set-window-point window (point-max)))))

(defun hasp--add (kind text &optional id)
  "Add a block of TEXT; ID finds it again."
  (hasp--at-end
   (unless (bobp) (insert (if (bolp) "\n" "\n\n")))
   (let ((start (point)))
     (insert (propertize (hasp--clean text) 'face (alist-get kind hasp--faces)))
     (when id
       (push (cons id (make-overlay start (point))) hasp--blocks))))
  (setq hasp--message nil))

(defun hasp--update (kind text id)
  "Put TEXT in the place of the block ID, or add it."
  (let ((overlay (cdr (assoc id hasp--blocks))))
    (if (not overlay)
        (hasp--add kind text id)
      (hasp--at-end
       (let ((start (overlay-start overlay)) (end (overlay-end overlay)))
         (goto-char end)
         (insert (propertize (hasp--clean text) 'face (alist-get kind hasp--faces)))
         (move-overlay overlay end (point))
         (delete-region start end))))))

(defun hasp--append (kind text id)
  "Add TEXT to the message ID, or begin it."
  (if (equal hasp--message (cons kind id))
      (hasp--at-end (insert (propertize (hasp--clean text) 'face (alist-get kind hasp--faces))))
    (hasp--add kind text)
    (setq hasp--message (cons kind id))))

(defun hasp--tail (text)
  (let* ((lines (split-string text "\n"))
         (more (- (length lines) hasp-tool-lines)))
    (if (<= more 0) text
      (concat (format "(%d lines more)\n" more) (string-join (nthcdr more lines) "\n")))))

(defun hasp--diff-text (part)
  "The lines in which the texts of PART, a diff, differ, in their order."
  (let ((old (split-string (or (hasp--get part :oldText) "") "\n"))
        (new (split-string (or (hasp--get part :newText) "") "\n")))
    (while (and old new (equal (car old) (car new)))
      (pop old) (pop new))
    (setq old (nreverse old) new (nreverse new))
    (while (and old new (equal (car old) (car new)))
      (pop old) (pop new))
    (concat (hasp--get part :path)
            (mapconcat (lambda (line) (concat "\n-" line)) (nreverse old) "")
            (mapconcat (lambda (line) (concat "\n+" line)) (nreverse new) ""))))

(defun hasp--content-text (content)
  (string-join
   (delq nil (mapcar (lambda (part)
                       (cond ((equal (hasp--get part :type) "diff") (hasp--diff-text part))
                             ((hasp--get part :content :text))))
                     content))
   "\n"))

;;;; Updates

(defconst hasp--marks
  '(("pending" . "·") ("in_progress" . "…") ("completed" . "✓") ("failed" . "✗")))

(defun hasp--show-call (update)
  (let* ((id (hasp--get update :toolCallId))
         (call (copy-sequence (cdr (assoc id hasp--calls)))))
    (cl-loop for (name value) on update by #'cddr
             do (setq call (plist-put call name value)))
    (setf (alist-get id hasp--calls nil nil #'equal) call)
    (let* ((status (hasp--get call :status))
           (details (if (equal status "pending") ""
                      (hasp--content-text (hasp--get call :content)))))
      (hasp--update 'tool (concat (or (cdr (assoc status hasp--marks)) "·") " "
                                  (hasp--get call :title)
                                  (unless (equal details "")
                                    (concat "\n" (hasp--tail details))))
                    (cons 'call id))
      (when (equal status "completed")
        (seq-doseq (part (hasp--get call :content))
          (when (equal (hasp--get part :type) "diff")
            (hasp--reload (hasp--get part :path))))))))

(defun hasp--on-update (update)
  (pcase (hasp--get update :sessionUpdate)
    ((and (or "agent_message_chunk" "agent_thought_chunk" "user_message_chunk") kind)
     (when-let ((text (hasp--get update :content :text)))
       (hasp--append (cdr (assoc kind '(("agent_thought_chunk" . thought)
                                        ("user_message_chunk" . user))))
                     text (hasp--get update :messageId))))
    ((or "tool_call" "tool_call_update") (hasp--show-call update))
    ("plan" (hasp--update 'plan (concat "Plan" (mapconcat
                                                (lambda (entry)
                                                  (format "\n%s %s"
                                                          (cdr (assoc (hasp--get entry :status)
                                                                      hasp--marks))
                                                          (hasp--get entry :content)))
                                                (hasp--get update :entries) ""))
                          'plan))
    ("available_commands_update"
     (setq hasp--commands (hasp--get update :availableCommands)))
    ("config_option_update" (hasp--take-options update))))

(defun hasp--take-options (result)
  (setq hasp--options (hasp--get result :configOptions))
  (force-mode-line-update))

(defun hasp--option (id)
  (seq-find (lambda (option) (equal (hasp--get option :id) id)) hasp--options))

(defun hasp--on-notification (method params)
  (cond ((and (equal method "session/update") (equal (hasp--get params :sessionId) hasp--session))
         (hasp--on-update (hasp--get params :update)))
        ((equal method "$/cancel_request")
         (dolist (question hasp--questions)
           (when (equal (plist-get question :id) (hasp--get params :requestId))
             (hasp--drop question "The question was withdrawn."))))))

;;;; Files

(defun hasp--unsaved (path)
  "The buffer with unsaved changes of the file PATH, or nil."
  (let ((buffer (and (stringp path) (find-buffer-visiting path))))
    (and buffer (buffer-modified-p buffer) buffer)))

(defun hasp--read-file (params)
  "fs/read_text_file: what is not saved; hasp reads all else from disk."
  (let ((buffer (hasp--unsaved (hasp--get params :path))))
    (if (not buffer)
        (list -32002 "Emacs has no unsaved changes of this file.")
      (with-current-buffer buffer
        (save-restriction
          (widen)
          (let ((text (buffer-substring-no-properties (point-min) (point-max)))
                (line (hasp--get params :line)) (limit (hasp--get params :limit)))
            (cond ((string-match-p "[\x3fff80-\x3fffff]" text)
                   (list -32602 "The unsaved text is not valid UTF-8."))
                  (t (when (or line limit)
                       (setq text (string-join
                                   (seq-take (nthcdr (1- (or line 1)) (split-string text "\n"))
                                             (or limit most-positive-fixnum))
                                   "\n")))
                     `(:content ,text)))))))))

(defun hasp--write-file (params)
  "fs/write_text_file: into the buffer, which stays unsaved."
  (let ((buffer (find-buffer-visiting (or (hasp--get params :path) "")))
        (text (hasp--get params :content)))
    (cond ((not (and buffer (stringp text))) (list -32002 "Emacs has not opened this file."))
          ((buffer-local-value 'buffer-read-only buffer)
           (list -32602 "The buffer of this file is read-only."))
          (t (with-current-buffer buffer
               (save-restriction
                 (widen)
                 (let ((proposed (generate-new-buffer " *hasp text*" t)))
                   (unwind-protect
                       (progn (with-current-buffer proposed (insert text))
                              (replace-buffer-contents proposed 1))
                     (kill-buffer proposed)))))
             (make-hash-table)))))

(defun hasp--reload (path)
  "Read the file PATH again if it is open and saved.
No local variables count, and no mode is chosen: the text is a model's."
  (let ((buffer (and (stringp path) (find-buffer-visiting path))))
    (when (and buffer (not (buffer-modified-p buffer)) (file-exists-p path)
               (not (verify-visited-file-modtime buffer)))
      (with-current-buffer buffer
        (let ((enable-local-variables nil) (enable-local-eval nil) (inhibit-message t))
          (revert-buffer t t t))))))

;;;; Questions

(defun hasp--drop (question words)
  "QUESTION waits no longer; WORDS say why."
  (setq hasp--questions (delq question hasp--questions))
  (hasp--add 'notice (concat "→ " words)))

(defun hasp--reply (question result words)
  "Answer QUESTION, once."
  (when (memq question hasp--questions)
    (hasp--answer (plist-get question :id) result)
    (hasp--drop question words)))

(defun hasp--permission-p (question)
  (equal (plist-get question :method) "session/request_permission"))

(defun hasp--diffs (question)
  (seq-filter (lambda (part) (equal (hasp--get part :type) "diff"))
              (hasp--get question :params :toolCall :content)))

(defun hasp--ask (id method params)
  (let ((question (list :id id :method method :params params)) (number 0))
    (setq hasp--questions (append hasp--questions (list question)))
    (hasp--add
     'question
     (string-join
      (delq nil
            (if (hasp--permission-p question)
                (let ((details (hasp--content-text (hasp--get params :toolCall :content))))
                  `(,(concat "? " (hasp--get params :toolCall :title))
                    ,(unless (equal details "") details)
                    ,@(mapcar (lambda (option)
                                (format "[%d] %s" (cl-incf number) (hasp--get option :name)))
                              (hasp--get params :options))
                    ,(when (hasp--diffs question) "[d] Review the diff")))
              (list (concat "? " (hasp--get params :message)) (hasp--get params :url)
                    "[a] Answer  [n] Decline")))
      "\n"))
    (unless (get-buffer-window nil t)
      (message "hasp has a question in %s" (buffer-name)))))

(defun hasp--selected (option &optional files)
  `(:outcome (:outcome "selected" :optionId ,(hasp--get option :optionId))
    ,@(and files `(:_meta (:hasp (:files ,(vconcat files)))))))

(defun hasp--option-of-kind (question kind)
  (seq-find (lambda (option) (equal (hasp--get option :kind) kind))
            (hasp--get question :params :options)))

(defun hasp--first-question ()
  (or (car hasp--questions) (user-error "No question waits")))

(defun hasp-answer-number ()
  "Answer the question that waits with the option whose number was typed."
  (interactive)
  (let* ((question (hasp--first-question))
         (number (- last-command-event ?1))
         (options (hasp--get question :params :options)))
    (unless (and (hasp--permission-p question) (< -1 number (length options)))
      (user-error "The question has no such option"))
    (hasp--reply question (hasp--selected (aref options number))
                 (hasp--get (aref options number) :name))))

(defun hasp-decline ()
  "Answer the question that waits with no."
  (interactive)
  (let ((question (hasp--first-question)))
    (hasp--reply question (hasp--no question) "No")))

(defun hasp--no (question)
  (if (not (hasp--permission-p question)) '(:action "decline")
    (let ((option (hasp--option-of-kind question "reject_once")))
      (if option (hasp--selected option) '(:outcome (:outcome "cancelled"))))))

(defun hasp--ask-field (name property)
  "The answer to the field NAME of a form, or nil."
  (let* ((prompt (hasp--clean (concat (or (hasp--get property :description)
                                          (hasp--get property :title) name)
                                      ": ")))
         (items (or (hasp--get property :oneOf) (hasp--get property :enum)
                    (hasp--get property :items :anyOf) (hasp--get property :items :enum)))
         (choices (mapcar (lambda (item)
                            (if (stringp item) (cons item item)
                              (cons (hasp--clean (hasp--get item :title)) (hasp--get item :const))))
                          items))
         (type (hasp--get property :type)))
    (cond ((equal type "boolean") (if (y-or-n-p prompt) t :false))
          ((equal type "array")
           (vconcat (mapcar (lambda (word) (cdr (assoc word choices)))
                            (completing-read-multiple prompt choices nil t))))
          (choices (cdr (assoc (completing-read prompt choices nil t) choices)))
          (t (let ((text (read-string prompt)))
               (cond ((equal text "") nil)
                     ((member type '("number" "integer")) (string-to-number text))
                     (t text)))))))

(defun hasp-answer ()
  "Answer the question that waits: its form, or whether its address is opened."
  (interactive)
  (let* ((question (hasp--first-question)) (params (plist-get question :params))
         (url (hasp--get params :url)) (content nil))
    (cond ((hasp--permission-p question)
           (let* ((names (mapcar (lambda (option) (cons (hasp--get option :name) option))
                                 (hasp--get params :options)))
                  (chosen (cdr (assoc (completing-read "Answer: " names nil t) names))))
             (hasp--reply question (hasp--selected chosen) (hasp--get chosen :name))))
          (url
           (let ((yes (and (string-match-p "\\`https?://" url)
                           (y-or-n-p (format "Open %s? " (hasp--clean url))))))
             (when yes (browse-url url))
             (hasp--reply question `(:action ,(if yes "accept" "decline")) (if yes "Opened" "No"))))
          (t (cl-loop for (name property) on (hasp--get params :requestedSchema :properties)
                      by #'cddr
                      for answer = (hasp--ask-field (substring (symbol-name name) 1) property)
                      when answer do (setq content (plist-put content name answer)))
             (hasp--reply question `(:action "accept" :content ,(or content (make-hash-table)))
                          "Answered")))))

;;;; Reviews

(defun hasp--review-buffer (name text path)
  (let ((buffer (generate-new-buffer (format "*hasp %s: %s*" name
                                             (hasp--clean (file-name-nondirectory path))))))
    (with-current-buffer buffer
      (insert text)
      ;; Marks of direction are shown by their names, and reorder nothing.
      (setq-local bidi-display-reordering nil)
      (setq-local glyphless-char-display (copy-sequence glyphless-char-display))
      (dolist (range '((#x200e . #x200f) (#x202a . #x202e) (#x2066 . #x2069)))
        (set-char-table-range glyphless-char-display range 'acronym))
      (set-buffer-modified-p nil))
    buffer))

(defun hasp-review ()
  "Review the diffs of the question that waits in Ediff.
\"a\" takes a hunk of the file as it is, which leaves the proposed one out.
What the second buffer has at the end is written."
  (interactive)
  (let* ((question (hasp--first-question))
         (diffs (and (hasp--permission-p question)
                     (hasp--option-of-kind question "allow_once") (hasp--diffs question))))
    (unless diffs
      (user-error "No diff waits for a review"))
    (hasp--review-next (current-buffer) question diffs nil)))

(defun hasp--review-next (home question diffs results)
  "Review the first of DIFFS; RESULTS are those of the files before it."
  (let* ((diff (car diffs)) (path (hasp--get diff :path))
         (old (hasp--review-buffer "now" (or (hasp--get diff :oldText) "") path))
         (new (hasp--review-buffer "proposed" (hasp--get diff :newText) path)))
    (with-current-buffer old (setq buffer-read-only t))
    (with-current-buffer new
      (setq buffer-read-only (not (eq (hasp--get diff :_meta :hasp :modifiable) t))))
    (ediff-buffers
     old new
     (list (lambda ()
             (add-hook 'ediff-quit-hook
                       (lambda ()
                         (hasp--reviewed home question diffs results old new))
                       t t))))))

(defun hasp--reviewed (home question diffs results old new)
  "Take what the buffer NEW has, and go on with the next file."
  (let* ((diff (car diffs)) (text (with-current-buffer new (buffer-string)))
         (taken (y-or-n-p (format "Take what %s has now? " (buffer-name new)))))
    (kill-buffer old)
    (kill-buffer new)
    (when (and taken (buffer-live-p home))
      (push (list :path (hasp--get diff :path) :new (hasp--get diff :newText)
                  :text (unless (equal text (or (hasp--get diff :oldText) ""))
                          (substring-no-properties text)))
            results)
      (with-current-buffer home
        (if (cdr diffs)
            (hasp--review-next home question (cdr diffs) results)
          (hasp--review-answer question (nreverse results)))))))

(defun hasp--review-answer (question results)
  (let ((yes (hasp--option-of-kind question "allow_once")))
    (cond ((cl-every (lambda (one) (equal (plist-get one :text) (plist-get one :new))) results)
           (hasp--reply question (hasp--selected yes) "Taken"))
          ((cl-notany (lambda (one) (plist-get one :text)) results)
           (hasp--reply question (hasp--no question) "Left"))
          (t (hasp--reply question
                          (hasp--selected yes (mapcar (lambda (one)
                                                        `(:path ,(plist-get one :path)
                                                          :newText ,(or (plist-get one :text) :null)))
                                                      results))
                          "Taken in part")))))

;;;; The session

(defconst hasp--handlers
  '(("session/request_permission" . hasp--ask) ("elicitation/create" . hasp--ask)
    ("fs/read_text_file" . hasp--read-file) ("fs/write_text_file" . hasp--write-file)))

(defun hasp--on-request (id method params)
  (let ((handler (cdr (assoc method hasp--handlers))))
    (cond ((not handler) (hasp--refuse id -32601 (format "Emacs has no method %s." method)))
          ((eq handler 'hasp--ask) (hasp--ask id method params))
          (t (let ((result (condition-case problem (funcall handler params)
                             (error (list -32603 (error-message-string problem))))))
               (if (and (consp result) (integerp (car result)))
                   (apply #'hasp--refuse id result)
                 (hasp--answer id result)))))))

(defun hasp--refused (problem)
  (hasp--add 'error (or (hasp--get problem :message) "hasp refused it.")))

(defun hasp--open-session (&optional id)
  "Open a new session, or the recorded one ID, whose conversation comes again."
  (setq hasp--session id hasp--state 'opening hasp--calls nil)
  (hasp--request (if id "session/load" "session/new")
                 `(:cwd ,(directory-file-name (expand-file-name default-directory)) :mcpServers []
                   ,@(and id `(:sessionId ,id)))
                 (lambda (result problem)
                   (setq hasp--state (unless problem 'ready))
                   (if problem (hasp--refused problem)
                     (setq hasp--session (or (hasp--get result :sessionId) id))
                     (hasp--take-options result)
                     (when hasp--waiting
                       (hasp-send (prog1 hasp--waiting (setq hasp--waiting nil))))))))

(defun hasp--start (&optional id)
  "Start the agent in this buffer, and open a session."
  (let ((errors (generate-new-buffer " *hasp errors*")))
    (condition-case problem
        (setq hasp--process
              (make-process :name "hasp" :buffer (current-buffer) :command hasp-command
                            :connection-type 'pipe :coding '(no-conversion . utf-8-unix) :noquery t
                            :filter #'hasp--filter :sentinel #'hasp--sentinel :stderr errors))
      (error (hasp--add 'error (format "%s cannot be started: %s" (car hasp-command)
                                       (error-message-string problem)))))
    (when hasp--process
      (process-put hasp--process 'errors errors)
      (set-process-query-on-exit-flag (get-buffer-process errors) nil)
      (set-process-sentinel (get-buffer-process errors) #'ignore)
      (setq hasp--state 'opening)
      (hasp--request "initialize"
                     '(:protocolVersion 1 :clientInfo (:name "hasp.el" :title "Emacs" :version "1")
                       :clientCapabilities (:fs (:readTextFile t :writeTextFile t)
                                            :elicitation (:form #s(hash-table) :url #s(hash-table))))
                     (lambda (result problem)
                       (cond (problem (hasp--refused problem))
                             ((not (eql (hasp--get result :protocolVersion) 1))
                              (hasp--fail "hasp speaks another version of the protocol."))
                             (t (hasp--open-session id))))))))

(defun hasp--content (text)
  "TEXT as a prompt's content: each @name that is a file is a link to it."
  (let ((blocks nil) (from 0) (at 0))
    (while (string-match "\\(?:\\`\\|[ \t\n]\\)\\(@\\(\\(?:\\\\.\\|[^ \t\n\\]\\)+\\)\\)" text at)
      (let* ((start (match-beginning 1)) (word (match-string 2 text))
             (lines (and (string-match "#L[0-9-]+\\'" word) (match-string 0 word)))
             (name (replace-regexp-in-string "\\\\\\(.\\)" "\\1"
                                             (string-remove-suffix (or lines "") word)))
             (path (expand-file-name name)))
        (setq at (+ start 1 (length word)))
        (when (file-exists-p path)
          (when (> start from)
            (push `(:type "text" :text ,(substring text from start)) blocks))
          (push `(:type "resource_link" :name ,(file-name-nondirectory path)
                  :uri ,(concat "file://" (url-hexify-string path url-path-allowed-chars) lines))
                blocks)
          (setq from at))))
    (when (< from (length text))
      (push `(:type "text" :text ,(substring text from)) blocks))
    (vconcat (nreverse blocks))))

(defun hasp-send (text)
  "Send the prompt TEXT, as soon as the session is open."
  (interactive (list (hasp--read-prompt)))
  (setq text (substring-no-properties text))
  (cond ((string-blank-p text) nil)
        ((eq hasp--state 'busy) (user-error "hasp is still at the last prompt"))
        ((eq hasp--state 'ready)
         (hasp--add 'user (concat "> " (string-replace "\n" "\n> " text)))
         (setq hasp--state 'busy hasp--stop nil)
         (hasp--request "session/prompt"
                        `(:sessionId ,hasp--session :prompt ,(hasp--content text))
                        (lambda (result problem)
                          (setq hasp--stop (or (hasp--get result :stopReason) "error"))
                          (when hasp--process (setq hasp--state 'ready))
                          (cond (problem (hasp--refused problem))
                                ((not (equal hasp--stop "end_turn"))
                                 (hasp--add 'notice (format "(%s)" (string-replace "_" " " hasp--stop))))))))
        (t (setq hasp--waiting text)
           (cond ((not hasp--process) (hasp--start))
                 ((not hasp--state) (hasp--open-session))))))

(defun hasp--complete-prompt ()
  "Complete /command at the beginning of a prompt, and @file."
  (let ((end (point)))
    (save-excursion
      (skip-chars-backward "^ \t\n" (minibuffer-prompt-end))
      (pcase (char-after)
        (?/ (list (1+ (point)) end
                  (with-current-buffer (window-buffer (minibuffer-selected-window))
                    (mapcar (lambda (command) (hasp--get command :name)) hasp--commands))))
        (?@ (list (1+ (point)) end #'completion-file-name-table))))))

(defun hasp--read-prompt ()
  (minibuffer-with-setup-hook
      (lambda ()
        (add-hook 'completion-at-point-functions #'hasp--complete-prompt nil t)
        (local-set-key (kbd "TAB") #'completion-at-point))
    (read-string "Prompt: ")))

(defun hasp-cancel ()
  "End the prompt; questions are answered with no."
  (interactive)
  (when (eq hasp--state 'busy)
    (dolist (question hasp--questions)
      (hasp--reply question (if (hasp--permission-p question) '(:outcome (:outcome "cancelled"))
                              '(:action "cancel"))
                   "Cancelled"))
    (hasp--send `(:method "session/cancel" :params (:sessionId ,hasp--session)))))

(defun hasp-set (id value)
  "Set the session's option ID (\"mode\", \"model\" ...) to VALUE."
  (interactive
   (let* ((id (completing-read "Option: " (mapcar (lambda (one) (hasp--get one :id)) hasp--options)
                               nil t))
          (values (mapcar (lambda (one) (hasp--get one :value))
                          (hasp--get (hasp--option id) :options))))
     (list id (completing-read "Value: " values))))
  (hasp--request "session/set_config_option"
                 `(:sessionId ,hasp--session :configId ,id :value ,value)
                 (lambda (result problem)
                   (if problem (hasp--refused problem)
                     (hasp--take-options result)
                     (hasp--add 'notice (format "%s: %s" id value))))))

(defun hasp-new (&optional id)
  "Another session in this buffer: a new one, or the recorded one ID."
  (interactive)
  (hasp-cancel)
  (when hasp--session
    (hasp--request "session/close" `(:sessionId ,hasp--session) #'ignore))
  (let ((inhibit-read-only t))
    (erase-buffer)
    (remove-overlays)
    (setq hasp--blocks nil hasp--message nil))
  (if hasp--process (hasp--open-session id) (hasp--start id)))

(defun hasp-resume ()
  "Choose among the recorded sessions of this directory."
  (interactive)
  (hasp--request "session/list"
                 `(:cwd ,(directory-file-name (expand-file-name default-directory)))
                 (lambda (result problem)
                   (if problem (hasp--refused problem)
                     (let* ((names (mapcar (lambda (one)
                                             (cons (hasp--clean
                                                    (format "%s  %s" (or (hasp--get one :updatedAt) "")
                                                            (or (hasp--get one :title) "")))
                                                   (hasp--get one :sessionId)))
                                           (hasp--get result :sessions)))
                            (chosen (completing-read "Session: " names nil t)))
                       (hasp-new (cdr (assoc chosen names))))))))

(defun hasp-stop ()
  "End the agent of this buffer."
  (interactive)
  (when (process-live-p hasp--process)
    (process-send-eof hasp--process)))

(defvar hasp-mode-map
  (let ((map (make-sparse-keymap)))
    (dotimes (i 9)
      (define-key map (number-to-string (1+ i)) #'hasp-answer-number))
    (dolist (row '(("p" . hasp-send) ("RET" . hasp-send) ("a" . hasp-answer) ("n" . hasp-decline)
                   ("d" . hasp-review) ("o" . hasp-set) ("N" . hasp-new) ("R" . hasp-resume)
                   ("C-c C-c" . hasp-cancel)))
      (define-key map (kbd (car row)) (cdr row)))
    map)
  "Keys of a conversation.")

(define-derived-mode hasp-mode special-mode "hasp"
  "A conversation with hasp.
\\{hasp-mode-map}"
  (setq-local mode-line-process
              '(:eval (format " %s %s" (or hasp--state "")
                              (hasp--clean (or (hasp--get (hasp--option "model") :currentValue) "")))))
  (visual-line-mode))

;;;###autoload
(defun hasp (&optional directory)
  "Show the conversation about DIRECTORY, by default the current project's."
  (interactive)
  (let* ((project (project-current))
         (default-directory (file-name-as-directory
                             (expand-file-name (or directory (and project (project-root project))
                                                   default-directory))))
         (buffer (get-buffer-create (format "*hasp: %s*" (abbreviate-file-name default-directory)))))
    (with-current-buffer buffer
      (unless (derived-mode-p 'hasp-mode)
        (hasp-mode))
      (unless hasp--process
        (hasp--start)))
    (pop-to-buffer buffer)))

;;;###autoload
(defun hasp-mention ()
  "Ask hasp about the current file, or the region's lines of it."
  (interactive)
  (let ((word (concat "@" (replace-regexp-in-string "[ \t\n\\]" "\\\\\\&" (buffer-file-name))
                      (when (use-region-p)
                        (format "#L%d-%d" (line-number-at-pos (region-beginning))
                                (line-number-at-pos (region-end)))))))
    (hasp)
    (hasp-send (read-string "Prompt: " (concat word " ")))))

(provide 'hasp)
;;; hasp.el ends here
