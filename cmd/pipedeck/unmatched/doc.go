// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package unmatched says which stages of an environment exist, for warnings of faults and breakpoints for stages that
// do not: they may come, or the name is misspelt. The commands fault, break, up and ci call it with the state of an
// environment. It guarantees no more than that state has: an environment that still plans its deployments has stages
// that are not known yet, see Settled.
package unmatched
