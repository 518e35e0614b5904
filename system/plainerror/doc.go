// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package plainerror removes from the texts of errors what gRPC and Go's libraries write for programmers, so that users
// read what failed.
package plainerror
