// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
)

// noCluster is the kind of an environment without a cluster.
const noCluster = "none"

// shellPatience is how long a shell may take to end when the UI has to.
const shellPatience = time.Second

// Messages of a shell, in their order.
type (
	// shellMsg says that the kubeconfig of a cluster can be read here.
	shellMsg struct {
		cluster *deckv1.Cluster
		// pod is the one to open the shell in; nil for a shell of this machine.
		pod *deckv1.Resource
	}
	// shellEndedMsg says that the user has left the shell, or why it did not start.
	shellEndedMsg struct {
		err error
		// pod is the name of the pod that it was to be opened in; empty for one of this machine.
		pod string
	}
)

// shells opens shells for the user.
type shells struct {
	host   *host
	link   *link
	chosen *selection
}

func shellsOf(a *actions) shells { return shells{a.host, a.link, a.chosen} }

// cluster is where the selected application is deployed to: that of its first target, else the first of the
// environment; nil for none with a kubeconfig.
func (s shells) cluster() *deckv1.Cluster {
	app, environment := s.chosen.application(), s.link.deck.Environment()
	clusters := environment.GetClusters()
	if len(clusters) == 0 {
		clusters = []*deckv1.Cluster{{Kind: environment.GetClusterKind(), Kubeconfig: environment.GetKubeconfig()}}
	}
	found := clusters[0]
	if targets := app.GetDeployTargets(); len(targets) > 0 {
		_, target, _ := strings.Cut(targets[0], "/")
		for _, one := range clusters {
			if one.GetName() == target {
				found = one
			}
		}
	}
	if found.GetKind() == noCluster || found.GetKubeconfig() == "" {
		return nil
	}
	return found
}

// clusterOf is where a pod runs; for nil that of the selected application.
func (s shells) clusterOf(pod *deckv1.Resource) *deckv1.Cluster {
	_, target, _ := strings.Cut(pod.GetDeployTarget(), "/")
	for _, one := range s.link.deck.Environment().GetClusters() {
		if one.GetName() == target && one.GetKubeconfig() != "" {
			return one
		}
	}
	return s.cluster()
}

// refusal is why no shell can be opened; empty when one can.
func (s shells) refusal() string {
	switch {
	case s.link.deck.Environment() == nil:
		return "the cluster is not known yet"
	case s.cluster() == nil:
		return "the environment has no cluster; start one with --cluster"
	}
	return ""
}

// shell is the user's shell.
func (h *host) shell() string { return cmp.Or(lookup(h.cfg.Environ, "SHELL", ""), "/bin/sh") }

// open looks whether the kubeconfig is on this machine: the environment may run on another one.
func (s shells) open() tea.Cmd {
	return s.openIn(nil)
}

// openIn is open for a shell in a pod; nil for one of this machine.
func (s shells) openIn(pod *deckv1.Resource) tea.Cmd {
	cluster := s.clusterOf(pod)
	return s.host.work.do(func(context.Context) tea.Msg {
		file, err := os.Open(cluster.GetKubeconfig())
		if err == nil {
			err = file.Close()
		}
		if err != nil {
			return actionMsg{err: fmt.Errorf("cannot open a shell: cannot read %s: %s",
				text.Line(cluster.GetKubeconfig()), text.Line(bare(err).Error()))}
		}
		return shellMsg{cluster, pod}
	})
}

// run gives the terminal to the user's shell.
func (s shells) run(cluster *deckv1.Cluster) tea.Cmd {
	shell := s.host.shell()
	program := s.program(cluster, shell)
	words := fmt.Sprintf("\nThis is %s with KUBECONFIG=%s\n", text.Line(path.Base(shell)),
		text.Line(cluster.GetKubeconfig()))
	if name := cluster.GetName(); name != "" {
		words += fmt.Sprintf("kubectl works in the cluster %s of environment %s. ", text.Line(name),
			text.Line(s.host.cfg.Name))
	}
	words += "exit returns to pipedeck.\n\n"
	return tea.Exec(&editor{Cmd: program, clock: s.host.clock, words: words}, func(err error) tea.Msg {
		if code := (*exec.ExitError)(nil); errors.As(err, &code) {
			err = nil // that of the last command
		}
		return shellEndedMsg{err: err}
	})
}

// program prepares a program that knows the cluster.
func (s shells) program(cluster *deckv1.Cluster, name string, args ...string) *exec.Cmd {
	program := exec.CommandContext(s.host.work.ctx, name, args...)
	program.Env = append(s.host.cfg.Environ[:len(s.host.cfg.Environ):len(s.host.cfg.Environ)],
		"KUBECONFIG="+cluster.GetKubeconfig())
	// Unlike a kill, this lets the shell give the terminal back.
	program.Cancel, program.WaitDelay = func() error { return program.Process.Signal(syscall.SIGHUP) }, shellPatience
	return program
}

// take goes on with a shell.
func (s shells) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case shellMsg:
		if msg.pod != nil {
			return s.runIn(msg.cluster, msg.pod)
		}
		return s.run(msg.cluster)
	case shellEndedMsg:
		return s.ended(msg)
	}
	return nil
}

// ended says how a shell ended.
func (s shells) ended(msg shellEndedMsg) tea.Cmd {
	return tea.Batch(tea.ClearScreen, func() tea.Msg { // the shell has written there
		if msg.err != nil && msg.pod != "" {
			return actionMsg{err: fmt.Errorf("no shell in pod %s: %s", text.Line(msg.pod), text.Line(msg.err.Error()))}
		}
		if msg.err != nil {
			return actionMsg{err: fmt.Errorf("cannot start %s: %s; set SHELL and start the UI again",
				text.Line(s.host.shell()), text.Line(bare(msg.err).Error()))}
		}
		return actionMsg{done: "the shell has ended"}
	})
}

// bare is an error about a path without the path.
func bare(err error) error {
	if about := (*fs.PathError)(nil); errors.As(err, &about) {
		return about.Err
	}
	return err
}
