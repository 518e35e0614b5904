// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package config holds what users write for the plugin analysis: the providers in the piped configuration, the options
// of the stage ANALYSIS, the templates in the folder .pipe, and the variables of queries.
//
// Names and defaults are those of PipeCD v1, except where a comment says that PipeCD does not read a key. It refuses
// what can never be evaluated and what can never be significant. Errors are mistakes of users and name the key.
package config
