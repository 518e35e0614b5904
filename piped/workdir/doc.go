// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package workdir makes sure that the work directory of piped is piped's own: it was empty or created by piped, and
// belongs to the user who runs piped. piped, and what prepares plugins for it, claim the directory before anything else
// is written or removed there.
package workdir
