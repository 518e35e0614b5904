// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package caches lists and removes what pipedeck has put on the disk of this machine and can create again: compiled
// programs, images, charts, and what pipeds have fetched.
//
// It removes only what has the names that pipedeck gives, below directories of the calling user, and never follows a
// link. What a live environment uses stays, and so does what another process has locked. The records of environments
// (histories, keys, sample repositories, unsent reports) are no caches: `pipedeck down` removes them.
package caches
