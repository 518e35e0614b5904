// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"errors"
	"fmt"
)

// Reasons of a RepositoryError, for errors.Is.
var (
	ErrNotRepository = errors.New("not a Git repository")
	ErrNoCommits     = errors.New("the repository has no commits yet")
	ErrNoBranch      = errors.New("no such branch")
	ErrDamaged       = errors.New("the repository is damaged or incomplete")
	ErrSettings      = errors.New("the configuration of the repository cannot be read")
	ErrUnsupported   = errors.New("the repository uses a format that is not supported")
	ErrNoCommit      = errors.New("no such commit")
	ErrAmbiguous     = errors.New("the hash of the commit is too short")
	ErrNoHistory     = errors.New("the commits cannot be compared")
	ErrAuth          = errors.New("the Git server refused the credentials")
	ErrHostKey       = errors.New("the Git server cannot be trusted")
	ErrSilent        = errors.New("the Git server does not answer")
	ErrMoved         = errors.New("the branch is not where it was")
	ErrCheckedOut    = errors.New("the branch is in use by a working tree")
	ErrRefused       = errors.New("the repository refused the push")
	// ErrNoDirectory is an ErrNotRepository, too.
	ErrNoDirectory error = &reason{"there is no such directory", ErrNotRepository}
)

// reason is a reason that is a case of a more general one.
type reason struct {
	text    string
	general error
}

// Error returns the text of the reason.
func (r *reason) Error() string { return r.text }

// Unwrap returns the more general reason.
func (r *reason) Unwrap() error { return r.general }

// RepositoryError says why a repository cannot be used and what to do about it.
type RepositoryError struct {
	// Remote is the repository as configured, without credentials.
	Remote string
	// Reason is one of the reasons above.
	Reason error
	// Hint is the next step for the user.
	Hint string
}

// Error returns one line.
func (e *RepositoryError) Error() string {
	return fmt.Sprintf("git repository %s: %v; %s", e.Remote, e.Reason, e.Hint)
}

// Unwrap returns the reason.
func (e *RepositoryError) Unwrap() error { return e.Reason }
