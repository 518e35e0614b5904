// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// clusterless is an environment that was started with --cluster none; its application is reached nowhere.
func clusterless() *deckv1.Environment {
	e := decktest.Environment()
	e.ClusterKind, e.Kubeconfig, e.Clusters = "none", "", nil
	return e
}

// twoClusters is an environment whose kubeconfigs are files of the test; the example is deployed to the second.
func twoClusters(t *testing.T) *deckv1.Environment {
	t.Helper()
	e, dir := decktest.Environment(), t.TempDir()
	e.Clusters = []*deckv1.Cluster{{Name: "first", Kind: "embedded"}, {Name: "local", Kind: "embedded"}}
	for _, cluster := range e.Clusters {
		cluster.Kubeconfig = filepath.Join(dir, cluster.GetName())
		require.NoError(t, os.WriteFile(cluster.GetKubeconfig(), nil, 0o600))
	}
	return e
}

// shellWith starts the UI with a shell that is this script.
func shellWith(t *testing.T, environment *deckv1.Environment, script string) *terminal {
	t.Helper()
	server := decktest.Start(t)
	app := decktest.Application()
	app.DeployTargets = []string{"kubernetes/local"}
	server.Publish(append(decktest.Running(), environment, app)...)
	shell := filepath.Join(t.TempDir(), "mysh")
	if script != "" {
		require.NoError(t, os.WriteFile(shell, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	s := session{client: dial(t, server), width: 160, height: 45,
		environ: []string{"SHELL=" + shell, "KUBECONFIG=/elsewhere"}}.start(t, t.Context())
	s.seesText("press a to approve")
	return s
}

func TestAShellWorksInTheClusterAndReturns(t *testing.T) {
	t.Parallel()
	signals.RLock()
	defer signals.RUnlock()
	environment := twoClusters(t)
	s := shellWith(t, environment,
		`echo "config: $(basename "$KUBECONFIG")"; read answer; echo "heard $answer"; read end; exit 7`)
	s.types("$")
	s.seesText("This is mysh with KUBECONFIG="+environment.Clusters[1].GetKubeconfig(),
		"kubectl works in the cluster local of environment default. exit returns to pipedeck.", "config: local")
	s.losesText("press a to approve")
	s.types("qy\n") // which are no keys of the UI
	s.seesText("heard qy")
	s.types("\n")
	s.seesText("the shell has ended", "press a to approve", "3 Log")
	s.losesText("heard qy")

	s.types(":shell")
	s.seesText("▌ Open a shell with the kubeconfig of the cluster")
	s.types("\r")
	s.seesText("config: local")
	s.types("\n\n")
	s.seesText("the shell has ended", "press a to approve")
}

func TestWhyNoShellOpens(t *testing.T) {
	t.Parallel()
	signals.RLock()
	defer signals.RUnlock()
	environment := twoClusters(t)
	s := shellWith(t, environment, "")
	s.types("$")
	s.seesText("cannot start /", "mysh: no such file or directory; set SHELL", "3 Log")
	require.NoError(t, os.Remove(environment.Clusters[1].GetKubeconfig()))
	s.types("$")
	s.seesText("cannot open a shell: cannot read " + environment.Clusters[1].GetKubeconfig() +
		": no such file")
}

func TestAShellNeedsACluster(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	require.Empty(t, m.actions.reasons()[keymap.Shell])
	require.Equal(t, "/bin/sh", m.host.shell(), "without SHELL")
	m.receive(clusterless())
	m.key("$")
	require.Contains(t, m.toast.text, "the environment has no cluster; start one with --cluster")
	m.Update(disconnectedMsg{err: errors.New("connection refused")})
	require.Equal(t, "not connected", m.actions.reasons()[keymap.Shell])
}
