// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package source prepares the directory that a plugin gets: a repository checked out at one commit, with
// the application's configuration read and checked, secrets decrypted and attachments put in.
//
// It guarantees that no one else uses the directory until the Source is closed, that the application's
// path cannot lead out of it, and that everything is removed in the end. Plugins may change what they
// get: a directory is given to a later call only when nothing in it has changed, which makes quick stages
// cheap; otherwise it is removed. A directory with secrets can be entered by the user of piped alone and is
// removed after its call in any case, after a crash at the next start. Files that get secrets are written
// again, so that content which the checkout shares with others stays as it is; neither they nor attachments
// can lie outside of the application's directory.
//
// The planner and the scheduler call it. It fails with config.Errors for mistakes in the configuration,
// fs.ErrNotExist for a missing one, and *git.RepositoryError for a missing commit. Mistakes in secrets,
// attachments and the templates that use them are config.Errors as well.
package source
