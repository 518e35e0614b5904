// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// The states of a recorded cluster.
const (
	StateCreating = "creating"
	StateReady    = "ready"
)

// MaxNodes is more nodes than one machine carries well.
const MaxNodes = 32

// engineNames are the commands that kind knows.
var engineNames = []string{"docker", "nerdctl", "podman", "finch", "nerdctl.lima"}

const (
	namePrefix = "pipedeck-"
	// maxName leaves room for kind's longest suffix, "-external-load-balancer", in a host name.
	maxName = 40
	// maxRecord bounds what is read; a record is far smaller.
	maxRecord = 64 << 10
)

// Record says what this machine holds of ours.
type Record struct {
	State string `json:"state"`
	// Cluster is the name that kind knows.
	Cluster string `json:"cluster"`
	Engine  string `json:"engine"`
	// Nodes are the containers that the creation makes, of Image.
	Nodes []string `json:"nodes"`
	Image string   `json:"image"`
	// NetworkBefore is the id of kind's network that was there before the cluster, if any.
	NetworkBefore string `json:"networkBefore,omitempty"`
	// ExportedTo is the user's kubeconfig that has a context of the cluster, if any.
	ExportedTo string `json:"exportedTo,omitempty"`
	// ContextBefore was current there, if any.
	ContextBefore string `json:"contextBefore,omitempty"`
}

// Name returns the name that kind gives the cluster of an environment. It cannot be that of a user's own cluster: the
// sum of the directory is part of it.
func Name(environment, cluster, dir string) string {
	sum := sha256.Sum256([]byte(filepath.Clean(dir)))
	suffix := "-" + hex.EncodeToString(sum[:4])
	middle := environment
	if cluster != workspace.TargetName {
		middle += "-" + cluster
	}
	room := maxName - len(namePrefix) - len(suffix)
	return namePrefix + strings.Trim(middle[:min(len(middle), room)], "-") + suffix
}

func file(dir string) string { return filepath.Join(dir, "kind.json") }

// Recorded reports whether dir names a cluster that may still be there.
func Recorded(dir string) bool {
	_, err := os.Lstat(file(dir))
	return err == nil
}

// Read returns the record in dir, nil when there is none.
func Read(dir string) (*Record, error) {
	path := file(dir)
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the cluster's record: %w", err)
	}
	if info.Size() > maxRecord {
		return nil, &unusableError{path, errors.New("it is too large")}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the cluster's record: %w", err)
	}
	return decode(path, data)
}

// decode trusts nothing that could lead to clusters of others.
func decode(path string, data []byte) (*Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, &unusableError{path, err}
	}
	switch {
	case r.State != StateCreating && r.State != StateReady:
		return nil, &unusableError{path, fmt.Errorf("unknown state %q", r.State)}
	case !strings.HasPrefix(r.Cluster, namePrefix) || len(r.Cluster) > maxName ||
		strings.Trim(r.Cluster, nameLetters) != "":
		return nil, &unusableError{path, fmt.Errorf("%q is no cluster of ours", r.Cluster)}
	case !slices.Contains(engineNames, r.Engine):
		return nil, &unusableError{path, fmt.Errorf("unknown container engine %q", r.Engine)}
	case len(r.Nodes) > MaxNodes+1:
		return nil, &unusableError{path, fmt.Errorf("%d nodes are too many", len(r.Nodes))}
	}
	for _, node := range r.Nodes {
		if !strings.HasPrefix(node, r.Cluster+"-") || strings.Trim(node, nameLetters) != "" {
			return nil, &unusableError{path, fmt.Errorf("%q is no node of ours", node)}
		}
	}
	return &r, nil
}

const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

// Write stores the record in dir, which it creates.
func (r *Record) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the cluster's directory: %w", err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the cluster's record: %w", err)
	}
	if err := workspace.WriteFile(file(dir), data); err != nil {
		return fmt.Errorf("write the cluster's record: %w", err)
	}
	return nil
}

// unusableError is a record that cannot be used; the cluster that it named is left as it is.
type unusableError struct {
	path string
	err  error
}

func (e *unusableError) Error() string {
	return fmt.Sprintf("the record of the kind cluster in %s is damaged: %v", e.path, e.err)
}

func (e *unusableError) Unwrap() error { return e.err }

// HasOurName reports whether a container has a name such as the nodes of our clusters have. The name proves nothing:
// only a record does.
func HasOurName(node string) bool { return strings.HasPrefix(node, namePrefix) }

// RecordedName returns the name of the cluster that the record in dir names, or "" when there is no record that can be
// read.
func RecordedName(dir string) string {
	known, err := Read(dir)
	if err != nil || known == nil {
		return ""
	}
	return known.Cluster
}

// Forget drops the record of a cluster that is not ours.
func Forget(dir string) error {
	if err := os.Remove(file(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the cluster's record: %w", err)
	}
	return nil
}

// RemoveFiles removes what is on this machine of a cluster that is gone, or that was never made.
func RemoveFiles(dir, kubeconfig string) error {
	if err := os.Remove(kubeconfig); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("delete the kind cluster's kubeconfig: %w", err)
	}
	if err := workspace.RemoveCluster(dir); err != nil {
		return fmt.Errorf("delete the kind cluster's record: %w", err)
	}
	return nil
}

// Directories returns the directories with a record in an environment, by the names of the clusters.
func Directories(w *workspace.Workspace) (map[string]string, error) {
	names, err := w.ClusterNames()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, name := range names {
		if dir := w.ClusterDir(name); Recorded(dir) {
			found[name] = dir
		}
	}
	return found, nil
}
