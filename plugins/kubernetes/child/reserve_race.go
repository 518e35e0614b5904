// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package child

// mappedReserve has room for what the race detector maps next to all memory.
const mappedReserve = 8 << 30
