// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package containers runs containers as process groups of this machine: one for each run of a container.
//
// A Host starts programs, notices their end, and keeps a record of each process group on disk while it may run, so that
// the next Host on the same directory ends what a killed one has left. Output goes to a bounded Log in the format of
// container runtimes. Nothing here knows the Kubernetes API: package localpods decides what runs.
//
// On Linux the kernel ends a container's first process together with the process of the Host. Programs that such a
// process has started are ended by the environment, which finds them by the process tree that they carry in their
// environment.
package containers
