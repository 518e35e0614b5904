// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package containers runs containers as process groups of this machine: one for each run of a container.
//
// A Host starts programs, notices their end, and keeps a record of each process group on disk while it may run, so that
// the next Host on the same directory ends what a killed one has left. Output goes to a bounded Log in the format of
// container runtimes. Nothing here knows the Kubernetes API: package localpods decides what runs.
//
// On Linux the kernel ends a container's first process together with the process of the Host. What such a process has
// started is in a control group of its run, where this user may create one: there it stays whatever it does, so that
// it ends with the run, or after a kill with the next Groups on the same directory or with the environment. Elsewhere
// it is found by the mark of the run in its environment, and by its process group; what has left that and cleared its
// environment is lost.
package containers
