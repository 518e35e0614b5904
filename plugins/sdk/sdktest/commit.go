// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// ConfigFilename is the name of the application configuration that WriteCommit looks for.
const ConfigFilename = "app.pipecd.yaml"

// Commit is the application as it is at one commit.
type Commit struct {
	Hash string
	// Dir holds the files of the application.
	Dir string
	// Config is the application configuration (YAML), which need not be a file in Dir.
	Config string
}

// WriteCommit writes files, by their paths below the directory of the application, to a directory that is removed with
// the test. Config is the content of the one with the name ConfigFilename, if there is one.
func WriteCommit(t testing.TB, hash string, files map[string]string) *Commit {
	t.Helper()
	dir := t.TempDir()
	for path, content := range files {
		if !filepath.IsLocal(path) {
			t.Fatalf("write the commit %s: %s is not below the directory of the application", hash, path)
		}
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &Commit{Hash: hash, Dir: dir, Config: files[ConfigFilename]}
}

// Source is what a function of a plugin gets of a commit. app is the plugin's part of the configuration.
func Source[App any](c *Commit, app App) *sdk.Source[App] {
	return &sdk.Source[App]{Dir: c.Dir, CommitHash: c.Hash, ConfigFilename: ConfigFilename,
		ConfigData: []byte(c.Config), SharedConfigDir: filepath.Join(filepath.Dir(c.Dir), ".pipe"), App: app}
}

// wire is nil for no commit.
func (c *Commit) wire() *common.DeploymentSource {
	if c == nil {
		return nil
	}
	return &common.DeploymentSource{ApplicationDirectory: c.Dir, CommitHash: c.Hash,
		ApplicationConfigFilename: ConfigFilename, ApplicationConfig: []byte(c.Config)}
}
