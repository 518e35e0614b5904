// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// Deployment is a deployment with the times at which its reports arrived, finer than the seconds
// of the model. Shared: do not change.
type Deployment struct {
	Model *model.Deployment
	// Completed is zero while it runs.
	Created, Completed time.Time
	// Times of stages by id; a stage that did not start has none.
	Stages map[string]StageTimes
	// EventCommit is the commit whose event led to the deployment's commit; nil for none.
	EventCommit *model.Commit
}

// StageTimes are the times of a stage's latest attempt; zero when not reached.
type StageTimes struct{ Started, Completed time.Time }

type deployment struct {
	model              *model.Deployment
	sequence           int
	created, completed time.Time
	stages             map[string]StageTimes
	eventCommit        *model.Commit
	logs               map[string]*stageLog
}

// CreateDeployment stores a new deployment as it is given.
func (s *Store) CreateDeployment(pipedID string, m *model.Deployment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.createDeployment(pipedID, m)
}

func (s *Store) createDeployment(pipedID string, m *model.Deployment) error {
	a, err := s.ownedApplication(pipedID, m.GetApplicationId())
	if err != nil {
		return err
	}
	if m.GetPipedId() != pipedID || m.GetProjectId() != s.project {
		return denied("deployment %s names another piped or project than the caller's", m.GetId())
	}
	if s.deployments[m.GetId()] != nil {
		return alreadyExists("deployment %s exists already", m.GetId())
	}
	if len(s.deployments)-len(s.completed) >= s.limits.OpenDeployments {
		return exhausted("%d deployments have not ended yet; cancel some before starting more", s.limits.OpenDeployments)
	}
	if err := s.room(m, 1); err != nil {
		return err
	}
	now := s.now()
	d := &deployment{
		model: proto.CloneOf(m), sequence: s.nextSequence(), created: now,
		stages: map[string]StageTimes{}, logs: map[string]*stageLog{}, eventCommit: s.eventCommit(m.GetDeploymentTraceCommitHash()),
	}
	d.model.CreatedAt = cmp.Or(d.model.GetCreatedAt(), now.Unix())
	d.model.UpdatedAt = cmp.Or(d.model.GetUpdatedAt(), now.Unix())
	s.putDeployment(d)
	a.latest = m.GetId()
	if completed(m.GetStatus()) {
		d.completed = now
		s.complete(d)
	}
	s.followChain(d)
	s.publish(Change{Deployment: d.view()})
	s.publish(Change{Application: s.applicationView(a)})
	return nil
}

// Deployment returns a deployment of the project.
func (s *Store) Deployment(id string) (*Deployment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.deployment(id)
	if err != nil {
		return nil, err
	}
	return d.view(), nil
}

// PipedDeployment returns a deployment of the piped.
func (s *Store) PipedDeployment(pipedID, id string) (*model.Deployment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.ownedDeployment(pipedID, id)
	if err != nil {
		return nil, err
	}
	return proto.CloneOf(d.model), nil
}

// OpenDeployments returns a page of the piped's deployments that have not ended, the oldest first. The page begins
// after the deployment with that number; next is the number of its last one, and 0 when there are no more.
func (s *Store) OpenDeployments(pipedID string, after int, b Bounds) (page []*model.Deployment, next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.open[pipedID]
	from := 0
	for from < len(open) && open[from].sequence <= after {
		from++
	}
	page, more := pageOf(open[from:], func(d *deployment) *model.Deployment { return proto.CloneOf(d.model) }, b)
	if more {
		next = open[from+len(page)-1].sequence
	}
	return page, next
}

// Deployments returns a page of the deployments that match, the one updated last in front, and whether there are more.
func (s *Store) Deployments(match func(*model.Deployment) bool, after Position, b Bounds) (page []*model.Deployment, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*deployment
	for _, d := range s.deployments {
		if after.before(d.model.GetUpdatedAt(), d.model.GetId()) && match(d.model) {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b *deployment) int {
		return cmp.Or(cmp.Compare(b.model.GetUpdatedAt(), a.model.GetUpdatedAt()), cmp.Compare(a.model.GetId(), b.model.GetId()))
	})
	return pageOf(found, func(d *deployment) *model.Deployment { return proto.CloneOf(d.model) }, b)
}

// ReportPlanned stores a plan. PENDING deployments become PLANNED; a repeated report replaces the
// plan; anything later is refused, for stages that run must not vanish.
func (s *Store) ReportPlanned(pipedID string, r *pipedservice.ReportDeploymentPlannedRequest) error {
	return s.changeDeployment(pipedID, r.GetDeploymentId(), func(d *deployment) error {
		m := d.model
		if m.GetStatus() > model.DeploymentStatus_DEPLOYMENT_PLANNED {
			return precondition("deployment %s is %s already and cannot be planned again", m.GetId(), m.GetStatus())
		}
		if err := s.room(m, proto.Size(r)); err != nil {
			return err
		}
		r = proto.CloneOf(r)
		m.Status = model.DeploymentStatus_DEPLOYMENT_PLANNED
		m.Summary, m.StatusReason = r.GetSummary(), shortReason(r.GetStatusReason())
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
func (s *Store) ReportStatus(pipedID, id string, status model.DeploymentStatus, reason string) error {
	return s.changeDeployment(pipedID, id, func(d *deployment) error {
		if d.model.GetStatus() > status {
			return precondition("deployment %s is %s already and cannot become %s", id, d.model.GetStatus(), status)
		}
		d.model.Status, d.model.StatusReason = status, shortReason(reason)
		return nil
	})
}

// ReportCompleted ends a deployment. A completed deployment stays as it is: the same report once
// more is accepted, another one is refused.
func (s *Store) ReportCompleted(pipedID string, r *pipedservice.ReportDeploymentCompletedRequest) error {
	if !completed(r.GetStatus()) {
		return invalid("invalid request: a deployment cannot complete as %s", r.GetStatus())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.ownedDeployment(pipedID, r.GetDeploymentId())
	if err != nil {
		return err
	}
	if old := d.model.GetStatus(); old == r.GetStatus() {
		return nil
	} else if completed(old) {
		return precondition("deployment %s has ended as %s already", r.GetDeploymentId(), old)
	}
	m, now := d.model, s.now()
	m.Status, m.StatusReason, m.CompletedAt = r.GetStatus(), shortReason(r.GetStatusReason()), r.GetCompletedAt()
	for _, stage := range m.GetStages() {
		status, ok := r.GetStageStatuses()[stage.GetId()]
		if !ok || status == stage.GetStatus() {
			continue
		}
		stage.Status = status
		d.stampStage(stage, now)
	}
	d.completed = now
	s.deploymentChanged(d)
	s.complete(d)
	return nil
}

// MergeSharedMetadata adds to the notes that every plugin can read; new values win.
func (s *Store) MergeSharedMetadata(pipedID, id string, metadata map[string]string) error {
	return s.mergeMetadata(pipedID, id, func(m *model.DeploymentMetadata) (int, func()) {
		return growth(m.GetShared().GetKeyValues(), metadata), func() { m.Shared = mergeInto(m.GetShared(), metadata) }
	})
}

// MergePluginMetadata adds to the notes of one plugin; new values win.
func (s *Store) MergePluginMetadata(pipedID, id, plugin string, metadata map[string]string) error {
	return s.mergeMetadata(pipedID, id, func(m *model.DeploymentMetadata) (int, func()) {
		return growth(m.GetPlugins()[plugin].GetKeyValues(), metadata), func() {
			if m.Plugins == nil {
				m.Plugins = map[string]*model.DeploymentMetadata_KeyValues{}
			}
			m.Plugins[plugin] = mergeInto(m.Plugins[plugin], metadata)
		}
	})
}

// MergeMetadata adds to the notes of PipeCD v0; new values win.
func (s *Store) MergeMetadata(pipedID, id string, metadata map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.ownedDeployment(pipedID, id)
	if err != nil {
		return err
	}
	if err := s.room(d.model, growth(d.model.GetMetadata(), metadata)); err != nil {
		return err
	}
	if d.model.Metadata == nil {
		d.model.Metadata = map[string]string{}
	}
	maps.Copy(d.model.Metadata, metadata)
	d.model.UpdatedAt = s.now().Unix()
	s.keepDeployment(d)
	return nil
}

// mergeMetadata has plan say how much larger the metadata gets, and changes it when there is room.
func (s *Store) mergeMetadata(pipedID, id string, plan func(*model.DeploymentMetadata) (more int, merge func())) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.ownedDeployment(pipedID, id)
	if err != nil {
		return err
	}
	if d.model.MetadataV2 == nil {
		d.model.MetadataV2 = &model.DeploymentMetadata{}
	}
	more, merge := plan(d.model.MetadataV2)
	if err := s.room(d.model, more); err != nil {
		return err
	}
	merge()
	d.model.UpdatedAt = s.now().Unix()
	s.keepDeployment(d)
	return nil
}

func mergeInto(old *model.DeploymentMetadata_KeyValues, added map[string]string) *model.DeploymentMetadata_KeyValues {
	merged := maps.Clone(old.GetKeyValues())
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, added)
	return &model.DeploymentMetadata_KeyValues{KeyValues: merged}
}

func completed(status model.DeploymentStatus) bool {
	return status >= model.DeploymentStatus_DEPLOYMENT_SUCCESS
}
