// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import "fmt"

// name is how errors and logs call a repository.
type name struct {
	// id is that of the piped configuration, branch its branch.
	id, branch string
	// remote is without credentials.
	remote string
}

func (n name) problem(reason error, hint string) error {
	return &RepositoryError{Remote: n.remote, Reason: reason, Hint: hint}
}

func (n name) noCommit(hash string) error {
	return n.problem(
		ErrNoCommit,
		fmt.Sprintf("%q is neither in the mirror nor in the repository; a force push may have removed it", hash),
	)
}
