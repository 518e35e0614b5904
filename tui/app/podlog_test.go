// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// withPod adds a pod to the resources of the example.
func withPod(server *decktest.Server) {
	pod := &deckv1.Resource{Id: "pod-1", Kind: "Pod", Namespace: "default", Name: "hello-world-7d4b9-x2x4z",
		DeployTarget: "kubernetes/local", Health: deckv1.HealthStatus_HEALTH_STATUS_HEALTHY}
	server.Resources("app-1", &deckv1.WatchResourcesResponse{Resources: []*deckv1.Resource{pod}, Complete: true})
}

func TestTheLogOfAPodIsFollowedFromItsResource(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	withPod(server)
	server.LogAt("pod-1", 1, "listening on 127.0.0.1:30123")
	s := play(t, dial(t, server), 160, 45, seams{})
	s.seesText("press a to approve")
	s.types("t")
	s.seesText("hello-world-7d4b9-x2x4z")
	s.types("L")
	s.seesText("pod hello-world-7d4b9-x2x4z", "listening on 127.0.0.1:30123", "following")
	server.LogAt("pod-1", 2, "GET / 200")
	s.seesText("GET / 200")
	server.CompleteLog("pod-1")
	s.seesText("2 lines · complete")
	s.types("/GET\r")
	s.seesText("1 of 1")
	s.types("\x1b")
	s.losesText("1 of 1")
	s.types("\x1b")
	s.seesText("complete · following")
	s.types("\x1b")
	s.seesText("Resources of hello-world", "Pod default/hello-world-7d4b9-x2x4z")
	s.losesText("listening on")
	s.types("L")
	s.seesText("GET / 200")
	s.types("m")
	s.seesText("all stages")
	s.losesText("listening on")
}

func TestOnlyPodsHaveALogAndAShell(t *testing.T) {
	t.Parallel()
	m := withResources(t, 100, 30)
	require.Equal(t, "select a pod: the other resources have no log and no shell", m.actions.reasons()[keymap.PodLog])
	m.key("t")
	require.Equal(t, "select a pod first: t", m.actions.reasons()[keymap.PodShell])
}

// A shell in a pod is that of the user's kubectl, which gets the cluster of the pod.
func TestAShellInAPodIsThatOfKubectl(t *testing.T) {
	t.Parallel()
	signals.RLock()
	defer signals.RUnlock()
	server, environment := decktest.Start(t), twoClusters(t)
	server.Publish(append(decktest.Running(), environment)...)
	withPod(server)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(`#!/bin/sh
echo "$(basename "$KUBECONFIG"): $*"
read answer
[ "$answer" = lost ] && { echo "error: the pod has no sh" >&2; exit 1; }
echo "command terminated with exit code 3" >&2
exit 3
`), 0o755))
	s := session{client: dial(t, server), width: 160, height: 45,
		environ: []string{"PATH=" + bin + ":/usr/bin:/bin"}}.start(t, t.Context())
	s.seesText("press a to approve")
	s.types("t")
	s.seesText("hello-world-7d4b9-x2x4z")
	s.types("X")
	s.seesText("This is sh in pod default/hello-world-7d4b9-x2x4z. exit returns to pipedeck.",
		"local: exec -it -n default hello-world-7d4b9-x2x4z -- sh")
	s.types("\n")
	s.seesText("the shell has ended", "Resources of hello-world", "Pod default/hello-world-7d4b9-x2x4z")
	s.types("X")
	s.seesText("exit returns to pipedeck")
	s.types("lost\n")
	s.seesText("no shell in pod hello-world-7d4b9-x2x4z: error: the pod has no sh")
}
