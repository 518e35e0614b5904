// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package revision finds the commit that a user names in a repository on this machine, as git does.
// `pipedeck ci --from` uses it in checkouts of CI providers, which often hold one commit and one branch.
//
// A revision that is not there is a *MissingError, with the command that fetches it. The repository is only read,
// except that git itself may fetch an object of a partial clone. It runs the git program.
package revision
