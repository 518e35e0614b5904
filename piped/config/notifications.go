// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

// Notifications says who is told about which events.
type Notifications struct {
	Routes    []NotificationRoute    `json:"routes,omitempty"`
	Receivers []NotificationReceiver `json:"receivers,omitempty"`
}

// NotificationRoute sends matching events to one receiver.
type NotificationRoute struct {
	Name         string            `json:"name,omitempty"`
	Receiver     string            `json:"receiver" config:"required"`
	Events       []string          `json:"events,omitempty"`
	IgnoreEvents []string          `json:"ignoreEvents,omitempty"`
	Groups       []string          `json:"groups,omitempty"`
	IgnoreGroups []string          `json:"ignoreGroups,omitempty"`
	Apps         []string          `json:"apps,omitempty"`
	IgnoreApps   []string          `json:"ignoreApps,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	IgnoreLabels map[string]string `json:"ignoreLabels,omitempty"`
}

// NotificationReceiver is a Slack channel or a webhook.
type NotificationReceiver struct {
	Name    string       `json:"name" config:"required"`
	Slack   *SlackTarget `json:"slack,omitempty"`
	Webhook *Webhook     `json:"webhook,omitempty"`
}

// SlackTarget is a hook URL, or a token with a channel.
type SlackTarget struct {
	HookURL           string   `json:"hookURL,omitempty"`
	OAuthToken        string   `json:"oauthToken,omitempty"`
	OAuthTokenData    string   `json:"oauthTokenData,omitempty"`
	OAuthTokenFile    string   `json:"oauthTokenFile,omitempty"`
	ChannelID         string   `json:"channelID,omitempty"`
	MentionedAccounts []string `json:"mentionedAccounts,omitempty"`
	MentionedGroups   []string `json:"mentionedGroups,omitempty"`
}

// Webhook is a URL that events are posted to, with a shared value in a header.
type Webhook struct {
	URL                string `json:"url" config:"required"`
	SignatureKey       string `json:"signatureKey,omitempty"`
	SignatureValue     string `json:"signatureValue,omitempty"`
	SignatureValueFile string `json:"signatureValueFile,omitempty"`
}

func (w *Webhook) setDefaults() { w.SignatureKey = "PipeCD-Signature" }
