// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package reference writes the reference of all commands, those of pipedeck-more among them: a page and manual pages.
//
// No program imports it: the generator does, which make generate, make man and releases run. What it writes depends on
// the commands alone, not on the machine or its user.
package reference
