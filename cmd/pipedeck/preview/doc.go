// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package preview asks the pipeds of an environment what a commit would deploy, and prints their answer: the command
// plan-preview for all applications, and for one application what pipedeck diff --commit shows.
package preview
