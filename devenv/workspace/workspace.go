// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// nameRule keeps names usable as a directory, a kubeconfig context and a container name.
var nameRule = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)

// Workspace is the directory of one environment.
type Workspace struct {
	// Name is the name of the environment.
	Name string
	// Dir is an absolute path.
	Dir string
}

// At returns the workspace of an environment below root without touching the disk. The name must
// consist of at most 40 lower-case letters, digits and dashes.
func At(root, name string) (*Workspace, error) {
	if !nameRule.MatchString(name) {
		return nil, fmt.Errorf("environment name %q: use at most 40 lower-case letters, digits and dashes", name)
	}
	dir, err := filepath.Abs(filepath.Join(root, name))
	if err != nil {
		return nil, fmt.Errorf("locate environment %s: %w", name, err)
	}
	return &Workspace{Name: name, Dir: dir}, nil
}

// Create makes the directories.
func (w *Workspace) Create() error {
	for _, dir := range []string{w.Dir, w.SecretsDir(), w.PluginLogsDir(), w.PipedDir(), w.Path("cluster")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the environment's directory (choose another with --state-dir): %w", err)
		}
	}
	return nil
}

// Exists tells whether the environment has left anything on disk.
func (w *Workspace) Exists() bool {
	_, err := os.Stat(w.Dir)
	return err == nil
}

// Remove deletes the environment's directory. The caller has stopped everything that uses it.
func (w *Workspace) Remove() error {
	if err := os.RemoveAll(w.Dir); err != nil {
		return fmt.Errorf("remove the environment's directory: %w", err)
	}
	// The root goes with its last environment; with others in it this does nothing.
	_ = os.Remove(filepath.Dir(w.Dir))
	return nil
}

// Path joins elements to the directory.
func (w *Workspace) Path(elements ...string) string {
	return filepath.Join(append([]string{w.Dir}, elements...)...)
}

// SecretsDir holds the generated keys.
func (w *Workspace) SecretsDir() string { return w.Path("secrets") }

// LogsDir holds the output of every process of the environment.
func (w *Workspace) LogsDir() string { return w.Path("logs") }

// PluginLogsDir holds a file for each plugin, named <plugin>.log, and its rotated predecessors.
func (w *Workspace) PluginLogsDir() string { return filepath.Join(w.LogsDir(), "plugins") }

// PluginProgram is the program of a plugin that the environment builds. Its ending keeps names such as
// ".." inside the folder.
func (w *Workspace) PluginProgram(name string) string {
	return w.Path("plugins", url.PathEscape(name)+".bin")
}

// PipedDir holds piped's mirrors, sources, plugin binaries and tools.
func (w *Workspace) PipedDir() string { return w.Path("piped") }

// PipedConfig is the piped configuration made for this environment.
func (w *Workspace) PipedConfig() string { return w.Path("piped.yaml") }

// History holds what the control plane knows of applications and deployments.
func (w *Workspace) History() string { return w.Path("history") }

// ClusterDir holds what is stored about the named cluster, or all of it if it lives on this machine.
func (w *Workspace) ClusterDir(name string) string { return w.Path("cluster", name) }

// ClusterNames returns the names of the clusters that something is stored about.
func (w *Workspace) ClusterNames() ([]string, error) {
	entries, err := os.ReadDir(w.Path("cluster"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list the environment's clusters: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && CheckClusterName(entry.Name()) == nil {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// ClusterLog is the output of the named cluster's process.
func (w *Workspace) ClusterLog(name string) string {
	return filepath.Join(w.LogsDir(), strings.TrimSuffix("cluster-"+name, "-"+TargetName)+".log")
}

// Kubeconfig reaches the named cluster.
func (w *Workspace) Kubeconfig(name string) string {
	return w.Path(strings.TrimSuffix("kubeconfig-"+name, "-"+TargetName))
}

// CheckClusterName tells whether a cluster, and so a deploy target, can have that name.
func CheckClusterName(name string) error {
	if len(name) > 20 || !nameRule.MatchString(name) {
		return fmt.Errorf("cluster name %q: use at most 20 lower-case letters, digits and dashes", name)
	}
	return nil
}

// Snapshots is the repository with snapshots of a working tree.
func (w *Workspace) Snapshots() string { return w.Path("live.git") }

// SampleRepository is where the sample repository is made.
func (w *Workspace) SampleRepository() string { return w.Path("repository") }

// List returns the environments below root that left something on disk, by name.
func List(root string) ([]*Workspace, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list environments: %w", err)
	}
	var found []*Workspace
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if w, err := At(root, entry.Name()); err == nil {
			found = append(found, w)
		}
	}
	return found, nil
}
