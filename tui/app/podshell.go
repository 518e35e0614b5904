// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
)

// kubectl is the user's, which speaks with every cluster; the UI has no client of Kubernetes.
const kubectl = "kubectl"

// kubectlPath is the kubectl of the user's PATH; empty for none.
func (h *host) kubectlPath() string {
	for _, dir := range filepath.SplitList(lookup(h.cfg.Environ, "PATH", "")) {
		path := filepath.Join(dir, kubectl)
		info, err := os.Stat(path)
		if err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// refusalIn is why no shell can be opened in a pod; empty when one can.
func (s shells) refusalIn() string {
	if reason := s.refusal(); reason != "" {
		return reason
	}
	if s.host.kubectlPath() == "" {
		return "kubectl is not in PATH; install it and start the UI again"
	}
	return ""
}

// runIn gives the terminal to a shell in a pod.
func (s shells) runIn(cluster *deckv1.Cluster, pod *deckv1.Resource) tea.Cmd {
	program := s.program(cluster, s.host.kubectlPath(), "exec", "-it", "-n", pod.GetNamespace(), pod.GetName(),
		"--", "sh")
	failure := &lastLine{}
	words := fmt.Sprintf("\nThis is sh in pod %s/%s. exit returns to pipedeck.\n\n", text.Line(pod.GetNamespace()),
		text.Line(pod.GetName()))
	shell := &podShell{&editor{Cmd: program, clock: s.host.clock, words: words}, failure}
	return tea.Exec(shell, func(err error) tea.Msg {
		if said := failure.text; err != nil && said != "" && !strings.HasPrefix(said, "command terminated") {
			return shellEndedMsg{err: errors.New(said), pod: pod.GetName()}
		}
		return shellEndedMsg{}
	})
}

// podShell is kubectl exec. With a terminal, what the pod writes is standard output, and standard error holds kubectl's
// own words alone.
type podShell struct {
	*editor
	failure *lastLine
}

// SetStderr implements tea.ExecCommand: the terminal does not get it.
func (s *podShell) SetStderr(io.Writer) { s.Stderr = s.failure }

// maxLastLine bounds what is kept of a line, in bytes.
const maxLastLine = 1 << 10

// lastLine keeps the last line that was written.
type lastLine struct{ text string }

func (l *lastLine) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if line = strings.TrimSpace(line); line != "" {
			l.text = line[:min(len(line), maxLastLine)]
		}
	}
	return len(p), nil
}
