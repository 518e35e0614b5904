// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package scaffold is `pipedeck plugin new`: it writes the sources of a new plugin that works.
//
// It guarantees that the plugin is built and tested with nothing but the Go toolchain: the sources of the SDK, and what
// they need, come from this program. No written file names a place of this machine, except with --sdk. Nothing is
// overwritten, and nothing is written when a flag is wrong.
//
// Package root adds the command to pipedeck. The program pipedeck-more has it for its help alone, without the archive.
package scaffold
