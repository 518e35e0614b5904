// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package planpreview answers commands that ask what merging a commit into a watched branch would deploy.
//
// The merge is made in the mirror of the repository; nothing is checked out or changed anywhere else. Which
// applications it concerns is the trigger's decision, the strategy the planner's, and what would change the
// plugins'. The answer has the form of PipeCD v1, so that pipectl and programs that read its output understand it.
//
// It guarantees that every command is answered or given up by the control plane; that a command's work ends with
// its timeout, and when the control plane lists it no more; that no more work is done at a time, and no more of it
// waits, than the configuration says; and that no secret is in an answer.
//
// The agent feeds it. Mistakes in one application are reported in its result, those that concern the whole in the
// result of the command.
package planpreview
