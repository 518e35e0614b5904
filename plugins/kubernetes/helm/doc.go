// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package helm renders Helm charts into the texts of manifests, as `helm template --include-crds` does, without a
// helm program and without a cluster.
//
// A chart is a folder or an archive in the checkout, or it comes from an HTTP repository or an OCI registry. Files of
// the checkout are read through package checkout, so nothing outside of it is. A download has bounds in bytes and time.
// Only a chart of an exact version is kept on disk and used again without asking where it came from.
//
// The loader of manifests calls it. Errors name the template with its line, and hold no password.
//
// Templates are programs that a repository brings along. Children runs them in processes of this program's own, which
// have limits of memory, output and time; main of such a program calls ServeIfChild.
package helm
