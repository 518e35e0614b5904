// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package source prepares the directory that a plugin gets: a repository checked out at one commit, with
// the application's configuration read and checked.
//
// It guarantees that nobody else uses the directory until the Source is closed, that the application's
// path cannot lead out of it, and that everything is removed in the end. Plugins may change what they
// get: a directory is given to a later call only when nothing in it has changed, which makes quick stages
// cheap; otherwise it is removed.
//
// The planner and the scheduler call it. It fails with config.Errors for mistakes in the configuration,
// fs.ErrNotExist for a missing one, and *git.RepositoryError for a missing commit.
package source
