// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package configsource reads the configuration of piped from where the command line says it is: a file, the
// command line itself, or a secret of Google Cloud or AWS.
//
// Load reads once and keeps nothing. Secrets are asked for with the credentials that the clouds' own tools
// would take, over HTTPS, a few times when the cloud does not answer. Errors name the source and the next
// step, and hold nothing of what was read.
package configsource
