// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package live makes commits of a working tree as it is on disk, saved and not committed, for a piped to
// deploy. The environment runs one Tree for `pipedeck up --live`.
//
// It guarantees that the user's repository is only read: branch, index, HEAD, configuration and objects
// stay as they are. Snapshots are in a separate bare repository that borrows the user's objects, on a
// branch of the same name, so that any PipeCD piped can watch it. A snapshot holds what `git add --all`
// would take: .gitignore, filters and file modes are git's own business, which is why the git program does
// the work. A tree that equals a commit of the user is that commit, not another one.
//
// For a working tree whose HEAD is detached, the environment also runs a Tree without --live, whose branch follows
// HEAD.
//
// What a snapshot cannot hold is a *HeldError with advice, and the last snapshot stands; everything else is a
// failure to run git or to watch files.
package live
