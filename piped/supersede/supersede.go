// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package supersede

import (
	"cmp"
	"strconv"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/redeploy"
	"github.com/pipedeck/pipedeck/piped/removal"
)

// The keys of the notes. docs/protocol.md lists them for the peers.
const (
	supersedesKey   = "pipedeck/supersedes"
	createdKey      = "pipedeck/created"
	supersededByKey = "pipedeck/superseded-by"
	newerCommitKey  = "pipedeck/superseded-by-commit"
)

// Reach is which older deployments of its application a deployment ends.
type Reach string

const (
	// Nothing: older deployments run to their end before.
	Nothing Reach = ""
	// Waiting: those that have not started, and those in which only stages run that wait for a user or a time.
	Waiting Reach = "waiting"
	// Running: all that have not ended.
	Running Reach = "running"
)

// Notes returns the metadata of a deployment that a commit triggers; nil when it ends no other one.
func Notes(rule string) map[string]string {
	switch rule {
	case config.SupersedeWaiting:
		return map[string]string{supersedesKey: string(Waiting)}
	case config.Supersede:
		return map[string]string{supersedesKey: string(Running)}
	default:
		return nil
	}
}

// Created returns the metadata of every deployment that is created at the time: PipeCD's times are seconds, which do
// not show which of two deployments is the newer one.
func Created(at time.Time) map[string]string {
	return map[string]string{createdKey: strconv.FormatInt(at.UnixMicro(), 10)}
}

// ReachOf reads the metadata of a deployment. A value that it does not know is Nothing.
func ReachOf(d *model.Deployment) Reach {
	switch reach := Reach(notes(d)[supersedesKey]); reach {
	case Waiting, Running:
		return reach
	default:
		return Nothing
	}
}

// Compare orders deployments of an application by the time of their creation.
func Compare(a, b *model.Deployment) int {
	return cmp.Or(cmp.Compare(a.GetCreatedAt(), b.GetCreatedAt()), cmp.Compare(created(a), created(b)))
}

// created returns the time of the creation in microseconds; 0 when it is not noted.
func created(d *model.Deployment) int64 {
	at, err := strconv.ParseInt(notes(d)[createdKey], 10, 64)
	if err != nil {
		return 0
	}
	return at
}

// Possible reports whether a newer commit may end the deployment. It does not end a deployment with which a user has
// gone back behind the newest commit: its rollback would bring back what the user has left. A removal runs to its end,
// because its rollback would deploy what Git has deleted.
func Possible(d *model.Deployment) bool {
	return !removal.Is(d) && redeploy.NewerCommit(d) == "" &&
		d.GetStatus() != model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK
}

// By is the deployment that ends another one. Its zero value is none.
type By struct {
	// Deployment is the id, Commit the hash of its commit.
	Deployment, Commit string
}

// ByOf returns what an earlier piped has noted as the end of a deployment.
func ByOf(d *model.Deployment) By {
	return By{Deployment: notes(d)[supersededByKey], Commit: notes(d)[newerCommitKey]}
}

// Notes returns the metadata of the deployment that ends by it.
func (b By) Notes() map[string]string {
	return map[string]string{supersededByKey: b.Deployment, newerCommitKey: b.Commit}
}

func notes(d *model.Deployment) map[string]string {
	return d.GetMetadataV2().GetShared().GetKeyValues()
}
