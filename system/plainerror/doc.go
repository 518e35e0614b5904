// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package plainerror removes from the texts of errors what gRPC adds for programs, so that users read what failed.
package plainerror
