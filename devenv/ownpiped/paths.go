// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ownpiped

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// gitFiles and secretFiles are the keys with paths of files.
var (
	gitFiles    = []string{"sshKeyFile", "knownHostsFile"}
	secretFiles = []string{
		"privateKeyFile", "publicKeyFile", "identityFile", "decryptServiceAccountFile", "encryptServiceAccountFile",
	}
)

// resolvePaths makes the paths of the file absolute, and reports files that cannot be read. Those that plugins own are
// read by the plugins, in the directory of the file.
func (c *Config) resolvePaths() {
	c.files(mapping(c.spec, "git"), "spec.git", gitFiles...)
	if path, ok := mapping(c.spec, "git")["sshConfigFilePath"].(string); ok && path != "" {
		mapping(c.spec, "git")["sshConfigFilePath"] = c.absolute(path) // PipeCD's piped creates it
	}
	for i, repository := range list(c.spec, "repositories") {
		c.files(mapping(repository, "git"), fmt.Sprintf("spec.repositories[%d].git", i), gitFiles...)
	}
	for i, receiver := range list(mapping(c.spec, "notifications"), "receivers") {
		at := fmt.Sprintf("spec.notifications.receivers[%d]", i)
		c.files(mapping(receiver, "slack"), at+".slack", "oauthTokenFile")
		c.files(mapping(receiver, "webhook"), at+".webhook", "signatureValueFile")
	}
	secrets := mapping(mapping(c.spec, "secretManagement"), "config")
	c.files(secrets, "spec.secretManagement.config", secretFiles...)
	if s := c.Piped.SecretManagement; s != nil {
		for key, value := range map[string]*string{
			"privateKeyFile": &s.Config.PrivateKeyFile, "publicKeyFile": &s.Config.PublicKeyFile,
			"identityFile": &s.Config.IdentityFile,
		} {
			*value, _ = secrets[key].(string)
		}
	}
	if index, ok := c.spec["pluginIndex"].(string); ok && index != "" && !strings.Contains(index, "://") {
		c.spec["pluginIndex"] = c.absolute(index)
	}
}

// files makes paths of files absolute.
func (c *Config) files(in map[string]any, field string, keys ...string) {
	for _, key := range keys {
		path, ok := in[key].(string)
		if !ok || path == "" {
			continue
		}
		in[key] = c.absolute(path)
		if problem := unreadable(c.absolute(path)); problem != "" {
			c.report.Add(field+"."+key, problem)
		}
	}
}

func (c *Config) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}

// unreadable says why a file cannot be read; empty when it can.
func unreadable(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + " does not exist; relative paths begin at the directory of this file"
	case err != nil:
		return err.Error()
	case info.IsDir():
		return path + " is a directory: want a file"
	case !info.Mode().IsRegular():
		return "" // such as a pipe, which only one reader gets
	}
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	_ = file.Close() // nothing was written
	return ""
}
