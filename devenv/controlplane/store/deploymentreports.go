// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// ReportPlanned stores a plan. PENDING deployments become PLANNED; a repeated report replaces the
// plan; anything later is refused, because stages that run must not vanish.
func (d *Deployments) ReportPlanned(pipedID string, r *pipedservice.ReportDeploymentPlannedRequest) error {
	return d.change(pipedID, r.GetDeploymentId(), func(planned *deployment) error {
		m := planned.model
		if m.GetStatus() > model.DeploymentStatus_DEPLOYMENT_PLANNED {
			return precondition("deployment %s is %s already and cannot be planned again", m.GetId(), m.GetStatus())
		}
		if err := d.ledger.limits.room(m, proto.Size(r)); err != nil {
			return err
		}
		r = proto.CloneOf(r)
		m.Status = model.DeploymentStatus_DEPLOYMENT_PLANNED
		m.Summary, m.StatusReason = r.GetSummary(), d.ledger.reason(r.GetStatusReason())
		if m.Trigger == nil { // as a restored deployment may be
			m.Trigger = &model.DeploymentTrigger{}
		}
		m.Trigger.SyncStrategy = r.GetSyncStrategy()
		m.RunningCommitHash, m.RunningConfigFilename = r.GetRunningCommitHash(), r.GetRunningConfigFilename()
		m.Versions, m.Stages = r.GetVersions(), r.GetStages()
		if len(m.GetDeployTargetsByPlugin()) == 0 {
			backfillOperations(m.GetStages())
		}
		return nil
	})
}

// ReportStatus stores RUNNING or ROLLING_BACK. A deployment never goes back.
func (d *Deployments) ReportStatus(pipedID, id string, status model.DeploymentStatus, reason string) error {
	return d.change(pipedID, id, func(running *deployment) error {
		if running.model.GetStatus() > status {
			return precondition("deployment %s is %s already and cannot become %s", id, running.model.GetStatus(),
				status)
		}
		running.model.Status, running.model.StatusReason = status, d.ledger.reason(reason)
		return nil
	})
}

// ReportCompleted ends a deployment. A completed deployment stays as it is: the same report once
// more is accepted, another one is refused.
func (d *Deployments) ReportCompleted(pipedID string, r *pipedservice.ReportDeploymentCompletedRequest) error {
	if !completed(r.GetStatus()) {
		return invalid("invalid request: a deployment cannot complete as %s", r.GetStatus())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ended, err := d.index.findOwned(pipedID, r.GetDeploymentId())
	if err != nil {
		return err
	}
	if old := ended.model.GetStatus(); old == r.GetStatus() {
		return nil
	} else if completed(old) {
		return precondition("deployment %s has ended as %s already", r.GetDeploymentId(), old)
	}
	m, now := ended.model, d.ledger.now()
	reason := d.chains.noted(r.GetStatusReason(), m)
	m.Status, m.StatusReason, m.CompletedAt = r.GetStatus(), d.ledger.reason(reason), r.GetCompletedAt()
	for _, stage := range m.GetStages() {
		status, ok := r.GetStageStatuses()[stage.GetId()]
		if !ok || status == stage.GetStatus() {
			continue
		}
		stage.Status = status
		ended.stampStage(stage, now)
		ended.noteRun(stage, nil, now)
	}
	ended.completed = now
	d.changed(ended)
	d.complete(ended)
	return nil
}

// change applies a report to a deployment that has not ended, and publishes it.
func (d *Deployments) change(pipedID, id string, change func(*deployment) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, err := d.index.findOwned(pipedID, id)
	if err != nil {
		return err
	}
	if completed(found.model.GetStatus()) {
		return precondition("deployment %s has ended as %s already", id, found.model.GetStatus())
	}
	if err := change(found); err != nil {
		return err
	}
	d.changed(found)
	return nil
}

// MergeSharedMetadata adds to the notes that every plugin can read; new values win.
func (d *Deployments) MergeSharedMetadata(pipedID, id string, metadata map[string]string) error {
	return d.merge(pipedID, id, func(m *model.Deployment) error {
		merged, err := d.merged(m, m.GetMetadataV2().GetShared().GetKeyValues(), metadata)
		if err == nil {
			notesOf(m).Shared = &model.DeploymentMetadata_KeyValues{KeyValues: merged}
		}
		return err
	})
}

// MergePluginMetadata adds to the notes of one plugin; new values win.
func (d *Deployments) MergePluginMetadata(pipedID, id, plugin string, metadata map[string]string) error {
	return d.merge(pipedID, id, func(m *model.Deployment) error {
		merged, err := d.merged(m, m.GetMetadataV2().GetPlugins()[plugin].GetKeyValues(), metadata)
		if err != nil {
			return err
		}
		notes := notesOf(m)
		if notes.Plugins == nil {
			notes.Plugins = map[string]*model.DeploymentMetadata_KeyValues{}
		}
		notes.Plugins[plugin] = &model.DeploymentMetadata_KeyValues{KeyValues: merged}
		return nil
	})
}

// MergeMetadata adds to the notes of PipeCD v0; new values win.
func (d *Deployments) MergeMetadata(pipedID, id string, metadata map[string]string) error {
	return d.merge(pipedID, id, func(m *model.Deployment) error {
		merged, err := d.merged(m, m.GetMetadata(), metadata)
		if err == nil {
			m.Metadata = merged
		}
		return err
	})
}

func notesOf(m *model.Deployment) *model.DeploymentMetadata {
	if m.MetadataV2 == nil {
		m.MetadataV2 = &model.DeploymentMetadata{}
	}
	return m.GetMetadataV2()
}

// merge changes notes of a deployment. Watchers do not see them.
func (d *Deployments) merge(pipedID, id string, change func(*model.Deployment) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, err := d.index.findOwned(pipedID, id)
	if err != nil {
		return err
	}
	if err := change(found.model); err != nil {
		return err
	}
	found.model.UpdatedAt = d.ledger.now().Unix()
	d.ledger.keep(found.record)
	return nil
}

// merged returns old notes with the added ones when the deployment has room for them.
func (d *Deployments) merged(m *model.Deployment, old, added map[string]string) (map[string]string, error) {
	if err := d.ledger.limits.room(m, growth(old, added)); err != nil {
		return nil, err
	}
	all := maps.Clone(old)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, added)
	return all, nil
}
