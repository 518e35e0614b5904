// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"time"
)

// DefaultTimeout bounds a stage and a deployment that say nothing. PipeCD v1: 6h.
const DefaultTimeout = Duration(6 * time.Hour)

// Application is the spec of an application configuration.
type Application struct {
	// Kind as written: Application, or one of the v0 kinds whose v0-only keys are not read.
	Kind string `json:"-"`

	// Name is required for an application to be found and listed without being registered.
	Name          string            `json:"name,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Description   string            `json:"description,omitempty"`
	Planner       Planner           `json:"planner"`
	CommitMatcher CommitMatcher     `json:"commitMatcher,omitzero"`
	// Pipeline is nil when the file has none; quick sync is used then.
	Pipeline *Pipeline `json:"pipeline,omitempty"`
	Trigger  Trigger   `json:"trigger"`
	PostSync *PostSync `json:"postSync,omitempty"`
	// Timeout bounds the whole deployment.
	Timeout        Duration           `json:"timeout,omitempty"`
	Encryption     *Encryption        `json:"encryption,omitempty"`
	Attachment     *Attachment        `json:"attachment,omitempty"`
	Notification   *Notification      `json:"notification,omitempty"`
	EventWatcher   []EventWatcherRule `json:"eventWatcher,omitempty"`
	DriftDetection *DriftDetection    `json:"driftDetection,omitempty"`
	// Plugins holds each plugin's own options by plugin name, as JSON.
	Plugins map[string]json.RawMessage `json:"plugins,omitempty"`

	// Warnings holds what was read past: unknown keys, deprecated forms.
	Warnings Errors `json:"-"`
}

func (a *Application) setDefaults() { a.Timeout = DefaultTimeout }

// Planner says how the strategy is chosen.
type Planner struct {
	// AlwaysUsePipeline skips strategy detection.
	AlwaysUsePipeline bool `json:"alwaysUsePipeline"`
	// AutoRollback defaults to true.
	AutoRollback bool `json:"autoRollback"`
}

func (p *Planner) setDefaults() { p.AutoRollback = true }

// CommitMatcher forces a strategy by commit message; both are regular expressions.
type CommitMatcher struct {
	Pipeline  string `json:"pipeline,omitempty"`
	QuickSync string `json:"quickSync,omitempty"`
}

// SkipOn says when a stage is passed over.
type SkipOn struct {
	CommitMessagePrefixes []string `json:"commitMessagePrefixes,omitempty"`
	// Paths are patterns as in .dockerignore.
	Paths []string `json:"paths,omitempty"`
}

// Trigger says what starts a deployment.
type Trigger struct {
	OnCommit    OnCommit    `json:"onCommit"`
	OnCommand   OnCommand   `json:"onCommand"`
	OnOutOfSync OnOutOfSync `json:"onOutOfSync"`
	OnChain     OnChain     `json:"onChain"`
}

// OnCommit starts a deployment when a commit touches the application. Paths and Ignores are patterns
// as in .dockerignore, matched against paths from the repository root.
type OnCommit struct {
	Disabled bool     `json:"disabled,omitempty"`
	Paths    []string `json:"paths,omitempty"`
	Ignores  []string `json:"ignores,omitempty"`
}

// OnCommand starts a deployment when a user asks for it.
type OnCommand struct {
	Disabled bool `json:"disabled,omitempty"`
}

// OnOutOfSync starts a deployment when drift was seen and the last one ended at least MinWindow
// (default 5m) ago. Disabled by default.
type OnOutOfSync struct {
	Disabled  bool     `json:"disabled"`
	MinWindow Duration `json:"minWindow,omitempty"`
}

func (o *OnOutOfSync) setDefaults() {
	o.Disabled = true
	o.MinWindow = Duration(5 * time.Minute)
}

// OnChain lets a deployment chain start a deployment. Disabled by default.
type OnChain struct {
	Disabled bool `json:"disabled"`
}

func (o *OnChain) setDefaults() { o.Disabled = true }

// PostSync says what follows a successful deployment.
type PostSync struct {
	Chain *Chain `json:"chain,omitempty"`
}

// Chain lists the applications to deploy next, one block each.
type Chain struct {
	Applications []ChainApplication `json:"applications" config:"required"`
}

// ChainApplication selects applications; at least one field is set.
type ChainApplication struct {
	Name   string            `json:"name,omitempty"`
	Kind   string            `json:"kind,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

// Encryption names secrets and the files that use them.
type Encryption struct {
	EncryptedSecrets  map[string]string `json:"encryptedSecrets,omitempty"`
	DecryptionTargets []string          `json:"decryptionTargets" config:"required"`
}

// Attachment names files whose content is put into other files.
type Attachment struct {
	Sources map[string]string `json:"sources,omitempty"`
	Targets []string          `json:"targets" config:"required"`
}

// Notification says who is mentioned in notifications.
type Notification struct {
	Mentions []Mention `json:"mentions,omitempty"`
}

// Mention names people for one event, "*" for all events.
type Mention struct {
	Event       string   `json:"event" config:"required"`
	Slack       []string `json:"slack,omitempty"`
	SlackUsers  []string `json:"slackusers,omitempty"`
	SlackGroups []string `json:"slackgroups,omitempty"`
	Email       []string `json:"email,omitempty"`
}

// EventWatcherRule changes files of the application when an event comes.
type EventWatcherRule struct {
	Matcher EventMatcher `json:"matcher"`
	Handler EventHandler `json:"handler"`
}

// EventMatcher selects events by name and labels.
type EventMatcher struct {
	Name   string            `json:"name" config:"required"`
	Labels map[string]string `json:"labels,omitempty"`
}

// EventHandler is what is done with an event; GIT_UPDATE is the only type.
type EventHandler struct {
	Type   string             `json:"type" config:"oneof=GIT_UPDATE"`
	Config EventHandlerConfig `json:"config,omitzero"`
}

func (h *EventHandler) setDefaults() { h.Type = "GIT_UPDATE" }

// EventHandlerConfig is the change to make in Git.
type EventHandlerConfig struct {
	CommitMessage   string             `json:"commitMessage,omitempty"`
	MakePullRequest bool               `json:"makePullRequest,omitempty"`
	Replacements    []EventReplacement `json:"replacements,omitempty"`
}

// EventReplacement names one place in one file. YAMLField and Regex are the forms that PipeCD v1 carries out.
type EventReplacement struct {
	File      string `json:"file" config:"required"`
	YAMLField string `json:"yamlField,omitempty"`
	JSONField string `json:"jsonField,omitempty"`
	HCLField  string `json:"HCLField,omitempty"`
	Regex     string `json:"regex,omitempty"`
}

// DriftDetection lists fields that drift detection overlooks, each "apiVersion:kind:namespace:name#path".
type DriftDetection struct {
	IgnoreFields []string `json:"ignoreFields,omitempty"`
}
