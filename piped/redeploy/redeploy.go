// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package redeploy

import (
	"context"
	"fmt"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// The keys of the notes. docs/protocol.md lists them for the peers.
const (
	commitKey   = "pipedeck/commit"
	retryKey    = "pipedeck/retry-of"
	rollbackKey = "pipedeck/rollback-to"
	newerKey    = "pipedeck/newer-commit"
	numberKey   = "pipedeck/retry"
	limitKey    = "pipedeck/retry-limit"
)

// Request is what a command to sync an application asks for besides the application and the strategy.
type Request struct {
	// Commit is the hash of the commit to deploy; empty for the newest. Without RetryOf and RollbackTo it may be the
	// beginning of a hash, which must be in the history of the branch.
	Commit string
	// RetryOf or RollbackTo is the id of the deployment that had the commit; both are empty when a user named the
	// commit.
	RetryOf, RollbackTo string
	// Number counts the retries that piped makes by itself, from 1, and Limit is how many it makes at most; both are
	// 0 for what a user asks for.
	Number, Limit int
}

// Named reports that a user named the commit, of which nothing is known yet.
func (r Request) Named() bool { return r.Commit != "" && r.RetryOf == "" && r.RollbackTo == "" }

// RequestOf reads the metadata of a command to sync an application.
func RequestOf(command *model.Command) Request {
	notes := command.GetMetadata()
	return Request{Commit: notes[commitKey], RetryOf: notes[retryKey], RollbackTo: notes[rollbackKey]}
}

// Summary says for users why the commit is deployed.
func (r Request) Summary(commander string) string {
	switch {
	case r.Number > 0:
		return fmt.Sprintf("Retry %d of %d of deployment %.8s", r.Number, r.Limit, r.RetryOf)
	case r.RollbackTo != "":
		return fmt.Sprintf("Rolled back by %s to commit %.7s", commander, r.Commit)
	case r.RetryOf == "":
		return fmt.Sprintf("Synced by %s to commit %.7s", commander, r.Commit)
	}
	return fmt.Sprintf("Retried by %s, with the strategy of deployment %.8s", commander, r.RetryOf)
}

// Notes returns the metadata of the deployment. newer is the newest commit of the branch that changes the application
// otherwise; empty when there is none.
func (r Request) Notes(newer string) map[string]string {
	notes := map[string]string{}
	for key, value := range map[string]string{retryKey: r.RetryOf, rollbackKey: r.RollbackTo, newerKey: newer} {
		if value != "" {
			notes[key] = value
		}
	}
	if r.Number > 0 {
		notes[numberKey], notes[limitKey] = strconv.Itoa(r.Number), strconv.Itoa(r.Limit)
	}
	return notes
}

// NewerCommit returns the newest commit of the branch at the time when a deployment of an earlier one was created:
// the next commit is compared with it. It is empty when the deployment, which may be nil, went behind no commit.
func NewerCommit(d *model.Deployment) string {
	return d.GetMetadataV2().GetShared().GetKeyValues()[newerKey]
}

// SyncState says for users why the application is out of sync after the deployment has succeeded; both are empty when
// it is not.
func SyncState(d *model.Deployment) (short, reason string) {
	newer := NewerCommit(d)
	if newer == "" {
		return "", ""
	}
	commit := d.GetTrigger().GetCommit().GetHash()
	return fmt.Sprintf("Rolled back to %.7s: out of sync until the next commit", commit),
		fmt.Sprintf("%s deployed commit %.7s again; the newest commit in Git is %.7s. The next commit that changes "+
			"the application, or a sync, deploys the newest commit.", d.GetTrigger().GetCommander(), commit, newer)
}

// Deployments is the part of the control plane that knows deployments.
type Deployments interface {
	GetDeployment(
		ctx context.Context, r *pipedservice.GetDeploymentRequest, opts ...grpc.CallOption,
	) (*pipedservice.GetDeploymentResponse, error)
}

// Find returns the deployment that a reference names if it may have notes, which only those have that a user asked
// for; nil for others, for a nil reference, and for one that the control plane has forgotten.
func Find(
	ctx context.Context, deployments Deployments, of *model.ApplicationDeploymentReference,
) (*model.Deployment, error) {
	if of.GetTrigger().GetCommander() == "" {
		return nil, nil
	}
	answer, err := deployments.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: of.GetDeploymentId()})
	switch {
	case status.Code(err) == codes.NotFound:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("ask for deployment %s: %w", of.GetDeploymentId(), err)
	}
	return answer.GetDeployment(), nil
}
