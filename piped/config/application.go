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
	Name string `json:"name,omitempty"`
	// Labels are what selectors, notification routes and deployment chains choose the application by.
	Labels map[string]string `json:"labels,omitempty"`
	// Description is for people; Markdown.
	Description string `json:"description,omitempty"`
	// Planner says how the strategy is chosen.
	Planner Planner `json:"planner"`
	// CommitMatcher forces a strategy by commit message.
	CommitMatcher CommitMatcher `json:"commitMatcher,omitzero"`
	// Pipeline is the stages of a deployment. Without it, quick sync is used.
	Pipeline *Pipeline `json:"pipeline,omitempty"`
	// Trigger says what starts a deployment.
	Trigger Trigger `json:"trigger"`
	// OnRemoved says what becomes of the application when this file is deleted in Git: keep, orphan or prune. Default:
	// that of piped. PipeCD does not know it.
	OnRemoved Removal `json:"onRemoved,omitempty" config:"oneof=keep|orphan|prune"`
	// PostSync says what follows a successful deployment.
	PostSync *PostSync `json:"postSync,omitempty"`
	// Timeout bounds the whole deployment. Default 6h.
	Timeout Duration `json:"timeout,omitempty" config:"positive"`
	// Encryption names secrets and the files that use them.
	Encryption *Encryption `json:"encryption,omitempty"`
	// Attachment names files whose content is put into other files.
	Attachment *Attachment `json:"attachment,omitempty"`
	// Notification says who is mentioned in notifications.
	Notification *Notification `json:"notification,omitempty"`
	// EventWatcher changes files of the application when an event comes.
	EventWatcher []EventWatcherRule `json:"eventWatcher,omitempty"`
	// DriftDetection says what drift detection overlooks.
	DriftDetection *DriftDetection `json:"driftDetection,omitempty"`
	// Plugins holds each plugin's own options by plugin name.
	Plugins map[string]json.RawMessage `json:"plugins,omitempty"`

	// Warnings holds what was ignored: unknown keys, deprecated forms.
	Warnings Errors `json:"-"`
	// Unread are those warnings that are mistakes of the author: keys that nothing reads, and values that work for
	// nothing. PipeCD deploys the application as if they were not there.
	Unread Errors `json:"-"`
}

func (a *Application) setDefaults() { a.Timeout = DefaultTimeout }

func (a *Application) v0Keys() map[string]string {
	keys := map[string]string{}
	for _, name := range []string{"input", "quickSync", "service", "workloads", "trafficRouting", "variantLabel",
		"resourceRoutes"} {
		keys[name] = "plugins, below the name of the plugin"
	}
	return keys
}

// Planner says how the strategy is chosen.
type Planner struct {
	// AlwaysUsePipeline skips strategy detection.
	AlwaysUsePipeline bool `json:"alwaysUsePipeline"`
	// AutoRollback undoes a deployment that fails. Default true.
	AutoRollback bool `json:"autoRollback"`
}

func (p *Planner) setDefaults() { p.AutoRollback = true }

// CommitMatcher forces a strategy by commit message; both are regular expressions.
type CommitMatcher struct {
	// Pipeline is the regular expression of messages that force the pipeline.
	Pipeline string `json:"pipeline,omitempty"`
	// QuickSync is the regular expression of messages that force a quick sync.
	QuickSync string `json:"quickSync,omitempty"`
}

// SkipOn says when a stage is skipped.
type SkipOn struct {
	// CommitMessagePrefixes skip the stage when the commit message starts with one of them.
	CommitMessagePrefixes []string `json:"commitMessagePrefixes,omitempty"`
	// Paths skip the stage when each changed file matches one of them; patterns as in .dockerignore.
	Paths []string `json:"paths,omitempty"`
}

// Trigger says what starts a deployment.
type Trigger struct {
	// OnCommit is for commits that touch the application.
	OnCommit OnCommit `json:"onCommit"`
	// OnCommand is for users who ask.
	OnCommand OnCommand `json:"onCommand"`
	// OnOutOfSync is for drift.
	OnOutOfSync OnOutOfSync `json:"onOutOfSync"`
	// OnChain is for deployment chains.
	OnChain OnChain `json:"onChain"`
	// OnNewCommit says what a deployment of a newer commit does to those of the application that have not ended.
	// queue: it waits until they end. supersede-waiting: it ends those that wait for an approval, are in a WAIT stage
	// or have not started. supersede: it ends all of them. Default queue.
	OnNewCommit string `json:"onNewCommit,omitempty" config:"oneof=queue|supersede-waiting|supersede"`
	// Retry says how often a deployment is made again that failed for a cause which may pass. Without it, never.
	Retry *Retry `json:"retry,omitempty"`
}

// IsManual reports whether only users start deployments: neither a commit nor drift does, and no chain can. chained
// says whether there is a chain that may.
func (t Trigger) IsManual(chained bool) bool {
	return t.OnCommit.Disabled && t.OnOutOfSync.Disabled && (t.OnChain.Disabled || !chained)
}

// HasChain reports whether the application starts a deployment chain.
func (a *Application) HasChain() bool { return a.PostSync != nil && a.PostSync.Chain != nil }

// The values of Trigger.OnNewCommit besides the default.
const (
	SupersedeWaiting = "supersede-waiting"
	Supersede        = "supersede"
)

func (t *Trigger) setDefaults() { t.OnNewCommit = "queue" }

// OnCommit starts a deployment when a commit touches the application. Paths and Ignores are patterns
// as in .dockerignore, matched against paths from the repository root.
type OnCommit struct {
	// Disabled turns this trigger off. Default false.
	Disabled bool `json:"disabled,omitempty"`
	// Paths are files outside of the application's directory that count as its own.
	Paths []string `json:"paths,omitempty"`
	// Ignores are files that do not count.
	Ignores []string `json:"ignores,omitempty"`
}

// OnCommand starts a deployment when a user asks for it.
type OnCommand struct {
	// Disabled turns this trigger off. Default false.
	Disabled bool `json:"disabled,omitempty"`
}

// OnOutOfSync starts a deployment when drift was seen and the last one ended at least MinWindow
// (default 5m) ago. Disabled by default.
type OnOutOfSync struct {
	// Disabled turns this trigger off. Default true.
	Disabled bool `json:"disabled"`
	// MinWindow is the least time after the end of the last deployment. Default 5m.
	MinWindow Duration `json:"minWindow,omitempty"`
}

func (o *OnOutOfSync) setDefaults() {
	o.Disabled = true
	o.MinWindow = Duration(5 * time.Minute)
}

// OnChain lets a deployment chain start a deployment. Disabled by default.
type OnChain struct {
	// Disabled turns this trigger off. Default true.
	Disabled bool `json:"disabled"`
}

func (o *OnChain) setDefaults() { o.Disabled = true }

// Retry says how often piped makes a deployment again that failed for a cause which may pass, such as an API that did
// not answer. PipeCD does not know it.
type Retry struct {
	// Limit is the largest number of retries, at most 10. Default 3.
	Limit int `json:"limit,omitempty" config:"positive"`
	// Backoff is the pause before the first retry; it doubles with each further one, up to an hour. Default 30s.
	Backoff Duration `json:"backoff,omitempty" config:"positive"`
}

// MaxRetries is the largest value of Retry.Limit.
const MaxRetries = 10

func (r *Retry) setDefaults() { r.Limit, r.Backoff = 3, Duration(30*time.Second) }

// maxRetryPause bounds the pause before a retry.
const maxRetryPause = time.Hour

// Pause returns the pause before a retry, which are counted from 1.
func (r *Retry) Pause(number int) time.Duration {
	pause := r.Backoff.Std()
	for ; number > 1 && pause < maxRetryPause; number-- {
		pause *= 2
	}
	return max(min(pause, maxRetryPause), r.Backoff.Std())
}

// PostSync says what follows a successful deployment.
type PostSync struct {
	// Chain is the deployments that follow.
	Chain *Chain `json:"chain,omitempty"`
}

// Chain lists the applications to deploy next, one block each.
type Chain struct {
	// Applications are the blocks of the chain, deployed one after another.
	Applications []ChainApplication `json:"applications" config:"required"`
}

// ChainApplication selects applications; at least one field is set.
type ChainApplication struct {
	// Name is the name of the application.
	Name string `json:"name,omitempty"`
	// Kind is the kind of the applications: KUBERNETES for those of the kind Application or KubernetesApp, TERRAFORM,
	// CLOUDRUN, LAMBDA or ECS for those of the other kinds of PipeCD v0.
	Kind string `json:"kind,omitempty"`
	// Labels are labels that the applications have.
	Labels map[string]string `json:"labels,omitempty"`
}

// ChainKind is what Kind of a ChainApplication has to be for the application: PipeCD v1 has only one kind, and pipeds
// register it as the first of v0.
func (a *Application) ChainKind() string {
	switch a.Kind {
	case "TerraformApp":
		return "TERRAFORM"
	case "LambdaApp":
		return "LAMBDA"
	case "CloudRunApp":
		return "CLOUDRUN"
	case "ECSApp":
		return "ECS"
	}
	return "KUBERNETES"
}

// Encryption names secrets and the files that use them.
type Encryption struct {
	// EncryptedSecrets are the secrets by name, each encrypted with the public key of piped.
	EncryptedSecrets map[string]string `json:"encryptedSecrets,omitempty"`
	// DecryptionTargets are files, in the application's directory, that use {{ .encryptedSecrets.NAME }}.
	DecryptionTargets []string `json:"decryptionTargets" config:"required"`
}

// Attachment names files whose content is put into other files.
type Attachment struct {
	// Sources are files, in the application's directory, by name.
	Sources map[string]string `json:"sources,omitempty"`
	// Targets are files, in the application's directory, that use {{ .attachment.NAME }}.
	Targets []string `json:"targets" config:"required"`
}

// Notification says who is mentioned in notifications.
type Notification struct {
	// Mentions are people by event.
	Mentions []Mention `json:"mentions,omitempty"`
}

// Mention names people for one event, "*" for all events.
type Mention struct {
	// Event is the name of an event, such as DEPLOYMENT_FAILED, or * for all.
	Event string `json:"event" config:"required,mention"`
	// Slack is the older form of SlackUsers.
	Slack []string `json:"slack,omitempty"`
	// SlackUsers are ids of Slack users.
	SlackUsers []string `json:"slackusers,omitempty"`
	// SlackGroups are ids of Slack user groups.
	SlackGroups []string `json:"slackgroups,omitempty"`
	// Email is read and not used, as in PipeCD.
	Email []string `json:"email,omitempty"`
}

// EventWatcherRule changes files of the application when an event comes.
type EventWatcherRule struct {
	// Matcher selects events.
	Matcher EventMatcher `json:"matcher"`
	// Handler is what is done with an event.
	Handler EventHandler `json:"handler"`
}

// EventMatcher selects events by name and labels.
type EventMatcher struct {
	// Name is the name of the event.
	Name string `json:"name" config:"required"`
	// Labels are all labels of the event.
	Labels map[string]string `json:"labels,omitempty"`
}

// EventHandler is what is done with an event; GIT_UPDATE is the only type.
type EventHandler struct {
	// Type is what is done. Default GIT_UPDATE, the only one.
	Type string `json:"type" config:"oneof=GIT_UPDATE"`
	// Config is the change to make in Git.
	Config EventHandlerConfig `json:"config,omitzero"`
}

func (h *EventHandler) setDefaults() { h.Type = "GIT_UPDATE" }

// EventHandlerConfig is the change to make in Git.
type EventHandlerConfig struct {
	// CommitMessage may hold {{ .Value }} and {{ .EventName }}.
	CommitMessage string `json:"commitMessage,omitempty"`
	// MakePullRequest commits to a new branch, from which a pull request can be made.
	MakePullRequest bool `json:"makePullRequest,omitempty"`
	// Replacements are the places to change.
	Replacements []EventReplacement `json:"replacements,omitempty"`
}

// EventReplacement names one place in one file. PipeCD v1 carries out YAMLField and Regex only.
type EventReplacement struct {
	// File is relative to the application's directory.
	File string `json:"file" config:"required"`
	// YAMLField is the path of the value in a YAML file, such as $.spec.replicas.
	YAMLField string `json:"yamlField,omitempty"`
	// JSONField is the path of the value in a JSON file.
	JSONField string `json:"jsonField,omitempty"`
	// HCLField is the path of the value in an HCL file.
	HCLField string `json:"HCLField,omitempty"`
	// Regex is a regular expression; its first group is replaced, everywhere.
	Regex string `json:"regex,omitempty"`
}

// DriftDetection lists fields that drift detection overlooks, each "apiVersion:kind:namespace:name#path".
type DriftDetection struct {
	// IgnoreFields are fields, each as apiVersion:kind:namespace:name#path. The kubernetes plugins also take patterns,
	// JSON pointers, paths of jq and managers.
	IgnoreFields []string `json:"ignoreFields,omitempty"`
}
