// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

const (
	// removeKey is the metadata of a command and of a deployment that removes the application; the value is cascade.
	// Our piped copies it to the deployment.
	removeKey = "pipedeck/remove"
	cascade   = "cascade"
	// orphanedPrefix begins the short reason of an application that our piped does not find in Git any more.
	orphanedPrefix = "Orphaned: "
)

// IsOrphaned reports whether the configuration of an application is not in Git any more.
func IsOrphaned(state *model.ApplicationSyncState) bool {
	return state.GetStatus() == model.ApplicationSyncStatus_INVALID_CONFIG &&
		strings.HasPrefix(state.GetShortReason(), orphanedPrefix)
}

// IsRemoval reports whether a deployment deletes what its application has deployed, and then removes the application.
func IsRemoval(d *model.Deployment) bool {
	return d.GetMetadataV2().GetShared().GetKeyValues()[removeKey] != ""
}

func isRemoval(command *model.Command) bool { return command.GetMetadata()[removeKey] != "" }

// Remove removes an application that is not in Git any more, or that a user has disabled. With all, its piped first
// deletes what the application has deployed; then the id of the command comes back, and the application goes once that
// has succeeded. An empty id says that it is gone already. FailedPrecondition says why the application stays.
func (s *Store) Remove(id string, all bool, commander string) (command string, err error) {
	a, err := s.Applications.Get(id)
	if err != nil {
		return "", err
	}
	if err := s.removable(a, all); err != nil {
		return "", err
	}
	last := cmp.Or(commitOfReference(a.GetMostRecentlySuccessfulDeployment()),
		commitOfReference(a.GetMostRecentlyTriggeredDeployment()))
	if !all || last == "" {
		return "", s.forget(id)
	}
	if !s.Pipeds.able(a.GetPipedId()).RemovesApplications {
		return "", precondition("%s cannot delete what application %s has deployed: it is not a piped of this version "+
			"of pipedeck, or has not connected yet; delete it by hand, then run: pipedeck remove %s --orphan",
			s.Pipeds.title(a.GetPipedId()), a.GetName(), a.GetName())
	}
	return s.Commands.Add(&model.Command{
		PipedId: a.GetPipedId(), ApplicationId: id, Commander: commander, Type: model.Command_SYNC_APPLICATION,
		Metadata:        map[string]string{commitKey: last, removeKey: cascade},
		SyncApplication: &model.Command_SyncApplication{ApplicationId: id},
	})
}

// removable returns FailedPrecondition when the application must stay.
func (s *Store) removable(a *model.Application, all bool) error {
	newest := s.Deployments.newest(a.GetId())
	switch {
	case newest != nil && !completed(newest.GetStatus()) && IsRemoval(newest) && all:
		return precondition("application %s is being removed already, by deployment %s", a.GetName(), newest.GetId())
	case newest != nil && !completed(newest.GetStatus()):
		return precondition("deployment %s of application %s still runs; cancel it first: pipedeck cancel %s",
			newest.GetId(), a.GetName(), newest.GetId())
	case a.GetDisabled() && all:
		return precondition("application %s is disabled, so that its piped does nothing for it; enable it first, or "+
			"forget it with: pipedeck remove %s --orphan", a.GetName(), a.GetName())
	case a.GetDisabled(), IsOrphaned(a.GetSyncState()):
		return nil
	}
	return precondition("application %s is still in Git, so that the next commit would deploy it again; delete %s in "+
		"Git and commit that first", a.GetName(), fileOf(a))
}

// fileOf is the configuration file of an application in its repository.
func fileOf(a *model.Application) string {
	at := a.GetGitPath()
	return strings.TrimPrefix(at.GetPath()+"/"+cmp.Or(at.GetConfigFilename(), defaultConfigFilename), "./")
}

func commitOfReference(d *model.ApplicationDeploymentReference) string {
	return d.GetTrigger().GetCommit().GetHash()
}

// Forget removes an application of a piped that is orphaned; one that is removed already is fine.
func (s *Store) Forget(pipedID, id string) error {
	switch err := s.Applications.owned(pipedID, id); {
	case status.Code(err) == codes.NotFound:
		return nil
	case err != nil:
		return err
	}
	a, err := s.Applications.Get(id)
	if err == nil {
		err = s.removable(a, false)
	}
	if err != nil {
		return err
	}
	return s.forget(id)
}

// forget removes an application. When Git has its configuration again, it is registered again, with its id. One that is
// still in Git stays removed.
func (s *Store) forget(id string) error {
	a, err := s.Applications.Get(id)
	if err != nil {
		return err
	}
	if !a.GetDisabled() {
		if err := orphan(s.Applications, id); err != nil {
			return err
		}
	}
	return s.DeleteApplication(id)
}

// orphan notes that an application is not in Git, whatever its deployments have reported since.
func orphan(a *Applications, id string) error {
	return a.change(id, func(one *application) error {
		one.model.SyncState = &model.ApplicationSyncState{
			Status: model.ApplicationSyncStatus_INVALID_CONFIG, ShortReason: orphanedPrefix + "removed",
			Timestamp: a.ledger.now().Unix(),
		}
		return nil
	})
}

// ReportCompleted ends a deployment. The application goes with the success of its removal, before that is noted: a
// piped reports the end until it is noted.
func (s *Store) ReportCompleted(pipedID string, r *pipedservice.ReportDeploymentCompletedRequest) error {
	if r.GetStatus() == model.DeploymentStatus_DEPLOYMENT_SUCCESS {
		if err := s.removed(pipedID, r.GetDeploymentId()); err != nil {
			return err
		}
	}
	return s.Deployments.ReportCompleted(pipedID, r)
}

// removed forgets the application that a deployment has removed; another deployment changes nothing.
func (s *Store) removed(pipedID, deployment string) error {
	d, err := s.Deployments.Get(deployment)
	if err != nil || d.Model.GetPipedId() != pipedID || !IsRemoval(d.Model) || completed(d.Model.GetStatus()) {
		return nil //nolint:nilerr // the report itself says so
	}
	err = s.forget(d.Model.GetApplicationId())
	if status.Code(err) == codes.NotFound { // by an earlier report
		return nil
	}
	return err
}
