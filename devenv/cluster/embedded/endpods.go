// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/system/processtree"
)

// What the server keeps of its pods in the cluster's data while it runs, and what is there after it was killed (package
// containers of the embedded Kubernetes).
const (
	// podsGroup begins the names of the control groups of the pods, and podsNote is the file with their directories,
	// one a line.
	podsGroup = "pipedeck-pods-"
	podsNote  = "pods/cgroup"
	// podsRecords are the files that name process groups.
	podsRecords = "pods/processes/*.json"
)

// podRecord is what is read of such a file. Times are in units of the system.
type podRecord struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started"`
	Session int    `json:"session"`
}

// EndPods ends what a server that was killed has left of its pods: what is in their control groups and process groups,
// also where it has cleared its environment. It removes the control groups. Ended are the processes that were found.
// The server of the data in dir does not run.
func EndPods(ctx context.Context, dir string) (ended []processtree.Process, err error) {
	tree := processtree.New()
	content, _ := os.ReadFile(filepath.Join(dir, podsNote))
	for line := range strings.Lines(string(content)) {
		group := strings.TrimSpace(line)
		if filepath.IsAbs(group) && strings.HasPrefix(filepath.Base(group), podsGroup) {
			if err := tree.UseGroup(group); err != nil {
				return nil, err
			}
		}
	}
	records, err := filepath.Glob(filepath.Join(dir, podsRecords))
	if err != nil {
		return nil, err
	}
	for _, file := range records {
		var record podRecord
		content, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(content, &record) != nil || record.PID <= 1 {
			continue // half written: what it is of has not begun
		}
		tree.UseProcessGroup(record.PID, record.Session, record.Started)
	}
	ctx, cancel := context.WithTimeout(ctx, processtree.EndTimeout)
	defer cancel()
	if ended, err = tree.End(ctx); err == nil {
		tree.RemoveGroups()
	}
	return ended, err
}
