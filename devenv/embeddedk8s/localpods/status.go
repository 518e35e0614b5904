// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Status is how a pod fares.
type Status struct {
	Init, Containers []corev1.ContainerStatus
	// Initialized is set once the init containers have ended and the sidecars have started.
	Initialized bool
	// Failed is set when the pod has failed as a whole; Reason and Message may say why.
	Failed          bool
	Reason, Message string
	// Ended is set when nothing runs and nothing is started any more.
	Ended bool
	// Addresses is a JSON object from the ports of the pod to addresses of this machine; empty for none.
	Addresses string
	// Ports is set when a container does not listen on a port that it declares.
	Ports *Problem
	// Unready says why the containers that run are not ready, as far as their probes say so.
	Unready string
	// Memory names the means by which the limits of memory hold; empty when no container has one.
	Memory string
	// CPU names the means by which the limits of processors hold, always "none" here; empty when no container has one.
	CPU string
}

// Problem is what does not work in a pod that runs.
type Problem struct{ Reason, Message string }

// noLimit is the means by which a limit holds that does not.
const noLimit = "none"

func (p *pod) describe() Status {
	status := Status{Initialized: p.ready, Ended: p.over, Addresses: p.places.addresses()}
	if p.ending != nil {
		status.Failed, status.Reason, status.Message = p.ending.failed, p.ending.reason, p.ending.message
	}
	for _, c := range p.all {
		if reason := c.run.whyUnready(); reason != "" {
			reason = fmt.Sprintf("%s: %.*s", c.spec.Name, maxReason, reason)
			status.Unready = strings.TrimPrefix(status.Unready+"; "+reason, "; ")
		}
		if trouble := c.run.trouble(); trouble != nil && (status.Ports == nil || trouble.taken) {
			status.Ports = &Problem{trouble.reason(), trouble.text}
		}
		if !c.spec.Resources.Limits.Memory().IsZero() {
			status.Memory = p.manager.groups.How()
		}
		if !c.spec.Resources.Limits.Cpu().IsZero() {
			status.CPU = noLimit
		}
		if c.init {
			status.Init = append(status.Init, c.describe())
		} else {
			status.Containers = append(status.Containers, c.describe())
		}
	}
	return status
}

// leastMemory is what a process needs to begin, about. It may get that before its control group counts.
const leastMemory = 8 << 20

// maxReason bounds what is shown of the problem that a probe has found.
const maxReason = 500

// whyUnready says why a run is not ready; empty when that is not known, and for no run.
func (r *run) whyUnready() string {
	switch {
	case r == nil, r.ready:
	case !r.started && r.startup != nil:
		return r.startup.failure("Startup")
	case r.readiness != nil:
		return r.readiness.failure("Readiness")
	case r.listening != nil:
		return r.listening.trouble()
	}
	return ""
}

// warnOfLimits records an Event for limits that do not hold on this machine.
func warnOfLimits(p *pod) {
	status := p.describe()
	for name, means := range map[string]string{"processors": status.CPU, "memory": status.Memory} {
		if means == noLimit {
			p.event(corev1.EventTypeWarning, "LimitNotEnforced", "limits of "+name+" do not bound processes of this "+
				"machine: the containers use what they get")
		}
	}
	for _, c := range p.all {
		if limit := c.spec.Resources.Limits.Memory(); !limit.IsZero() && limit.Value() < leastMemory {
			p.event(corev1.EventTypeWarning, "LimitNotEnforced", fmt.Sprintf("container %s: a limit of memory of %s "+
				"is less than a process needs to begin; what it has by then may not count", c.spec.Name, limit))
		}
	}
}
