// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package more stands in pipedeck for the commands of the program pipedeck-more, which lies next to it.
//
// These commands need code that no environment needs: the conformance tests of plugins, registries, signatures, the
// migration. On the first start pipedeck is compiled without them, so that its UI appears earlier. A user does not see
// the difference: help and completion list the commands, and pipedeck becomes pipedeck-more to run one.
package more
