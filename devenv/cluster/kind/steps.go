// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kind/pkg/exec"
	"sigs.k8s.io/kind/pkg/log"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/system/owned"
)

// steps is a logger of kind's library that turns the library's steps into progress.
type steps struct {
	progress cluster.Progress
	log      *logFile
	total    int64

	mu   sync.Mutex
	done int64
}

var _ log.Logger = (*steps)(nil)

func newSteps(progress cluster.Progress, log *logFile, wanted *v1alpha4.Cluster) *steps {
	return &steps{progress: progress, log: log, total: countSteps(wanted)}
}

// countSteps counts the steps of kind's library for this configuration, and the wait for the nodes.
func countSteps(wanted *v1alpha4.Cluster) int64 {
	// Preparing the nodes, their configuration, the control plane, the storage class, the wait.
	total := int64(5 + len(nodeImages(wanted)))
	controlPlanes := 0
	for _, node := range wanted.Nodes {
		if node.Role != v1alpha4.WorkerRole {
			controlPlanes++
		}
	}
	if !wanted.Networking.DisableDefaultCNI {
		total++
	}
	if controlPlanes > 1 {
		total += 2 // the load balancer, more control planes
	}
	if len(wanted.Nodes) > controlPlanes {
		total++
	}
	return total
}

// The marks by which kind's library begins and ends a step in its output.
const (
	markBegin = "•"
	markEnd   = "✓"
)

func (s *steps) info(message string) {
	s.log.write(message)
	message = strings.TrimSpace(message)
	s.mu.Lock()
	defer s.mu.Unlock()
	if step, ok := strings.CutPrefix(message, markBegin); ok {
		s.progress(plain(step), s.done, s.total)
	} else if strings.HasPrefix(message, markEnd) {
		s.done = min(s.done+1, s.total)
	}
}

// waiting is the last step, which is ours.
func (s *steps) waiting(detail string) { s.progress(detail, s.total-1, s.total) }

// plain leaves out pictures and the trailing dots.
func plain(step string) string {
	step = strings.Map(func(r rune) rune {
		if r > unicode.MaxLatin1 {
			return -1
		}
		return r
	}, step)
	return strings.TrimRight(strings.TrimSpace(step), ". ")
}

// Warn implements log.Logger.
func (s *steps) Warn(message string) { s.log.write("warning: " + message) }

// Warnf implements log.Logger.
func (s *steps) Warnf(format string, args ...any) { s.Warn(fmt.Sprintf(format, args...)) }

// Error implements log.Logger.
func (s *steps) Error(message string) { s.log.write("error: " + message) }

// Errorf implements log.Logger.
func (s *steps) Errorf(format string, args ...any) { s.Error(fmt.Sprintf(format, args...)) }

// V implements log.Logger. Debugging goes to the log file only.
func (s *steps) V(level log.Level) log.InfoLogger { return &stepInfo{s, level} }

// stepInfo writes messages of one level.
type stepInfo struct {
	steps *steps
	level log.Level
}

func (i *stepInfo) Info(message string) {
	switch {
	case i.level == 0:
		i.steps.info(message)
	case i.Enabled():
		i.steps.log.write(message)
	}
}

func (i *stepInfo) Infof(format string, args ...any) { i.Info(fmt.Sprintf(format, args...)) }

// Enabled leaves out the highest levels, in which kind prints whole files of keys.
func (i *stepInfo) Enabled() bool { return i.level <= 1 }

// logFile keeps kind's words; a failure to write must not end a creation.
type logFile struct{ file *owned.Log }

func openLog(path string) (*logFile, error) {
	file, err := owned.OpenLog(path, owned.MaxLog)
	if err != nil {
		return nil, fmt.Errorf("open the cluster's log: %w", err)
	}
	return &logFile{file}, nil
}

func (l *logFile) write(message string) {
	_, _ = fmt.Fprintln(l.file, strings.TrimRight(message, "\n"))
}

// failure writes the whole output of the command that failed.
func (l *logFile) failure(err error) {
	l.write("error: " + err.Error())
	var failed *exec.RunError
	if errors.As(err, &failed) {
		l.write(string(failed.Output))
	}
}

// Close closes the file.
func (l *logFile) Close() error { return l.file.Close() }
