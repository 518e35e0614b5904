// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

// openSecrets reads the keys for secrets, and registers what the configuration holds and names.
func openSecrets(piped *config.Piped, key string, masker *secrets.Masker) (secrets.Decrypter, error) {
	decrypter, err := secrets.Open(piped.SecretManagement)
	if err != nil {
		return nil, err
	}
	sensitive := append(piped.Secrets(), key)
	if decrypter != nil {
		sensitive = append(sensitive, decrypter.Sensitive()...)
	}
	for _, file := range secretFiles(piped) {
		// Whoever needs the file reports when it cannot be read.
		if content, err := os.ReadFile(file); err == nil {
			sensitive = append(sensitive, string(content))
		}
	}
	if err := masker.Add(sensitive...); err != nil {
		return nil, fmt.Errorf("mask the secrets of the piped configuration: %w", err)
	}
	return decrypter, nil
}

// secretFiles are the files with secrets that the configuration names, besides the keys that others read.
func secretFiles(piped *config.Piped) []string {
	var files []string
	add := func(file string) {
		if file != "" {
			files = append(files, file)
		}
	}
	add(piped.Git.SSHKeyFile)
	for _, repository := range piped.Repositories {
		if repository.Git != nil {
			add(repository.Git.SSHKeyFile)
		}
	}
	for _, receiver := range piped.Notifications.Receivers {
		if receiver.Slack != nil {
			add(receiver.Slack.OAuthTokenFile)
		}
		if receiver.Webhook != nil {
			add(receiver.Webhook.SignatureValueFile)
		}
	}
	return files
}

// encryption is what the control plane learns of the keys. PipeCD's protocol knows no age keys.
func encryption(decrypter secrets.Decrypter) *model.Piped_SecretEncryption {
	if decrypter == nil || decrypter.PublicKey() == "" {
		return &model.Piped_SecretEncryption{Type: "NONE"}
	}
	return &model.Piped_SecretEncryption{Type: config.SecretsKeyPair, PublicKey: decrypter.PublicKey()}
}

// masking is the logger with secrets masked.
func masking(logger *slog.Logger, masker *secrets.Masker) *slog.Logger {
	return slog.New(secrets.Handler(logger.Handler(), masker))
}

// maskLine is pluginhost.Mask.
func (a *Agent) maskLine(line string, cut bool) string {
	if cut {
		return a.masker.MaskPiece(line)
	}
	return a.masker.Mask(line)
}
