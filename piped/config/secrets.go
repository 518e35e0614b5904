// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
)

// Secrets lists the sensitive values that stand in the configuration itself, also in their decoded form,
// so that they can be kept out of logs and reports. Files that it names are not read. Of what plugins
// own, the texts below a key whose name speaks of a secret count: piped does not know the rest.
func (p *Piped) Secrets() []string {
	list := []string{p.PipedKeyData, p.Git.Password, p.Git.SSHKeyData}
	for _, repository := range p.Repositories {
		list = append(list, urlPassword(repository.Remote))
		if own := repository.Git; own != nil {
			list = append(list, own.Password, own.SSHKeyData)
		}
	}
	list = append(list, urlPassword(p.PluginIndex))
	for _, plugin := range p.Plugins {
		list = append(list, urlPassword(plugin.URL))
		if plugin.Signature != nil {
			list = append(list, urlPassword(plugin.Signature.URL))
		}
		list = append(list, namedSecrets(plugin.Config)...)
		for _, target := range plugin.DeployTargets {
			list = append(list, namedSecrets(target.Config)...)
		}
	}
	for _, receiver := range p.Notifications.Receivers {
		if s := receiver.Slack; s != nil {
			list = append(list, s.HookURL, s.OAuthToken, s.OAuthTokenData)
		}
		if w := receiver.Webhook; w != nil {
			list = append(list, w.SignatureValue, urlPassword(w.URL))
		}
	}
	if s := p.SecretManagement; s != nil {
		list = append(list, s.Config.PrivateKeyData, s.Config.IdentityData)
	}
	var all []string
	for _, value := range list {
		if value == "" {
			continue
		}
		all = append(all, value)
		if decoded, err := base64.StdEncoding.DecodeString(value); err == nil {
			all = append(all, string(decoded))
		}
	}
	return all
}

func urlPassword(text string) string {
	parsed, err := url.Parse(text)
	if err != nil || parsed.User == nil {
		return ""
	}
	if password, ok := parsed.User.Password(); ok {
		return password
	}
	if parsed.Scheme == "https" || parsed.Scheme == "http" {
		return parsed.User.Username() // A token alone, as Git servers take it.
	}
	return ""
}

var secretKey = regexp.MustCompile(
	`(?i)password|passwd|passphrase|secret|token|credential|api_?-?key|application_?-?key|private_?-?key|access_?-?key`)

// notSecret are the ends of keys that name a secret or its place, such as secretName and tokenFile.
var notSecret = regexp.MustCompile(`(?i)(file|path|name|ref|url|type|kind)$`)

// namedSecrets finds the texts below keys that speak of a secret.
func namedSecrets(raw json.RawMessage) []string {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return nil
	}
	var list []string
	var walk func(value any, secret bool)
	walk = func(value any, secret bool) {
		switch value := value.(type) {
		case map[string]any:
			for key, inner := range value {
				walk(inner, !notSecret.MatchString(key) && (secret || secretKey.MatchString(key)))
			}
		case []any:
			for _, inner := range value {
				walk(inner, secret)
			}
		case string:
			if secret {
				list = append(list, value)
			}
		}
	}
	walk(value, false)
	return list
}
