// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package kind

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/clustertest"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind/record"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// patience is far above what a slow machine needs for any one step.
const patience = 5 * time.Minute

// realPlace returns a provider whose cluster is deleted with the test.
func realPlace(t *testing.T) *Provider {
	t.Helper()
	root := t.TempDir()
	p := providerAt(clustertest.Place{Dir: filepath.Join(root, "cluster"),
		Kubeconfig: filepath.Join(root, "kubeconfig"), LogFile: filepath.Join(root, "log")})
	t.Cleanup(func() { require.NoError(t, p.Delete(context.Background())) })
	return p
}

// nodeImage is the image that tests of the engine alone use, too.
func nodeImage(p *Provider) string {
	if p.NodeImage != "" {
		return p.NodeImage
	}
	return defaultNodeImage
}

// requireNothing fails when a container of the cluster or a file is left.
func requireNothing(t *testing.T, engine *engineCommand, p *Provider) {
	t.Helper()
	nodes, err := engine.nodes(t.Context(), p.name)
	require.NoError(t, err)
	require.Empty(t, nodes)
	require.NoDirExists(t, p.Dir)
	require.NoFileExists(t, p.Kubeconfig)
}

// foreign makes a container that looks like a node of a cluster.
func foreign(t *testing.T, engine *engineCommand, p *Provider) string {
	t.Helper()
	node := p.name + "-control-plane"
	_, err := engine.run(t.Context(), "create", "--pull", "never", "--name", node, "--label", clusterLabel+"="+p.name,
		nodeImage(p))
	require.NoError(t, err)
	t.Cleanup(func() {
		_, _ = engine.run(context.Background(), "rm", "-f", "-v", node)
	})
	return node
}

func TestAClusterOfThatNameBySomeoneElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	engine := requireEngine(t)
	p := realPlace(t)
	node := foreign(t, engine, p)
	err := p.Run(t.Context(), silent, func(string) {})
	var taken *foreignError
	require.ErrorAs(t, err, &taken)
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.Contains(t, hint.Hint, node)
	require.NoError(t, p.Delete(t.Context()))
	left, err := engine.nodes(t.Context(), p.name)
	require.NoError(t, err)
	require.Equal(t, []string{node}, left)
	require.NoDirExists(t, p.Dir)
}

func TestWhatAKilledCreationLeftIsDeletedFromItsRecordAlone(t *testing.T) {
	t.Parallel()
	engine := requireEngine(t)
	root := t.TempDir()
	w, err := workspace.At(root, "killed")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	for _, name := range []string{"dev", "prod"} {
		p := providerAt(clustertest.Place{Dir: w.ClusterDir(name), Kubeconfig: w.Kubeconfig(name)})
		node := foreign(t, engine, p)
		made := &record.Record{State: record.StateCreating, Cluster: p.name, Engine: engine.name,
			NetworkBefore: "of the user", Nodes: []string{node}, Image: nodeImage(p)}
		require.NoError(t, made.Write(p.Dir))
	}
	deleteRecorded(t, w)
	for _, name := range []string{"dev", "prod"} {
		requireNothing(t, engine, providerAt(clustertest.Place{Dir: w.ClusterDir(name),
			Kubeconfig: w.Kubeconfig(name)}))
	}
	deleteRecorded(t, w) // there may be nothing to delete
}

func deleteRecorded(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	directories, err := record.Directories(w)
	require.NoError(t, err)
	for name, dir := range directories {
		require.NoError(t, New(Config{Dir: dir, Kubeconfig: w.Kubeconfig(name)}).Delete(t.Context()))
	}
}

func TestAMissingImageIsReportedBeforeAnythingIsCreated(t *testing.T) {
	t.Parallel()
	engine := requireEngine(t)
	p := realPlace(t)
	// The name of a registry that no resolver knows.
	p.NodeImage = "registry.invalid/node:v1"
	err := p.Run(t.Context(), silent, func(string) {})
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.Contains(t, hint.Hint, engine.name+" pull registry.invalid/node:v1")
	require.Contains(t, hint.Hint, "--node-image")
	requireNothing(t, engine, p)
}

func TestAPortInUseIsReportedAndNothingIsLeft(t *testing.T) {
	t.Parallel()
	engine := requireEngine(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	p := realPlace(t)
	p.File = filepath.Join(t.TempDir(), "kind.yaml")
	require.NoError(t, os.WriteFile(p.File, fmt.Appendf(nil,
		"kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- extraPortMappings:\n"+
			"  - {containerPort: 80, hostPort: %d}\n",
		listener.Addr().(*net.TCPAddr).Port), 0o600))
	err = p.Run(t.Context(), silent, func(string) {})
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.Contains(t, hint.Hint, "end what listens on that port", err.Error())
	requireNothing(t, engine, p)
}

func TestANodeThatEndsIsStartedAgainAndARemovedOneIsReported(t *testing.T) {
	engine := requireEngine(t)
	p := realPlace(t)
	p.Export = true
	users := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(users, []byte("apiVersion: v1\nkind: Config\n"+
		"contexts: [{name: mine, context: {cluster: c, user: u}}]\ncurrent-context: mine\n"), 0o600))
	t.Setenv("KUBECONFIG", users)
	ready, ended := make(chan string, 16), make(chan error, 1)
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("it takes too long"))
	defer cancel()
	go func() { ended <- p.Run(ctx, silent, func(detail string) { ready <- detail }) }()
	await := func(words string) {
		t.Helper()
		select {
		case detail := <-ready:
			require.Contains(t, detail, words)
		case err := <-ended:
			require.FailNow(t, "it ended", err)
		}
	}
	await(p.name)
	exported, err := clientcmd.LoadFromFile(users)
	require.NoError(t, err)
	require.Equal(t, contextName(p.name), exported.CurrentContext)

	_, err = engine.run(ctx, "kill", p.name+"-control-plane")
	require.NoError(t, err)
	await("started again")
	_, err = engine.run(ctx, "rm", "-f", "-v", p.name+"-control-plane")
	require.NoError(t, err)
	var hint *cluster.HintError
	require.ErrorAs(t, <-ended, &hint)
	require.Contains(t, hint.Hint, "pipedeck up")

	require.NoError(t, p.Delete(t.Context()))
	requireNothing(t, engine, p)
	left, err := clientcmd.LoadFromFile(users)
	require.NoError(t, err)
	require.NotContains(t, left.Contexts, contextName(p.name))
	require.Contains(t, left.Contexts, "mine")
	require.Equal(t, "mine", left.CurrentContext)
}
