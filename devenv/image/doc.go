// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package image builds container images from the Go programs of a repository, without a container
// engine, and brings them to clusters.
//
// A reference pipedeck.dev/<path>[:tag] stands for the main package in folder <path> of the
// repository, if there is Go code; every other reference is left alone. What is deployed is
// pipedeck.dev/<path>:<digest>, where the digest covers all that goes into the program: the same
// sources give the same reference on every machine, other sources another one.
//
// Sources are read below the repository only, symbolic links included. Archives are reproducible:
// the same sources, Go version and platform give the same bytes. They are kept in a bounded cache
// that processes share. Errors: *CompileError holds the compiler's words, ErrNoGo says that nothing
// can be built here.
//
// `pipedeck up` serves it to plugins on the control plane's port.
package image
