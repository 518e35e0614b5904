// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package none is the cluster provider for environments without a cluster: applications whose
// plugins need none. It is ready at once, leaves nothing behind and never fails.
package none
