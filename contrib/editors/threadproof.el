;;; threadproof.el --- Threadproof in Emacs, from 28 on  -*- lexical-binding: t -*-

;; (load "/path/to/threadproof.el")
;;
;; With `eglot' (a part of Emacs 29, a package before): diagnostics, hovers, and executions by code actions.
;; Without it: M-x threadproof-verify, whose output has links to lines.

;;; Code:

(require 'compile)

(defgroup threadproof nil "Verification of concurrent C programs." :group 'tools)

(defcustom threadproof-program "threadproof"
  "The program that verifies."
  :type 'string)

(defcustom threadproof-options '("--timeout" "60")
  "Options of `threadproof verify' for `threadproof-verify'."
  :type '(repeat string))

(with-eval-after-load 'eglot
  (defvar eglot-server-programs)
  (add-to-list 'eglot-server-programs
               `((c-mode c-ts-mode) . (,threadproof-program "lsp"))))

(defun threadproof-command (file)
  "The command that verifies FILE."
  (mapconcat #'shell-quote-argument
             (append (list threadproof-program "verify") threadproof-options (list "--" file))
             " "))

;; Lines of reports begin with places, as `a.c:8:3: ', also after `not proved: '.
(define-compilation-mode threadproof-mode "Threadproof"
  "The output of `threadproof-verify', with links to lines."
  (setq-local compilation-error-regexp-alist
              '(("^ *\\(?:not proved: \\)?\\([^ \t\n:][^:\n]*\\):\\([0-9]+\\)\\(?::\\([0-9]+\\)\\)?: " 1 2 3))))

;;;###autoload
(defun threadproof-verify ()
  "Verify the file of this buffer; the output has links to lines."
  (interactive)
  (unless buffer-file-name
    (user-error "This buffer has no file"))
  (save-some-buffers)
  (let ((compilation-environment (cons "NO_COLOR=1" compilation-environment)))
    (compilation-start (threadproof-command (file-name-nondirectory buffer-file-name)) #'threadproof-mode)))

(provide 'threadproof)
;;; threadproof.el ends here
