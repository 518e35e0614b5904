// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package discovery finds what a repository could deploy (plain manifests, kustomizations and Helm charts) and writes
// application configurations for it. WarnOutside looks at a configuration that is there: for inputs outside of its
// directory whose commits would deploy nothing.
//
// It reads the files of the work tree that Git does not ignore, and changes none. Symbolic links are followed to files
// inside of the repository only. Files, folders and bytes that it reads are bounded. It runs no program, and renders
// neither charts nor kustomizations: a deployment may still show what only rendering does.
package discovery
