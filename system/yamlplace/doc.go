// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package yamlplace says in which line a text is not YAML.
//
// The parser of go.yaml.in/yaml counts lines from 0 in errors about the structure of a text, and names the line in
// which the surrounding map or list begins, if that is not the first: users are sent to a line before the mistake.
// Readers of files that users write ask this package for the line. It parses the text again, within a bound.
package yamlplace
