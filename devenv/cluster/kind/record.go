// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

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
	stateCreating = "creating"
	stateReady    = "ready"
)

const (
	namePrefix = "pipedeck-"
	// maxName leaves room for kind's longest suffix, "-external-load-balancer", in a host name.
	maxName = 40
	// maxRecord bounds what is read; a record is far smaller.
	maxRecord = 64 << 10
)

// record says what this machine holds of ours.
type record struct {
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

// clusterName cannot be that of a user's own cluster: the sum of the directory is part of it.
func clusterName(c Config) string {
	sum := sha256.Sum256([]byte(filepath.Clean(c.Dir)))
	suffix := "-" + hex.EncodeToString(sum[:4])
	middle := c.Environment
	if c.Cluster != workspace.TargetName {
		middle += "-" + c.Cluster
	}
	room := maxName - len(namePrefix) - len(suffix)
	return namePrefix + strings.Trim(middle[:min(len(middle), room)], "-") + suffix
}

func recordFile(dir string) string { return filepath.Join(dir, "kind.json") }

// Recorded reports whether dir names a cluster that may still be there.
func Recorded(dir string) bool {
	_, err := os.Lstat(recordFile(dir))
	return err == nil
}

// readRecord returns nil when there is none.
func readRecord(dir string) (*record, error) {
	path := recordFile(dir)
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the cluster's record: %w", err)
	}
	if info.Size() > maxRecord {
		return nil, &recordError{path, errors.New("it is too large")}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the cluster's record: %w", err)
	}
	return decodeRecord(path, data)
}

// decodeRecord trusts nothing that could lead to clusters of others.
func decodeRecord(path string, data []byte) (*record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, &recordError{path, err}
	}
	switch {
	case r.State != stateCreating && r.State != stateReady:
		return nil, &recordError{path, fmt.Errorf("unknown state %q", r.State)}
	case !strings.HasPrefix(r.Cluster, namePrefix) || len(r.Cluster) > maxName ||
		strings.Trim(r.Cluster, nameLetters) != "":
		return nil, &recordError{path, fmt.Errorf("%q is no cluster of ours", r.Cluster)}
	case !slices.Contains(engineNames, r.Engine):
		return nil, &recordError{path, fmt.Errorf("unknown container engine %q", r.Engine)}
	case len(r.Nodes) > maxNodes+1:
		return nil, &recordError{path, fmt.Errorf("%d nodes are too many", len(r.Nodes))}
	}
	for _, node := range r.Nodes {
		if !strings.HasPrefix(node, r.Cluster+"-") || strings.Trim(node, nameLetters) != "" {
			return nil, &recordError{path, fmt.Errorf("%q is no node of ours", node)}
		}
	}
	return &r, nil
}

const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

func (r *record) write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the cluster's directory: %w", err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the cluster's record: %w", err)
	}
	if err := workspace.WriteFile(recordFile(dir), data); err != nil {
		return fmt.Errorf("write the cluster's record: %w", err)
	}
	return nil
}

// recordError is a record that cannot be used; the cluster that it named is left as it is.
type recordError struct {
	path string
	err  error
}

func (e *recordError) Error() string {
	return fmt.Sprintf("the record of the kind cluster in %s is damaged: %v", e.path, e.err)
}

func (e *recordError) Unwrap() error { return e.err }

// HasOurName reports whether a container has a name such as the nodes of our clusters have. The name proves nothing:
// only a record does.
func HasOurName(node string) bool { return strings.HasPrefix(node, namePrefix) }

// RecordedName returns the name of the cluster that the record in dir names, or "" when there is no record that can be
// read.
func RecordedName(dir string) string {
	known, err := readRecord(dir)
	if err != nil || known == nil {
		return ""
	}
	return known.Cluster
}
