// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package release writes the records by which `helm list`, `helm history` and `helm get` know a release: Secrets of the
// type helm.sh/release.v1 in the namespace of the release, in the form of Helm's own storage.
//
// They are written after a rollout has ended, are never applied, and have none of the labels of an application's
// objects: neither drift detection nor pruning sees them. A label says which application a record belongs to. Records
// of others, such as those of helm itself, are superseded and never deleted. The stages of the plugin call this
// package; an error of it is no reason to fail a rollout that has succeeded.
package release
