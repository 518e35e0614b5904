// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package configuration holds the commands for authors of configuration files: init, validate, migrate and encrypt.
package configuration
