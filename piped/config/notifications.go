// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

// Notifications configure who gets which events.
type Notifications struct {
	// Routes choose the receivers of an event; every route that matches sends.
	Routes []NotificationRoute `json:"routes,omitempty"`
	// Receivers are the targets that events can be sent to.
	Receivers []NotificationReceiver `json:"receivers,omitempty"`
}

// NotificationRoute sends matching events to one receiver. An event that any ignore list names is not
// sent; of the other lists all that are given must match.
type NotificationRoute struct {
	// Name is for people.
	Name string `json:"name,omitempty"`
	// Receiver is the name of one of the receivers.
	Receiver string `json:"receiver" config:"required"`
	// Events are names of events, such as DEPLOYMENT_FAILED. Default: all.
	Events []string `json:"events,omitempty" config:"event"`
	// IgnoreEvents are names of events that are not sent.
	IgnoreEvents []string `json:"ignoreEvents,omitempty" config:"event"`
	// Groups are groups of events, such as DEPLOYMENT. Default: all.
	Groups []string `json:"groups,omitempty" config:"eventgroup"`
	// IgnoreGroups are groups of events that are not sent.
	IgnoreGroups []string `json:"ignoreGroups,omitempty" config:"eventgroup"`
	// Apps are names of applications. Default: all.
	Apps []string `json:"apps,omitempty"`
	// IgnoreApps are names of applications whose events are not sent.
	IgnoreApps []string `json:"ignoreApps,omitempty"`
	// Labels are labels that an application has.
	Labels map[string]string `json:"labels,omitempty"`
	// IgnoreLabels are labels of applications whose events are not sent.
	IgnoreLabels map[string]string `json:"ignoreLabels,omitempty"`
}

// NotificationReceiver is a Slack channel or a webhook.
type NotificationReceiver struct {
	// Name is what routes choose the receiver by.
	Name string `json:"name" config:"required"`
	// Slack is a channel. It excludes a webhook.
	Slack *SlackTarget `json:"slack,omitempty"`
	// Webhook is a URL. It excludes a Slack channel.
	Webhook *Webhook `json:"webhook,omitempty"`
	// Template is the text of messages, as a Go template. Default: a sentence for Slack, PipeCD's JSON for
	// a webhook. PipeCD does not read it.
	Template string `json:"template,omitempty"`
}

// SlackTarget is a hook URL, or a token with a channel.
type SlackTarget struct {
	// HookURL is an incoming webhook of Slack. It excludes a token.
	HookURL string `json:"hookURL,omitempty"`
	// OAuthToken is deprecated: a token in clear.
	OAuthToken string `json:"oauthToken,omitempty"`
	// OAuthTokenData is the token in base64.
	OAuthTokenData string `json:"oauthTokenData,omitempty"`
	// OAuthTokenFile is the file with the token.
	OAuthTokenFile string `json:"oauthTokenFile,omitempty"`
	// ChannelID is the channel; required with a token.
	ChannelID string `json:"channelID,omitempty"`
	// MentionedAccounts are ids of users that every message mentions.
	MentionedAccounts []string `json:"mentionedAccounts,omitempty"`
	// MentionedGroups are ids of user groups that every message mentions.
	MentionedGroups []string `json:"mentionedGroups,omitempty"`
}

// Webhook is a URL that events are posted to, with a shared value in a header.
type Webhook struct {
	// URL is where events are posted to.
	URL string `json:"url" config:"required"`
	// SignatureKey is the name of the header with the shared value. Default PipeCD-Signature.
	SignatureKey string `json:"signatureKey,omitempty"`
	// SignatureValue is the shared value. It excludes SignatureValueFile.
	SignatureValue string `json:"signatureValue,omitempty"`
	// SignatureValueFile is the file with the shared value.
	SignatureValueFile string `json:"signatureValueFile,omitempty"`
}

func (w *Webhook) setDefaults() { w.SignatureKey = "PipeCD-Signature" }

// NotificationEvents returns the names of all events that a route or a mention may name.
func NotificationEvents() []string {
	return []string{
		"DEPLOYMENT_TRIGGERED", "DEPLOYMENT_PLANNED", "DEPLOYMENT_STARTED", "DEPLOYMENT_WAIT_APPROVAL",
		"DEPLOYMENT_APPROVED",
		"DEPLOYMENT_ROLLING_BACK", "DEPLOYMENT_SUCCEEDED", "DEPLOYMENT_FAILED", "DEPLOYMENT_CANCELLED",
		"DEPLOYMENT_TRIGGER_FAILED",
		"STAGE_STARTED", "STAGE_SKIPPED", "STAGE_SUCCEEDED", "STAGE_FAILED", "STAGE_CANCELLED",
		"APPLICATION_SYNCED", "APPLICATION_OUT_OF_SYNC", "APPLICATION_HEALTHY", "APPLICATION_UNHEALTHY",
		"PIPED_STARTED", "PIPED_STOPPED",
	}
}

// NotificationGroups returns the names of the groups of events that a route may name.
func NotificationGroups() []string {
	return []string{"DEPLOYMENT", "STAGE", "APPLICATION_SYNC", "APPLICATION_HEALTH", "PIPED"}
}
