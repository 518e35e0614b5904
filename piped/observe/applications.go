// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// applications are those that the control plane lists, with the states that were reported last. The zero value
// is ready.
type applications struct {
	byID map[string]*application
}

type application struct {
	*model.Application
	// sync is the last of SYNCED and OUT_OF_SYNC, health the last of HEALTHY and UNHEALTHY; unknown when
	// there was none. What comes in between (a deployment, say) is not reported.
	sync   model.ApplicationSyncStatus
	health model.ApplicationLiveStateSnapshot_Status
	// failed is the commit for which no deployment could be created; the trigger tries more than once.
	failed string
}

// replace takes a new list, keeping what is known of those that stay.
func (a *applications) replace(list []*model.Application) {
	fresh := make(map[string]*application, len(list))
	for _, listed := range list {
		next := &application{Application: proto.CloneOf(listed)}
		if known := a.byID[listed.GetId()]; known != nil {
			next.sync, next.health, next.failed = known.sync, known.health, known.failed
		} else if settled(listed.GetSyncState().GetStatus()) {
			next.sync = listed.GetSyncState().GetStatus()
		}
		fresh[listed.GetId()] = next
	}
	a.byID = fresh
}

// get returns a copy of the application, with no more than the given if it is not listed.
func (a *applications) get(id, name string) *model.Application {
	if known := a.byID[id]; known != nil {
		return proto.CloneOf(known.Application)
	}
	return &model.Application{Id: id, Name: name}
}

// failedBefore notes that a deployment could not be created, and reports whether that was noted already.
func (a *applications) failedBefore(d *model.Deployment) bool {
	known, commit := a.byID[d.GetApplicationId()], d.GetTrigger().GetCommit().GetHash()
	if known == nil {
		return false
	}
	before := known.failed == commit
	known.failed = commit
	return before
}

func settled(status model.ApplicationSyncStatus) bool {
	return status == model.ApplicationSyncStatus_SYNCED || status == model.ApplicationSyncStatus_OUT_OF_SYNC
}

// syncState takes a report in. It stands for ApplicationOutOfSync, or for ApplicationSynced after that.
func (a *applications) syncState(r *ps.ReportApplicationSyncStateRequest) []Event {
	known, status := a.byID[r.GetApplicationId()], r.GetState().GetStatus()
	if known == nil || !settled(status) || known.sync == status {
		return nil
	}
	before := known.sync
	known.sync, known.SyncState = status, proto.CloneOf(r.GetState())
	e := Event{
		Application: proto.CloneOf(known.Application), SyncState: proto.CloneOf(r.GetState()),
		Reason: r.GetState().GetShortReason(),
	}
	switch {
	case status == model.ApplicationSyncStatus_OUT_OF_SYNC:
		e.Type = ApplicationOutOfSync
	case before == model.ApplicationSyncStatus_OUT_OF_SYNC:
		e.Type = ApplicationSynced
	default:
		return nil
	}
	return []Event{e}
}

// liveState takes a report in. It stands for ApplicationUnhealthy, or for ApplicationHealthy after that.
func (a *applications) liveState(r *ps.ReportApplicationLiveStateRequest) []Event {
	known, health := a.byID[r.GetSnapshot().GetApplicationId()], r.GetSnapshot().GetHealthStatus()
	if known == nil || known.health == health {
		return nil
	}
	before := known.health
	switch health {
	case model.ApplicationLiveStateSnapshot_UNHEALTHY:
		known.health = health
		return []Event{{Type: ApplicationUnhealthy, Application: proto.CloneOf(known.Application),
			Reason: unhealthy(r.GetSnapshot().GetApplicationLiveState().GetResources())}}
	case model.ApplicationLiveStateSnapshot_HEALTHY:
		known.health = health
		if before == model.ApplicationLiveStateSnapshot_UNHEALTHY {
			return []Event{{Type: ApplicationHealthy, Application: proto.CloneOf(known.Application)}}
		}
	}
	return nil
}

// sentence says how a resource is: "Pod default/web: container main: ImagePullBackOff", "ConfigMap default/web is …".
func sentence(r *model.ResourceState) string {
	name := r.GetName()
	if namespace := r.GetResourceMetadata()["Namespace"]; namespace != "" {
		name = namespace + "/" + name
	}
	says, between := cmp.Or(r.GetHealthDescription(), "is unhealthy"), ": "
	if strings.HasPrefix(says, "is ") {
		between = " "
	}
	return r.GetResourceType() + " " + name + between + says
}

// maxUnhealthy bounds what is said of one resource, in bytes.
const maxUnhealthy = 300

// unhealthy names the last resource that does not work, and counts the others. Plugins report what controllers made
// after what it was made of, so that the last one is nearest to the cause.
func unhealthy(resources []*model.ResourceState) string {
	reason, others := "", -1
	for _, r := range resources {
		if r.GetHealthStatus() != model.ResourceState_UNHEALTHY {
			continue
		}
		if others++; r.GetHealthDescription() != "" || reason == "" {
			reason = sentence(r)
		}
	}
	if len(reason) > maxUnhealthy {
		reason = strings.ToValidUTF8(reason[:maxUnhealthy], "") + "…"
	}
	if others > 0 {
		reason += fmt.Sprintf(" (and %d more)", others)
	}
	return reason
}
