// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

const mask = "******"

// Key returns the secret key of the piped, from its file or its base64 data, trimmed.
func (p *Piped) Key() (string, error) {
	if p.PipedKeyData != "" {
		key, err := base64.StdEncoding.DecodeString(p.PipedKeyData)
		if err != nil {
			return "", fmt.Errorf("decode spec.pipedKeyData: %w; it is the key in base64", err)
		}
		return strings.TrimSpace(string(key)), nil
	}
	key, err := os.ReadFile(p.PipedKeyFile)
	if err != nil {
		return "", fmt.Errorf("read the piped key (spec.pipedKeyFile): %w", err)
	}
	return strings.TrimSpace(string(key)), nil
}

// MaskedYAML returns the configuration as YAML with every secret replaced, for showing and for
// ReportPipedMeta. Plugins own their configuration, so piped cannot know which of its values are
// secret: all of them are masked, keys stay. (PipeCD v1 sends them in clear.)
func (p *Piped) MaskedYAML() (string, error) {
	data, err := json.Marshal(p.masked())
	if err != nil {
		return "", fmt.Errorf("encode piped configuration: %w", err)
	}
	text, err := yaml.JSONToYAML(data)
	if err != nil {
		return "", fmt.Errorf("encode piped configuration: %w", err)
	}
	return string(text), nil
}

func (p *Piped) masked() *Piped {
	m := *p
	hide(&m.PipedKeyFile, &m.PipedKeyData, &m.Git.Password, &m.Git.SSHKeyFile, &m.Git.SSHKeyData)
	m.Repositories = slices.Clone(p.Repositories)
	for i := range m.Repositories {
		m.Repositories[i].Remote = maskUserinfo(m.Repositories[i].Remote)
		if own := m.Repositories[i].Git; own != nil {
			login := *own
			hide(&login.Password, &login.SSHKeyFile, &login.SSHKeyData)
			m.Repositories[i].Git = &login
		}
	}
	m.PluginIndex = maskQuery(maskUserinfo(p.PluginIndex))
	m.Plugins = slices.Clone(p.Plugins)
	for i := range m.Plugins {
		plugin := &m.Plugins[i]
		plugin.URL = maskQuery(maskUserinfo(plugin.URL))
		if signed := plugin.Signature; signed != nil {
			plugin.Signature = &PluginSignature{PublicKey: signed.PublicKey, URL: maskQuery(maskUserinfo(signed.URL)),
				Policy: signed.Policy}
		}
		plugin.Config = maskJSON(plugin.Config)
		plugin.DeployTargets = slices.Clone(plugin.DeployTargets)
		for j := range plugin.DeployTargets {
			plugin.DeployTargets[j].Config = maskJSON(plugin.DeployTargets[j].Config)
		}
	}
	m.Notifications.Receivers = slices.Clone(p.Notifications.Receivers)
	for i := range m.Notifications.Receivers {
		receiver := &m.Notifications.Receivers[i]
		if receiver.Slack != nil {
			slack := *receiver.Slack
			hide(&slack.HookURL, &slack.OAuthToken, &slack.OAuthTokenData, &slack.OAuthTokenFile)
			receiver.Slack = &slack
		}
		if receiver.Webhook != nil {
			webhook := *receiver.Webhook
			hide(&webhook.URL, &webhook.SignatureValue, &webhook.SignatureValueFile)
			receiver.Webhook = &webhook
		}
	}
	if p.SecretManagement != nil {
		secrets := *p.SecretManagement
		c := &secrets.Config
		hide(&c.PrivateKeyFile, &c.PrivateKeyData, &c.IdentityFile, &c.IdentityData, &c.DecryptServiceAccountFile,
			&c.EncryptServiceAccountFile)
		m.SecretManagement = &secrets
	}
	return &m
}

func hide(values ...*string) {
	for _, value := range values {
		if *value != "" {
			*value = mask
		}
	}
}

// maskQuery hides what follows the path of a URL: links to downloads are signed there.
func maskQuery(address string) string {
	if before, _, found := strings.Cut(address, "?"); found && strings.Contains(before, "://") {
		return before + "?" + mask
	}
	return address
}

// maskUserinfo hides user and password of a URL such as https://user:token@host/repo.
func maskUserinfo(remote string) string {
	if !strings.Contains(remote, "://") {
		return remote // A path or the scp-like form, which hold no password.
	}
	parsed, err := url.Parse(remote)
	if err != nil {
		return mask
	}
	if _, withPassword := parsed.User.Password(); parsed.Scheme == "ssh" && !withPassword {
		return remote
	}
	if parsed.User == nil {
		return remote
	}
	parsed.User = nil
	return strings.Replace(parsed.String(), "://", "://"+mask+"@", 1)
}

func maskJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return json.RawMessage(`"` + mask + `"`)
	}
	masked, err := json.Marshal(maskValue(value))
	if err != nil {
		return json.RawMessage(`"` + mask + `"`)
	}
	return masked
}

func maskValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			value[key] = maskValue(inner)
		}
		return value
	case []any:
		for i, inner := range value {
			value[i] = maskValue(inner)
		}
		return value
	case nil, bool:
		return value
	}
	return mask
}
