;;; emacs_driver.el --- runs a test's steps in emacs --batch -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; HASP_TEST_STEPS is the file of the steps, one form; what it returns, or why it failed, goes as
;; JSON to HASP_TEST_RESULT.  HASP_TEST_COMMAND is the agent's command as JSON.

;;; Code:

(require 'hasp)
(require 'json)

(defvar test-seconds (string-to-number (or (getenv "HASP_TEST_SECONDS") "100")))
(defvar test-buffer nil "The conversation.")

(defun test-text ()
  (with-current-buffer test-buffer
    (buffer-substring-no-properties (point-min) (point-max))))

(defmacro test-wait (what &rest condition)
  "Until CONDITION holds in the conversation; what processes say is handled meanwhile."
  `(with-current-buffer test-buffer
     (let ((end (+ (float-time) test-seconds)) found)
       (while (not (setq found (progn ,@condition)))
         (when (> (float-time) end)
           (error "Waited for %s in vain; the conversation:\n%s" ,what (test-text)))
         (accept-process-output nil 1))
       found)))

(defun test-shows (text)
  (test-wait text (string-search text (test-text))))

(defun test-question ()
  (test-wait "a question" (car hasp--questions)))

(defun test-send (text)
  (with-current-buffer test-buffer
    (hasp-send text)
    (setq hasp--stop nil)))

(defun test-ended ()
  (test-wait "the end of the prompt" hasp--stop))

(defun test-key (key)
  "Press KEY in the conversation."
  (with-current-buffer test-buffer
    (let ((last-command-event (aref (kbd key) 0)))
      (call-interactively (lookup-key hasp-mode-map (kbd key))))))

(defun test-ediff ()
  "The control buffer of the review."
  (seq-find (lambda (buffer) (string-match-p "Ediff Control" (buffer-name buffer))) (buffer-list)))

(defun test-review (action)
  "Open the review, run ACTION in its control buffer, and take what is there."
  (test-key "d")
  (with-current-buffer (test-ediff)
    (ediff-next-difference)
    (funcall action)
    (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) t)))
      (ediff-really-quit nil))))

(defun test-open ()
  (let ((start (current-buffer)))
    (setq hasp-command (append (json-parse-string (getenv "HASP_TEST_COMMAND")) nil))
    (hasp default-directory)
    (setq test-buffer (current-buffer))
    (set-buffer start)))

(let* ((ediff-window-setup-function #'ediff-setup-windows-plain)
       (result (condition-case problem
                   (progn
                     (test-open)
                     (list :ok t :result
                           (eval (with-temp-buffer
                                   (insert-file-contents (getenv "HASP_TEST_STEPS"))
                                   (read (current-buffer)))
                                 t)))
                 (error (list :ok :false :result (error-message-string problem))))))
  (with-current-buffer test-buffer
    (let ((process hasp--process))
      (hasp-stop)
      (while (process-live-p process)
        (accept-process-output process 1))))
  (with-temp-file (getenv "HASP_TEST_RESULT")
    (set-buffer-file-coding-system 'utf-8-unix)
    (insert (json-serialize result :null-object nil :false-object :false))))

;;; emacs_driver.el ends here
