// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/system/filewatch"
	"github.com/pipedeck/pipedeck/system/owned"
)

// Running is what the process that holds the lock publishes for others.
type Running struct {
	PID int `json:"pid"`
	// Address is the host:port of the control plane.
	Address string `json:"address"`
	// Metrics is the host:port at which Prometheus finds /metrics; empty when it is not served.
	Metrics   string    `json:"metrics,omitempty"`
	StartedAt time.Time `json:"startedAt"`
	// Clusters are the kinds of the environment's clusters, by name.
	Clusters map[string]string `json:"clusters"`
	// Live says that the working tree is deployed as it is on disk.
	Live bool `json:"live,omitempty"`
	// Removes says that the environment removes what it made when its process ends.
	Removes bool `json:"removes,omitempty"`
	// Restart starts the environment again as it was started; nil when an older pipedeck has started it.
	Restart *Restart `json:"restart,omitempty"`
	// Ends says that the process ends in order: what its control plane has said is complete.
	Ends bool `json:"ends,omitempty"`
	// ReplacedAt is when the process ended for another one to take its place; the zero time for other ends.
	ReplacedAt time.Time `json:"replacedAt,omitzero"`
	// Processes are the children that were started, by component. They die with their parent;
	// the list shows the user what a killed environment left behind.
	Processes map[string]Child `json:"processes,omitempty"`
}

// Restart is a command line of the host: flags and the repository, relative to Directory.
type Restart struct {
	Arguments []string `json:"arguments"`
	Directory string   `json:"directory"`
}

// Child identifies a child process.
type Child struct {
	PID int `json:"pid"`
	// CreatedAt is the start time in milliseconds, as the kernel reports it: ids are used again.
	CreatedAt int64 `json:"createdAt"`
}

// maxRunning bounds what is read of the files that Publish writes, in bytes.
const maxRunning = 1 << 20

// runningFile is the name of the file with what Publish writes, lastRunFile that of the copy which Withdraw leaves.
const (
	runningFile = "running.json"
	lastRunFile = "last-run.json"
)

// Publish writes what others need to reach the environment.
func (w *Workspace) Publish(r Running) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	for _, file := range []string{lastRunFile, runningFile} {
		if err := WriteFile(w.Path(file), append(data, '\n')); err != nil {
			return err
		}
	}
	if err := WriteFile(w.Path(metricsFile), []byte(r.Metrics+"\n")); err != nil {
		return err
	}
	return WriteFile(w.Path(addressFile), []byte(r.Address+"\n"))
}

// The files with the addresses of the last run.
const (
	addressFile = "address"
	metricsFile = "metrics-address"
)

// LastAddress is the address of the last run, which Withdraw leaves. One that is not on the loopback
// interface is an error.
func (w *Workspace) LastAddress() (string, error) { return readAddress(w.Path(addressFile)) }

// LastMetricsAddress is LastAddress for the metrics.
func (w *Workspace) LastMetricsAddress() (string, error) { return readAddress(w.Path(metricsFile)) }

func readAddress(path string) (string, error) {
	data, err := owned.ReadFile(path, maxRunning)
	if err != nil {
		return "", err
	}
	last := strings.TrimSpace(string(data))
	if parsed, err := netip.ParseAddrPort(last); err != nil || !parsed.Addr().IsLoopback() {
		return "", fmt.Errorf("%s does not hold an address of the loopback interface", path)
	}
	return last, nil
}

// Withdraw removes what Publish wrote.
func (w *Workspace) Withdraw() error {
	if err := os.Remove(w.Path(runningFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Published returns what the last holder of the lock wrote, or os.ErrNotExist. It may be dead.
func (w *Workspace) Published() (*Running, error) { return readRunning(w, runningFile) }

// LastRun is Published for a run that may have ended, too.
func (w *Workspace) LastRun() (*Running, error) { return readRunning(w, lastRunFile) }

func readRunning(w *Workspace, file string) (*Running, error) {
	data, err := owned.ReadFile(w.Path(file), maxRunning)
	if err != nil {
		return nil, err
	}
	var r Running
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read %s: %w", w.Path(file), err)
	}
	return &r, nil
}

// AwaitPublished is Published for an environment whose holder has the lock but has not published
// yet, as in the first moments of a start. It ends with ctx.
func (w *Workspace) AwaitPublished(ctx context.Context) (*Running, error) {
	if running, err := w.Published(); !errors.Is(err, os.ErrNotExist) {
		return running, err // which needs no watch, of which there may be none left
	}
	watcher := filewatch.New(filewatch.Options{Most: 1})
	defer watcher.Close()
	if err := watcher.Add(w.Dir); err != nil {
		return nil, err
	}
	for {
		running, err := w.Published()
		if !errors.Is(err, os.ErrNotExist) {
			return running, err
		}
		select {
		case <-watcher.Events():
		case <-watcher.Lost():
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Alive reports whether a process holds the environment's lock.
func (w *Workspace) Alive() (bool, error) {
	lock, err := w.AcquireExisting()
	switch {
	case errors.Is(err, ErrLocked):
		return true, nil
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return false, lock.Release()
}
