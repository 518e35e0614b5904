// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// playWith starts the UI with a key file.
func playWith(t *testing.T, server *decktest.Server, content string) *terminal {
	t.Helper()
	s := session{client: dial(t, server), width: 80, height: 24, keys: keymap.Parse([]byte(content), "keys.yaml")}
	return s.start(t, t.Context())
}

func TestTheKeysOfAFileActAndAreShownInPlaceOfTheBuiltInOnes(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := playWith(t, server, "global.sync: [f5]\nglobal.help: [H]\ndialog.yes: [Y]\nglobal.plugins: ['0']\n")
	s.seesText("K8S_CANARY_ROLLOUT", "H help")
	s.types("s")
	s.seesText("s does nothing here · H lists the keys")
	s.types("\x1b[15~")
	s.seesText("Deploy the newest commit of hello-world?", "Y     yes")
	s.types("y")
	s.seesText("y does nothing here")
	require.Empty(t, server.Calls)
	s.types("Y")
	require.IsType(t, &deckv1.SyncApplicationRequest{}, call(t, server))
	s.seesText("asked to deploy hello-world")
	s.types("r")
	s.seesText("select a plugin first: 0")
	s.types("H/newest commit")
	s.seesText("f5", "deploy the newest commit")
}

func TestMistakesInAKeyFileAreShownAtTheStart(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := playWith(t, server, "log.wrap: [x]\nglobal.sync: [x]\ngrahp.follow: [z]\n")
	s.seesText("Mistakes in the key file", "keys.yaml:2:15: global.sync: x is taken by log.wrap at", "keys.yaml:1:12",
		"keys.yaml:3:1:", `there is no context "grahp"`, "pipedeck validate keys.yaml")
	s.types("x")
	s.seesText("x does nothing here")
	s.types("\r")
	s.losesText("Mistakes in the key file")
	s.seesText("K8S_CANARY_ROLLOUT")
	s.types("s")
	s.seesText("Deploy the newest commit of hello-world?")
	require.Empty(t, server.Calls)
}

func TestManyMistakesOfAKeyFileFitOnTheSmallestScreen(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	content := ""
	for i := range 100 {
		content += fmt.Sprintf("graph.nothing-%d: [z]\n", i)
	}
	s := playWith(t, server, content)
	s.seesText("keys.yaml:1:1:", "more", "go on; the other lines of the file hold", "pipedeck validate keys.yaml")
}

func TestConfirmNeverActsAtOnceButAsksBeforeItTearsDown(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := playWith(t, server, "confirm: never\n")
	s.seesText("K8S_CANARY_ROLLOUT")
	s.types("s")
	require.IsType(t, &deckv1.SyncApplicationRequest{}, call(t, server))
	s.types("S")
	require.IsType(t, &deckv1.SkipStageRequest{}, call(t, server))
	s.types("c")
	require.Zero(t, call(t, server).(*deckv1.CancelDeploymentRequest).GetRollback())
	s.types("4r")
	require.IsType(t, &deckv1.RestartPluginRequest{}, call(t, server))
	s.types("qt")
	s.seesText("Tear down default?")
}
