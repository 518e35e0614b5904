// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package notifier

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/observe"
)

// webhook posts events as PipeCD v1 does.
type webhook struct {
	config config.Webhook
	client *http.Client
	links  links
	render *renderer
}

func newWebhook(c config.Webhook, client *http.Client, o Options, render *renderer) (sender, error) {
	if err := checkURL(c.URL); err != nil {
		return nil, fmt.Errorf("webhook.url: %w", err)
	}
	if c.SignatureValue != "" && c.SignatureValueFile != "" {
		return nil, fmt.Errorf("webhook has both signatureValue and signatureValueFile; keep one")
	}
	c.SignatureKey = cmp.Or(c.SignatureKey, "PipeCD-Signature")
	w := &webhook{config: c, client: client, links: links{o.WebAddress}, render: render}
	_, err := w.signature() // a missing file is a mistake to report at once
	return w, err
}

// signature reads the file again each time, so that it can be replaced while piped runs.
func (w *webhook) signature() (string, error) {
	if w.config.SignatureValueFile == "" {
		return w.config.SignatureValue, nil
	}
	value, err := os.ReadFile(w.config.SignatureValueFile)
	if err != nil {
		return "", fmt.Errorf("read webhook.signatureValueFile: %w", err)
	}
	return strings.TrimSpace(string(value)), nil
}

func (w *webhook) send(ctx context.Context, e *observe.Event) error {
	body, contentType, err := w.body(e)
	if err != nil {
		return err
	}
	signature, err := w.signature()
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {contentType}, "User-Agent": {"pipedeck"}}
	if signature != "" {
		header.Set(w.config.SignatureKey, signature)
	}
	_, err = post(ctx, w.client, w.config.URL, header, body)
	return err
}

func (w *webhook) body(e *observe.Event) (body []byte, contentType string, err error) {
	const asJSON = "application/json"
	if w.render == nil {
		body, err = json.Marshal(struct {
			Type     observe.Type
			Metadata metadata
		}{e.Type, metadataOf(e)})
		return body, asJSON, err
	}
	body, err = w.render.render(newView(e, w.links, newMentions(e), plain))
	if json.Valid(body) {
		return body, asJSON, err
	}
	return body, "text/plain; charset=utf-8", err
}

// metadata has the keys of all PipeCD v1's metadata messages, as encoding/json writes them.
type metadata struct {
	Deployment        *model.Deployment           `json:"deployment,omitempty"`
	Application       *model.Application          `json:"application,omitempty"`
	CommitHash        string                      `json:"commit_hash,omitempty"`
	CommitMessage     string                      `json:"commit_message,omitempty"`
	Stage             *model.PipelineStage        `json:"stage,omitempty"`
	Summary           string                      `json:"summary,omitempty"`
	Approver          string                      `json:"approver,omitempty"`
	Commander         string                      `json:"commander,omitempty"`
	Reason            string                      `json:"reason,omitempty"`
	State             *model.ApplicationSyncState `json:"state,omitempty"`
	MentionedAccounts []string                    `json:"mentioned_accounts,omitempty"`
	MentionedGroups   []string                    `json:"mentioned_groups,omitempty"`
	ID                string                      `json:"id,omitempty"`
	Name              string                      `json:"name,omitempty"`
	Version           string                      `json:"version,omitempty"`
	ProjectID         string                      `json:"project_id,omitempty"`
}

func metadataOf(e *observe.Event) metadata {
	m := metadata{Deployment: e.Deployment, Application: e.Application, State: e.SyncState}
	if e.Type.Group() == observe.Deployments {
		mentioned := newMentions(e)
		m.MentionedAccounts, m.MentionedGroups = mentioned.users, mentioned.groups
	}
	switch e.Type {
	case observe.DeploymentPlanned:
		m.Summary = e.Reason
	case observe.DeploymentApproved:
		m.Approver = e.Approver
	case observe.DeploymentCancelled:
		m.Commander = e.Commander
	case observe.DeploymentFailed:
		m.Reason = e.Reason
	case observe.DeploymentTriggerFailed:
		commit := e.Deployment.GetTrigger().GetCommit()
		m.Deployment, m.Reason = nil, e.Reason
		m.CommitHash, m.CommitMessage = commit.GetHash(), commit.GetMessage()
	case observe.PipedStarted, observe.PipedStopped:
		m.ID, m.Name, m.Version, m.ProjectID = e.Piped.ID, e.Piped.Name, e.Piped.Version, e.Piped.ProjectID
	}
	if e.Type.Group() == observe.Stages {
		m.Stage = e.Stage
	}
	return m
}
