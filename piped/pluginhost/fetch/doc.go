// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package fetch gets the binaries of plugins from other machines and checks that they are the wanted ones.
//
// It guarantees that a download has a bound in size, is given up when nothing comes any more, and is tried again
// after errors that pass; that what is kept is named by its content (SHA-256) and looked at again before each
// use; and that a file appears whole or not at all, so that several pipeds may share a directory. What was
// fetched once is used when its server does not answer, which the result says.
//
// piped/pluginhost calls it before it starts a plugin, and the plugin commands of pipedeck do. Errors are of type
// [Error]; they show no password and no query of a URL.
package fetch
