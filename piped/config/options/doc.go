// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package options checks what plugins own in configuration files against the JSON Schemas that the plugins ship, and
// what no single file shows: stages and plugins that no piped has.
//
// It guarantees that each mistake has file, line and column, the value found and what is allowed, and that a plugin
// whose schema is not known may have any options and any stages. A schema comes from a program that may be anyone's: it
// is bounded, it cannot refer to other documents, and one that is wrong is an error of [Parse], never a panic.
//
// pipedeck validate, ci and up refuse what it finds; piped itself logs it and deploys as PipeCD does.
package options
