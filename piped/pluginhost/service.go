// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"net"
	"os"
)

// Service is piped's side of the calls that plugins make. The host says who may call, and about what.
type Service interface {
	// Attach serves one plugin process over its private connection until that closes. It owns logs, from which it reads
	// what the process passes to stage logs. Finish is called once the process is gone, and returns when everything in
	// logs was reported.
	Attach(plugin string, conn net.Conn, logs *os.File) (finish func())
	// Expect says that a process of the plugin, which calls over loopback, runs until release is called.
	Expect(plugin string) (release func())
	// Hand says that the plugin gets a deployment to work on, and a stage of it unless that is empty.
	Hand(plugin, deploymentID, stageID string)
}
