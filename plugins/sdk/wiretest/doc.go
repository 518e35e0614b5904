// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package wiretest is sdktest with the messages of the protocol: for tests of the protocol itself, such as those that
// replay what PipeCD's processes have sent each other. Authors of plugins use package sdktest, whose stability this
// package does not have. Only tests import it.
package wiretest
