// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package stage runs the plugin's stages: it loads the manifests of a commit, makes the variant that the stage is
// about, applies it, waits until it is ready and removes what is not wanted any more, writing each step to the stage's
// log.
//
// Every stage may be run again after it was interrupted: applying and deleting twice changes nothing. An error is the
// reason why the stage failed, in words for the user.
package stage
