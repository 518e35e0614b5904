// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package lookup lets charts see a cluster: what it can do, and the objects that their templates look up.
//
// A View is one look, with the credentials of a deploy target. It only reads: a template that renders in another
// process asks the plugin, which asks the API and never passes the credentials on. Answers have bounds in bytes and
// time. What the credentials may not read, and kinds that the cluster does not know, are the empty answer of Helm; the
// notes of the View say so. Where the output is shown to others than those who deploy, a View hides the values of
// Secrets.
//
// Reads are what a View was asked for. They say whether that is as it was, so that a rendering stays valid until then.
// The loader of manifests creates a View for each loading.
package lookup
