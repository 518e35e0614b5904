// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command chaos ends parts of a running environment at bad moments and checks what the environment promises:
// no deployment, approval or log line is lost, no step runs twice, nothing stays behind, nothing is stuck, and
// no part crashes by itself.
//
//	PIPEDECK_BIN=bin go run ./e2e/chaos                     everything, at least 80 kills
//	PIPEDECK_BIN=bin go run ./e2e/chaos -short              the form of CI: 24 kills, no planted faults, a few minutes
//	PIPEDECK_BIN=bin go run ./e2e/chaos -seed 7 -only kills the same order of the same kills again
//
// Its parts are
//
//	kills   {host, UI, piped, each plugin, cluster, pod} × {idle, planning, stage, approval, rollout, rollback}
//	disk    the disk of the environment is filled, and freed again (Linux, as root)
//	power   the environment starts from what its disk holds at a random moment (Linux, as root)
//	flips   random bits of the history are flipped, and its end is cut off
//	inputs  bad command lines and configurations, with the exit code and the message that each must get
//	faults  chaos proves itself: it builds programs with a planted fault each, and must find the fault
//
// Scripts of the deployments run `chaos beat`, which holds a lock of its application for as long as any process
// of the script lives, and writes its begin and its end to a ledger. The lock shows two at once, the ledger
// shows a finished step that runs again.
//
// The command ends with 1 when a promise was broken, and prints each broken promise with the cell in which it was seen.
package main
