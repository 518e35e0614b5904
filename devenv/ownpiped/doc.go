// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package ownpiped reads the piped configuration of a user for an environment, and says what the environment takes
// over.
//
// It guarantees that each key of the file is taken over, or named in a warning with its place; that relative paths mean
// files next to the file; that mistakes come back together, as config.Errors, before anything is started; and that no
// message holds a secret. The commands up, ci and encrypt call it.
package ownpiped
