// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package pluginflag reads what users say about plugins on command lines: --plugin NAME=PATH, the configuration file
// next to a plugin, and the schemas of options that the programs of plugins print.
//
// Errors are *exit.Error with the next step.
package pluginflag
