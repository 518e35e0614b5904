// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/git/address"
	"github.com/pipedeck/pipedeck/piped/supersede"
)

// Names that PipeCD v1 gives to facts outside of its messages.
const (
	notificationKey = "DeploymentNotification"
	traceTrailer    = "Pipecd-Dev-Trace-Trigger-Commit-Hash"
)

// triggerKey is the metadata with the kind of a deployment for drift. docs/protocol.md names it for the peers.
const triggerKey = "pipedeck/trigger"

// kind is what a deployment comes from, by PipeCD's names.
type kind string

const (
	onCommit    kind = "ON_COMMIT"
	onCommand   kind = "ON_COMMAND"
	onOutOfSync kind = "ON_OUT_OF_SYNC"
	onChain     kind = "ON_CHAIN"
)

// onRetry is not PipeCD's.
const onRetry kind = "ON_RETRY"

// cause is why a deployment is created.
type cause struct {
	kind kind
	// id of the deployment.
	id string
	// commander asked for it; empty when no one did.
	commander string
	strategy  model.SyncStrategy
	// why is the reason for the strategy, shown to users; empty when the planner finds one.
	why string
	// chain and block are set for a deployment in a chain that exists.
	chain string
	block uint32
	// notes are metadata of the deployment.
	notes map[string]string
	// log is the reason for the log.
	log string
}

// Draft is what a deployment is created from: an application as its configuration in Git has it at a commit.
type Draft struct {
	Application *model.Application
	Config      *config.Application
	// Head is the commit, at the head of Branch of the repository at Remote, or an earlier one.
	Head           git.Commit
	Branch, Remote string
	// ProjectID and PipedID are those of this piped.
	ProjectID, PipedID string
	// Now is when the deployment is created.
	Now time.Time
}

// Deployment returns the deployment that the commit would be given. Nothing is created at the control plane.
func (f Draft) Deployment() (*model.Deployment, error) {
	return f.deployment(cause{kind: onCommit, id: uuid.NewString()})
}

// deployment fills in all that a control plane checks (PipeCD v1).
func (f Draft) deployment(c cause) (*model.Deployment, error) {
	a := f.Application
	d := &model.Deployment{
		Id:                        c.id,
		ApplicationId:             a.GetId(),
		ApplicationName:           a.GetName(),
		PipedId:                   f.PipedID,
		ProjectId:                 f.ProjectID,
		Kind:                      a.GetKind(),
		PlatformProvider:          a.GetPlatformProvider(),
		GitPath:                   proto.CloneOf(a.GetGitPath()),
		DeployTargetsByPlugin:     maps.Clone(a.GetDeployTargetsByPlugin()),
		Labels:                    maps.Clone(a.GetLabels()),
		Status:                    model.DeploymentStatus_DEPLOYMENT_PENDING,
		StatusReason:              "Waiting to be planned",
		DeploymentChainId:         c.chain,
		DeploymentChainBlockIndex: c.block,
		DeploymentTraceCommitHash: f.Head.Trailer(traceTrailer),
		MetadataV2: &model.DeploymentMetadata{
			Shared: &model.DeploymentMetadata_KeyValues{KeyValues: map[string]string{}},
		},
		CreatedAt: f.Now.Unix(),
		UpdatedAt: f.Now.Unix(),
		Trigger: &model.DeploymentTrigger{
			Commit:          commitOf(f.Head, f.Branch, f.Remote),
			Commander:       c.commander,
			Timestamp:       f.Now.Unix(),
			SyncStrategy:    c.strategy,
			StrategySummary: c.why,
		},
	}
	if c.kind == onOutOfSync { // the other kinds show by what they have besides
		d.MetadataV2.Shared.KeyValues[triggerKey] = string(c.kind)
	}
	maps.Copy(d.MetadataV2.Shared.KeyValues, supersede.Created(f.Now))
	maps.Copy(d.MetadataV2.Shared.KeyValues, c.notes)
	if f.Config.Notification != nil {
		text, err := json.Marshal(f.Config.Notification)
		if err != nil {
			return nil, fmt.Errorf("encode the notification settings of application %s: %w", a.GetName(), err)
		}
		d.MetadataV2.Shared.KeyValues[notificationKey] = string(text)
	}
	return d, nil
}

func commitOf(head git.Commit, branch, remote string) *model.Commit {
	return &model.Commit{
		Hash:      head.Hash,
		Message:   cmp.Or(head.Subject, "(no message)"),
		Author:    cmp.Or(head.Author, "unknown"),
		Branch:    branch,
		Url:       commitURL(remote, head.Hash),
		CreatedAt: max(head.CreatedAt.Unix(), 1),
	}
}

// commitURL is where a browser finds the commit: <scheme>://<host>/<path>/commit/<hash> (PipeCD v1), with
// https in place of ssh and git, without user names. It is empty when the remote has no such form.
func commitURL(remote, hash string) string {
	a, err := address.Parse(remote)
	if err != nil {
		return ""
	}
	u := &url.URL{Scheme: a.Scheme, Host: a.Host}
	switch a.Scheme {
	case "file":
		if a.Path, err = filepath.Abs(a.Path); err != nil {
			return ""
		}
	case "ssh", "git":
		u.Scheme = "https"
	default:
		if a.Port != "" {
			u.Host = net.JoinHostPort(a.Host, a.Port)
		} else if strings.Contains(a.Host, ":") {
			u.Host = "[" + a.Host + "]"
		}
	}
	u.Path = "/" + strings.TrimPrefix(
		strings.TrimSuffix(strings.TrimSuffix(filepath.ToSlash(a.Path), "/"), ".git"), "/",
	)
	return u.JoinPath("commit", hash).String()
}
