// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package complete offers the values of arguments and flags to the completion of shells.
//
// Two tables say what is offered: arguments by command, flags by name. A flag that is in no table is completed by the
// placeholder of its usage, such as `FILE`, and otherwise not at all. What an environment knows is read from the
// running environment within a second; without one, nothing is offered. Nothing here reports an error: a shell would
// print it into the command line.
package complete
