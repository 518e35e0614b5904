// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package child

// mappedReserve is how much more than the limit a process may have mapped, in bytes: what its runtime keeps and does
// not use.
const mappedReserve = 256 << 20
