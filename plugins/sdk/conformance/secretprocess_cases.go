// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func secretsOfProcesses(p *probe) error {
	if !observable {
		return skip("the command lines of processes are seen on Linux alone")
	}
	found, err := p.planted()
	if err != nil {
		return err
	}
	for _, line := range found.commands {
		for _, secret := range []string{secretOfConfig, secretOfTarget, secretOfOptions, secretOfFile} {
			if holds(line, secret) {
				program, _, _ := strings.Cut(line, " ")
				return fmt.Errorf("the secret is on the command line of %s", filepath.Base(program))
			}
		}
	}
	if len(found.commands) == 0 {
		return skip("it started no process that was seen")
	}
	return nil
}

// watchEvery is how often the command lines are looked at.
const watchEvery = 30 * time.Millisecond

// commandWatch collects the command lines of all processes that a program starts. The zero value watches nothing.
type commandWatch struct {
	stopped chan struct{}
	ended   sync.WaitGroup

	mu    sync.Mutex
	lines map[string]bool
}

// begin watches a process until stop, in the place of another one.
func (w *commandWatch) begin(process *process) {
	w.stop()
	stopped := make(chan struct{})
	w.stopped = stopped
	w.ended.Go(func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			w.look(process)
			select {
			case <-ticker.C:
			case <-process.exited:
				return
			case <-stopped:
				return
			}
		}
	})
}

// look takes the command lines of now. That of the plugin itself is of piped, also where a script starts the plugin,
// and a process that it forks has it until it begins its program.
func (w *commandWatch) look(process *process) {
	lines := commandLines(process.mark, process.command.Process.Pid)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range lines {
		if strings.TrimSpace(line) != "" && !strings.Contains(line, "--piped-plugin-service") {
			w.lines[line] = true
		}
	}
}

// stop ends the watch and returns what was seen.
func (w *commandWatch) stop() []string {
	if w.stopped != nil {
		close(w.stopped)
		w.stopped = nil
	}
	w.ended.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return sortedKeys(w.lines)
}
