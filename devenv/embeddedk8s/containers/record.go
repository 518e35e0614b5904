// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// endPatience bounds the wait for the end of what was killed; endPoll is the time between two looks.
const (
	endPatience = 5 * time.Second
	endPoll     = 5 * time.Millisecond
)

// records are files that name the process groups which may run: one for each, named by its number.
type records struct{ dir string }

// record identifies a process for as long as the machine runs.
type record struct {
	PID int `json:"pid"`
	// Started is in units of the system.
	Started uint64 `json:"started"`
	// Session is the session of the process; 0 where the system does not show it.
	Session int `json:"session,omitempty"`
	// Mark is in the environment of the process and of those that it has started; empty for none.
	Mark string `json:"mark,omitempty"`
}

func (r records) path(pid int) string { return filepath.Join(r.dir, strconv.Itoa(pid)+".json") }

func (r records) write(pid int, mark string) error {
	started, ok := startOf(pid)
	if !ok {
		return nil // it has ended
	}
	content, err := json.Marshal(record{PID: pid, Started: started, Session: sessionOf(pid), Mark: mark})
	if err == nil {
		err = os.WriteFile(r.path(pid), content, 0o600)
	}
	if err != nil {
		return fmt.Errorf("record process %d: %w", pid, err)
	}
	return nil
}

func (r records) remove(pid int) { _ = os.Remove(r.path(pid)) }

// endLeft ends the process groups that are recorded and still there, and what carries their marks. A number that
// another process has by now is left alone.
func (r records) endLeft() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return fmt.Errorf("read the records of processes: %w", err)
	}
	var left []record
	marks := map[string]bool{}
	for _, entry := range entries {
		var last record
		content, err := os.ReadFile(filepath.Join(r.dir, entry.Name()))
		if err != nil || json.Unmarshal(content, &last) != nil || last.PID <= 1 {
			continue // half written: its process was ended by the kernel or by the environment
		}
		if last.Mark != "" {
			marks[last.Mark] = true
		}
		if last.runs() {
			_ = syscall.Kill(-last.PID, syscall.SIGKILL)
			left = append(left, last)
			continue
		}
		last.endOthers()
	}
	endMarked(marks)
	deadline := time.Now().Add(endPatience)
	for _, last := range left {
		for last.runs() {
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d of an earlier run of this cluster does not end\nnext step: end it, or "+
					"restart the machine", last.PID)
			}
			time.Sleep(endPoll)
		}
	}
	for _, entry := range entries {
		if err := os.Remove(filepath.Join(r.dir, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the record of a process: %w", err)
		}
	}
	return nil
}

// runs reports whether the same process is still there and has not ended.
func (r record) runs() bool {
	started, ok := startOf(r.PID)
	return ok && started == r.Started
}
