// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"fmt"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/piped/metrics"
	"github.com/pipedeck/pipedeck/piped/notifier"
	"github.com/pipedeck/pipedeck/piped/observe"
)

// observation informs others of what piped does: notifications, metrics, and the observer for both.
type observation struct {
	piped    *config.Piped
	version  string
	notifier *notifier.Notifier
	metrics  *metrics.Metrics
	observer *observe.Observer
}

func (a *Agent) newObservation() (*observation, error) {
	c := a.options.Config
	o := &observation{piped: c, version: a.options.Version}
	var err error
	o.notifier, err = notifier.New(notifier.Options{
		Notifications: c.Notifications, WebAddress: o.webAddress, Logger: a.logger,
	})
	if err != nil {
		return nil, err
	}
	o.metrics = metrics.New(metrics.Options{
		PipedID: c.PipedID, ProjectID: c.ProjectID, Version: a.options.Version,
		LauncherVersion: a.options.LauncherVersion, Off: a.options.NoMetrics,
		Plugins: a.pluginStatus, Notifications: o.notifier.Stats,
		Spool: a.upstream.spool.Stats, Connected: a.readiness.connected, Spans: a.upstream.tracer.Exported,
		Healthy: a.readiness.ok, Degraded: a.problems.degraded, Logger: a.logger,
	})
	o.observer = observe.New(nil, o.notifier.Notify, o.metrics.Observe)
	return o, nil
}

// pluginStatus is the status of the plugins now.
func (a *Agent) pluginStatus() []*agentv1.Plugin { return a.plugins.Status() }

// problems names the receivers of notifications that did not take the last one.
func (o *observation) problems() (problems []health.Problem) {
	for _, receiver := range o.notifier.Stats() {
		if receiver.Failure != nil {
			problems = append(problems, health.Problem{
				Part:   "notifications " + receiver.Receiver,
				Reason: fmt.Sprintf("cannot send notifications to %s: %v", receiver.Receiver, receiver.Failure),
				NextStep: "make the receiver reachable, or correct it in spec.notifications of the piped " +
					"configuration; the problem ends with the next notification that is sent",
			})
		}
	}
	return problems
}

func (o *observation) webAddress() string {
	given, _ := o.observer.Introduction()
	return cmp.Or(o.piped.WebAddress, given)
}

// notify sends the event that piped itself has started or stopped.
func (o *observation) notify(t observe.Type) {
	_, name := o.observer.Introduction()
	c := o.piped
	o.observer.Notify(observe.Event{Type: t, Piped: &observe.Identity{
		ID: c.PipedID, Name: cmp.Or(name, c.Name, c.PipedID), Version: o.version, ProjectID: c.ProjectID,
	}})
}

// notifyBroken sends the event that an application is not deployed because its configuration cannot be used.
func (o *observation) notifyBroken(application *model.Application, commit *model.Commit, reason string) {
	o.observer.Notify(observe.Event{
		Type: observe.DeploymentTriggerFailed, Application: application, Reason: reason,
		Deployment: &model.Deployment{
			ApplicationId: application.GetId(), ApplicationName: application.GetName(), Labels: application.GetLabels(),
			ProjectId: application.GetProjectId(), PipedId: application.GetPipedId(), GitPath: application.GetGitPath(),
			Trigger: &model.DeploymentTrigger{Commit: commit},
		},
	})
}
