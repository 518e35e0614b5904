// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package program fetches OpenTofu or Terraform. A program is used when the SHA-256 of what was downloaded is the one
// of the configuration; it is kept by that sum, so that it is downloaded once, and appears whole or not at all. Errors
// show no password and no query of a URL. Sessions of the plugin call it when no installed program has the version that
// an application wants.
package program
