// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package breakpoint says where deployments stop until a user goes on, for authors of plugins and pipelines.
//
// A breakpoint is written as
//
//	before [APP/]STAGE     before the plugin gets the stage
//	after [APP/]STAGE      after the plugin has answered, unless the stage has failed
//	failure [[APP/]STAGE]  after the stage has failed
//
// STAGE is the type of a stage, the id that its author gave it, or * for all; APP is the name of an application.
//
// cmd/pipedeck parses what users write and gives it to the control plane, which owns the breakpoints of an environment
// and sends them to pipeds; cmd/piped reads others from the environment variable PIPED_BREAKPOINTS, one a line. The
// scheduler asks a Set, which has both. A Set stops nothing at a control plane that has no way to go on.
package breakpoint
