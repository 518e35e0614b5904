// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package format holds the forms that commands print their results in, which the flag -o chooses: a table for users,
// one name a line for other commands, and a document for programs, as JSON or YAML.
//
// On a terminal a table fits its width and states have colours. Anywhere else it is whole and plain. The documents are
// those of package document.
package format
