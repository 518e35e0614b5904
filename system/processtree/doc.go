// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package processtree starts programs so that everything that descends from them can be ended later, also by another
// process after the first one was killed.
//
// A member of a tree is a process that carries the tree's random token in its environment, that is in the tree's
// control group, that descends from a member, or that is in the process group of a member or in one that was recorded.
// A member therefore stays one when it starts its own session, when its parents end (double fork) and when it ignores
// signals. Processes are identified by number and start time, and are signalled through a descriptor of the process
// where the system has them, so that no other process is ended when a number is used again.
//
// Limits: where no control group can be created, a process is lost that has left its parents and has also cleared or
// overwritten its environment. Processes of other users (sudo) and processes that another program starts on request
// (a container engine, systemd) are not members. macOS has no control groups, and it hides the environment of its
// programs, such as /bin/sh; there a process is a member while its parents or its process group show it.
//
// The callers are the plugin host, the plugin service, the plugin scriptrun and the development environment.
package processtree
