// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package child

// limitData does nothing: this system knows no such limit.
func limitData(uint64) {}
