// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package preview reports what a commit would change in a cluster, by asking the cluster: every manifest is applied as
// a dry run and compared with what is there, and what would be pruned is looked for.
//
// Nothing is changed, neither in the cluster nor in the sources. Values of Secrets are never shown, only whether they
// differ. When the cluster cannot be reached the two commits are compared instead, and the answer says so.
//
// The plugin answers plan previews with it. It fails with the words of package apply when the API would refuse a
// manifest: a deployment of the commit would fail, too.
package preview
