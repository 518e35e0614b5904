// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"net"
	"os"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// Service is piped's side of the calls that plugins make. The host tells it who may call and about what.
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

// handOver tells the service which deployment a call gives to the plugin, before the plugin can ask.
func (p *Plugin) handOver(request any) {
	if p.options.Service == nil {
		return
	}
	switch request := request.(type) {
	case *deployment.ExecuteStageRequest:
		input := request.GetInput()
		p.options.Service.Hand(p.Name(), input.GetDeployment().GetId(), input.GetStage().GetId())
	case interface {
		GetInput() *deployment.PlanPluginInput
	}:
		p.options.Service.Hand(p.Name(), request.GetInput().GetDeployment().GetId(), "")
	}
}

// connect gives the service the plugin's connection, or the word that the plugin calls over loopback.
// Release is called when the process has ended.
func (p *Plugin) connect(proc *process) (release func()) {
	switch {
	case p.options.Service == nil:
		return func() {}
	case proc.link != nil:
		finish := p.options.Service.Attach(p.Name(), proc.link.called, proc.link.logs)
		proc.finishLogs.Store(&finish)
		return finish
	default:
		return p.options.Service.Expect(p.Name())
	}
}
