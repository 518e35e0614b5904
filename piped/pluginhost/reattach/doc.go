// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package reattach names plugin processes that their authors have started, and that piped uses in place of those that
// it starts: Target. The variable PIPEDECK_REATTACH of piped has some from its start. A file that
// PIPEDECK_REATTACH_FILE names has those that users attach and detach while piped runs. A plugin of our SDK announces
// where it waits in a private file of its user, so that its name is enough.
//
// Addresses are on loopback only. The plugin host, the development environment and the command line call this package.
// Its errors name the text that they are about, and what to give in its place.
package reattach
