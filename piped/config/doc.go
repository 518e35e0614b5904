// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package config reads the piped configuration and the application configuration of PipeCD v1.
//
// It guarantees that every mistake in a file is reported at once, each with file, line and column, the
// value found and what is allowed; that keys no one reads come back as warnings instead of vanishing,
// those of PipeCD v0 by name; and that the parts of plugins are kept as JSON, which package options
// checks against the plugins' schemas. YAML 1.2 rules hold, so the keys n and y stay text. Input is
// bounded by MaxSize and by the number of values that aliases expand to.
//
// The agent, the plugin SDK and the development environment call it; it does no network access.
package config
