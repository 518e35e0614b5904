// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package fieldpath reads the paths of values in files, such as $.spec.containers[0].image, that event watchers change.
//
// The check of configurations and the event watcher use it, so that the first refuses what the second cannot follow.
package fieldpath
