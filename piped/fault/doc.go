// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package fault has faults happen on purpose while deployments run, for authors who want to see what their plugin and
// pipeline do then.
//
// A rule is
//
//	TARGET: [COUNT*]ACTION[; [COUNT*]ACTION…]
//
// TARGET is the type of a stage, the id that its author gave it, control-plane, or [STAGE/]cluster[/VERB [KIND [NAME]]]
// for the calls of stages to the API of a cluster. The actions:
//
//	kill[@log N | @call N]  ends the plugin's process as SIGKILL does, at the plugin's Nth line of the stage's log, or
//	                        its Nth call about the stage; alone, at its first call
//	delay TIME              passes the stage to the plugin after that time
//	unavailable [N]         fails the first N calls of the plugin about the stage with UNAVAILABLE; 1 without N
//	hang                    does not pass the stage to the plugin until it is cancelled or out of time
//	status STATUS           replaces the answer of the plugin: success, failure, skipped or exited
//	flood N                 writes N lines to the log of the stage before it is passed to the plugin
//
// For control-plane there are delay and unavailable, which concern the reports about deployments and stages. For
// cluster there are delay, hang, unavailable, forbidden and conflict. piped passes those to the plugin with the stage
// (deployment.ClusterFaults), and the plugin answers which have happened.
//
// An action happens in as many attempts as COUNT says, 1 without one; nothing is random. One that an attempt ends
// before, such as kill@log 9 of a stage with five lines, waits for the next attempt. A restart of piped begins to count
// again. What is injected says so in the log of the stage and in its reason.
//
// cmd/pipedeck checks rules before it starts anything; cmd/piped reads them from the environment variable PIPED_FAULTS,
// one a line, and users add and remove some while piped runs. The scheduler, the plugin service and the client of the
// control plane ask a Set. A nil Set has no faults.
//
// Package failpoint is another mechanism, on purpose. Its terms are for tests of this repository: they stop or kill
// piped itself at a place in its code, so they name places that change with the code, wait for a test through a named
// pipe, and count hits of a place. Rules here are a contract with users: they name what users know, end plugins and
// never piped, count attempts, and are shown. One grammar for both would let users name places in the code.
package fault
