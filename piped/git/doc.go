// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package git keeps a private mirror of one branch of a Git repository, notices when the branch moves, and
// reads commits from the mirror.
//
// It guarantees that a commit once seen stays readable, whatever happens to the repository it came from
// (force push, deleted branch, git gc); that a move of the branch of a local repository is reported within
// milliseconds and never lost; and that a checkout writes nothing outside of its directory. The source
// repository is only read, unless a Draft is pushed. The mirror holds the commits that were seen, not the
// history between them.
//
// The trigger watches through it, package source checks out through it and the event watcher pushes
// through it. Mistakes of the user (no such repository, no commits, no such branch) are *RepositoryError;
// the others are failures to read or write.
package git
