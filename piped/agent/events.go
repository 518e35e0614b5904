// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/metrics"
	"github.com/pipedeck/pipedeck/piped/notifier"
	"github.com/pipedeck/pipedeck/piped/observe"
)

// observe creates the parts that inform others of what is reported: notifications, metrics, and the observer for both.
func (a *Agent) observe() (err error) {
	a.notifier, err = notifier.New(notifier.Options{
		Notifications: a.options.Config.Notifications, WebAddress: a.webAddress, Logger: a.logger,
	})
	if err != nil {
		return err
	}
	c := a.options.Config
	a.metrics = metrics.New(metrics.Options{
		PipedID: c.PipedID, ProjectID: c.ProjectID, Version: a.options.Version,
		LauncherVersion: a.options.LauncherVersion, Off: a.options.NoMetrics,
		Plugins: func() []*agentv1.Plugin { return a.plugins.Status() }, Notifications: a.notifier.Stats,
		Spool: a.spool.Stats, Connected: func() bool { return a.health().Components.ControlPlane.Connected },
		Spans:   a.tracer.Exported,
		Healthy: func() bool { return a.health().Status == "ok" }, Logger: a.logger,
		Degraded: a.degraded,
	})
	a.observer = observe.New(nil, a.notifier.Notify, a.metrics.Observe)
	return nil
}

func (a *Agent) webAddress() string {
	given, _ := a.observer.Introduction()
	return cmp.Or(a.options.Config.WebAddress, given)
}

// notify sends the event that piped itself has started or stopped.
func (a *Agent) notify(t observe.Type) {
	_, name := a.observer.Introduction()
	c := a.options.Config
	a.observer.Notify(observe.Event{Type: t, Piped: &observe.Identity{
		ID: c.PipedID, Name: cmp.Or(name, c.Name, c.PipedID), Version: a.options.Version, ProjectID: c.ProjectID,
	}})
}

// notifyBroken sends the event that an application is not deployed because its configuration cannot be used.
func (a *Agent) notifyBroken(application *model.Application, commit *model.Commit, reason string) {
	a.observer.Notify(observe.Event{
		Type: observe.DeploymentTriggerFailed, Application: application, Reason: reason,
		Deployment: &model.Deployment{
			ApplicationId: application.GetId(), ApplicationName: application.GetName(), Labels: application.GetLabels(),
			ProjectId: application.GetProjectId(), PipedId: application.GetPipedId(), GitPath: application.GetGitPath(),
			Trigger: &model.DeploymentTrigger{Commit: commit},
		},
	})
}
