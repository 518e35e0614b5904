// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package sdk is the Go kit for authors of PipeCD v1 plugins.
//
// An author writes a type with the methods of [StagePlugin] (stages only) or [DeploymentPlugin] (stages
// that act on deploy targets), and a main of one line:
//
//	func main() { sdk.Main(sdk.ForStages(&myPlugin{})) }
//
// Live state and plan preview are served when the type has the methods of [LivestatePlugin] or
// [PlanPreviewPlugin] as well; [Starter] and io.Closer bracket the life of the process.
//
// All exported names have types of this package: no message of the protocol and no type of a library. README.md says
// which names are stable, and CHANGELOG.md what has changed. Package sdktest has what tests of plugins need.
//
// The package guarantees that a panic in a stage fails that stage and nothing else, that log lines reach
// piped as soon as it takes them, in order and once, that the end of a stage waits for one last log call
// and for no clock, and that the process ends with its agent. It speaks PipeCD v1's plugin protocol, so a
// plugin runs under any PipeCD v1 piped.
//
// A method with the name of an optional one, such as Start, and another signature ends the process at its start.
// Mistakes in the plugin's configuration end the process with a message on stderr and exit code 1;
// mistakes in an application fail the call that meets them, and the stage log says why.
package sdk
