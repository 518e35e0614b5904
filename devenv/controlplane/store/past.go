// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"strconv"

	"github.com/pipedeck/pipedeck/api/model"
)

// The metadata of a command to deploy an earlier commit. Our piped copies the last two to the deployment.
const (
	commitKey   = "pipedeck/commit"
	retryKey    = "pipedeck/retry-of"
	rollbackKey = "pipedeck/rollback-to"
)

// Notes of our piped in the metadata of deployments.
const (
	supersededByKey = "pipedeck/superseded-by"
	retryNumberKey  = "pipedeck/retry"
	retryLimitKey   = "pipedeck/retry-limit"
	triggerKey      = "pipedeck/trigger"
)

// isPast reports whether a command is for an earlier commit.
func isPast(command *model.Command) bool { return command.GetMetadata()[commitKey] != "" }

// Again returns the deployments that a deployment retries or rolls its application back to, by id; empty for none.
func (d *Deployment) Again() (retryOf, rollbackTo string) {
	notes := d.Model.GetMetadataV2().GetShared().GetKeyValues()
	return notes[retryKey], notes[rollbackKey]
}

// SupersededBy returns the id of the deployment of a newer commit that has ended this one; empty for none.
func (d *Deployment) SupersededBy() string {
	return d.Model.GetMetadataV2().GetShared().GetKeyValues()[supersededByKey]
}

// WasDrift reports whether piped created the deployment because the cluster differed from Git. PipeCD's piped does not
// say.
func (d *Deployment) WasDrift() bool {
	return d.Model.GetMetadataV2().GetShared().GetKeyValues()[triggerKey] == "ON_OUT_OF_SYNC"
}

// Retries returns the number of a retry that piped has made by itself, and how many it makes at most; 0 for other
// deployments.
func (d *Deployment) Retries() (number, limit uint32) {
	notes := d.Model.GetMetadataV2().GetShared().GetKeyValues()
	return numberIn(notes[retryNumberKey]), numberIn(notes[retryLimitKey])
}

// numberIn reads a number of a note; 0 for anything else.
func numberIn(text string) uint32 {
	number, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(number)
}

// Retry asks the piped to deploy the commit of an application's newest deployment again, by the same strategy. It
// returns the id of the command. FailedPrecondition says why the deployment cannot be retried.
func (s *Store) Retry(deploymentID, commander string) (string, error) {
	d, err := s.past(deploymentID)
	if err != nil {
		return "", err
	}
	switch newest := s.Deployments.newest(d.GetApplicationId()); {
	case !completed(d.GetStatus()):
		return "", precondition("deployment %s still runs; cancel it first", deploymentID)
	case d.GetStatus() == model.DeploymentStatus_DEPLOYMENT_SUCCESS:
		return "", precondition("deployment %s has succeeded; there is nothing to retry", deploymentID)
	case newest.GetId() != deploymentID:
		return "", precondition("deployment %s is not the newest of application %s, which is %s; retry that, "+
			"or roll back to an earlier one", deploymentID, d.GetApplicationName(), newest.GetId())
	}
	return s.deployAgain(d, retryKey, commander, d.GetTrigger().GetSyncStrategy())
}

// RollBack asks the piped to deploy the commit of an earlier deployment that has succeeded. It returns the id of the
// command. FailedPrecondition says why the application cannot be rolled back there.
func (s *Store) RollBack(deploymentID, commander string, strategy model.SyncStrategy) (string, error) {
	d, err := s.past(deploymentID)
	if err != nil {
		return "", err
	}
	newest := s.Deployments.newest(d.GetApplicationId())
	switch succeeded := model.DeploymentStatus_DEPLOYMENT_SUCCESS; {
	case d.GetStatus() != succeeded:
		return "", precondition("deployment %s has not succeeded; choose one that has", deploymentID)
	case !completed(newest.GetStatus()):
		return "", precondition("deployment %s of application %s still runs; cancel it first", newest.GetId(),
			d.GetApplicationName())
	case newest.GetStatus() == succeeded && commitOf(newest) == commitOf(d):
		return "", precondition("commit %.7s of application %s is live already", commitOf(d), d.GetApplicationName())
	}
	return s.deployAgain(d, rollbackKey, commander, strategy)
}

// past returns a deployment whose application can be deployed by commands.
func (s *Store) past(deploymentID string) (*model.Deployment, error) {
	d, err := s.Deployments.Get(deploymentID)
	if err != nil {
		return nil, err
	}
	a, err := s.Applications.Get(d.Model.GetApplicationId())
	switch {
	case err != nil:
		return nil, err
	case IsRemoval(d.Model):
		return nil, precondition("deployment %s removes application %s; ask for that again with: pipedeck remove %s "+
			"--cascade", deploymentID, a.GetName(), a.GetName())
	case a.GetDisabled():
		return nil, precondition("application %s is disabled; enable it first", a.GetName())
	case a.GetPipedId() != d.Model.GetPipedId():
		return nil, precondition("deployment %s belongs to another piped than application %s does now", deploymentID,
			a.GetName())
	}
	return d.Model, s.deploysCommits(a.GetPipedId())
}

// deploysCommits is why a piped cannot deploy the commits that commands name; nil when it can.
func (s *Store) deploysCommits(pipedID string) error {
	if s.Pipeds.able(pipedID).DeploysCommits {
		return nil
	}
	return precondition("%s cannot deploy an earlier commit: it is not a piped of this version of pipedeck, "+
		"or has not connected yet; push a commit that reverts the change instead", s.Pipeds.title(pipedID))
}

// Sync asks the piped of an application for a deployment, of the newest commit when commit is empty. It returns the
// id of the command. FailedPrecondition says why the application cannot be deployed.
func (s *Store) Sync(a *model.Application, commit, commander string, strategy model.SyncStrategy) (string, error) {
	if a.GetDisabled() {
		return "", precondition("application %s is disabled; enable it first", a.GetName())
	}
	command := &model.Command{
		PipedId: a.GetPipedId(), ApplicationId: a.GetId(), Commander: commander, Type: model.Command_SYNC_APPLICATION,
		SyncApplication: &model.Command_SyncApplication{ApplicationId: a.GetId(), SyncStrategy: strategy},
	}
	if commit != "" {
		if err := s.deploysCommits(a.GetPipedId()); err != nil {
			return "", err
		}
		command.Metadata = map[string]string{commitKey: commit}
	}
	return s.Commands.Add(command)
}

func (s *Store) deployAgain(
	d *model.Deployment, key, commander string, strategy model.SyncStrategy,
) (string, error) {
	return s.Commands.Add(&model.Command{
		PipedId: d.GetPipedId(), ApplicationId: d.GetApplicationId(), Commander: commander,
		Type:     model.Command_SYNC_APPLICATION,
		Metadata: map[string]string{commitKey: commitOf(d), key: d.GetId()},
		SyncApplication: &model.Command_SyncApplication{
			ApplicationId: d.GetApplicationId(), SyncStrategy: strategy,
		},
	})
}

func commitOf(d *model.Deployment) string { return d.GetTrigger().GetCommit().GetHash() }

// newest returns the deployment of an application that was created last; nil for none. Shared: do not change.
func (d *Deployments) newest(application string) *model.Deployment {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found *deployment
	for _, one := range d.index.byID {
		if one.model.GetApplicationId() == application && (found == nil || one.sequence > found.sequence) {
			found = one
		}
	}
	if found == nil {
		return nil
	}
	return found.view().Model
}

// title names a piped for users.
func (p *Pipeds) title(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.byID[id]
	if one == nil || one.model.GetName() == "" {
		return "piped " + id
	}
	return fmt.Sprintf("piped %s", one.model.GetName())
}
