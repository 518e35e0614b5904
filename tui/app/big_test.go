// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

const bigMode = "PIPEDECK_BIG=1"

// release is a deployment of 30 stages in big mode.
func release(t *testing.T, width, height int) *model {
	t.Helper()
	m := waiting(t, width, height, bigMode)
	m.receive(decktest.Release())
	return m
}

func TestScreensOfBigMode(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func(t *testing.T) *model{
		"big-80x24":   func(t *testing.T) *model { return waiting(t, 80, 24, bigMode) },
		"big-40x12":   func(t *testing.T) *model { return waiting(t, 40, 12, bigMode) },
		"big-160x45":  func(t *testing.T) *model { return release(t, 160, 45) },
		"big-100x16":  func(t *testing.T) *model { return release(t, 100, 16) },
		"big-log":     func(t *testing.T) *model { m := waiting(t, 80, 24, bigMode); m.key("enter"); return m },
		"big-plugins": func(t *testing.T) *model { m := waiting(t, 80, 24, bigMode); m.key("4"); return m },
		"big-find":    func(t *testing.T) *model { m := waiting(t, 80, 24, bigMode); m.key("/", "w", "a"); return m },
		"big-degraded-ascii": func(t *testing.T) *model {
			return degraded(t, 80, 24, bigMode, "PIPEDECK_ASCII=1")
		},
		"big-failed": func(t *testing.T) *model {
			m := failed(t, 80, 24)
			m.key("Z")
			return m
		},
		"big-none": func(t *testing.T) *model {
			m := still(t, bigMode)
			m.size(80, 24)
			app := decktest.Application()
			app.Deploying = false
			m.see(decktest.Environment(), app)
			m.screen.enterMain()
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draw(t).shows(t, name)
		})
	}
}

func TestBigModeFitsInEverySize(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{
		"graph": nil, "stage": {"g", "G", "up"}, "log": {"enter"}, "help": {"?"}, "find": {"/", "w"},
		"applications": {"1"},
		"error":        {"up", "a"}, "log search": {"3", "/", "a", "enter"}, "cancel": {"c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := waiting(t, 80, 24, bigMode)
			if name == "stage" {
				m.receive(decktest.Release())
			}
			m.key(keys...)
			for width := leastWidth; width <= 300; width += 1 + width/5 {
				for height := leastHeight; height <= 100; height += 1 + height/5 {
					screen := m.exact(t, name, width, height)
					state := strings.Contains(screen, "W A I T I N G") || strings.Contains(screen, "WAITING") ||
						strings.Contains(screen, "RUNNING")
					if keys == nil && !state {
						t.Fatalf("the state is not to be seen at %dx%d:\n%s", width, height, screen)
					}
				}
			}
		})
	}
}

func TestKeysWorkInBigMode(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, "waits for ada")
	s := play(t, dial(t, server), 80, 24, seams{}, bigMode)
	s.seesText("H E L L O - W O R L D", "W A I T I N G   2 of 5 stages", "ASK A PERSON", "press a to approve",
		"q leaves")
	s.losesText("1 Applications")
	s.types("a")
	require.Equal(t, "s3", call(t, server).(*deckv1.ApproveStageRequest).GetStageId())
	s.seesText("approved WAIT_APPROVAL")

	s.types("\r")
	s.seesText("waits for ada", "following")
	s.types("\r")
	s.seesText("ASK A PERSON")
	s.types("k\r")
	s.seesText("WAIT: WATCH THE CANARY")
	s.types("\rf")
	s.seesText("ASK A PERSON", "press a to approve")

	s.types("c")
	s.seesText("Cancel the deployment")
	s.types("\x1b")
	s.losesText("Cancel the deployment")
	s.types("s")
	s.seesText("Deploy the newest commit of hello-world?")
	s.types("y")
	require.Equal(t, "app-1", call(t, server).(*deckv1.SyncApplicationRequest).GetApplicationId())
	s.types("?")
	s.seesText("graph first")
	s.types("\x1b")
	s.losesText("graph first")
	s.types("1")
	s.seesText("1 Applications")
	s.types("\r")
	s.seesText("ASK A PERSON")
	s.types("v")
	s.seesText("big mode has one form; Z leaves it")

	s.types(":big mode\r")
	s.seesText("◆ hello-world", "2 Deployment", "3 Log")
	s.types("Z")
	s.seesText("W A I T I N G")
	for _, p := range decktest.Problems() {
		server.Publish(p)
	}
	s.seesText("degraded: 2 problems: Kubernetes")
	s.types("q")
	s.seesText("Leave pipedeck")
	s.types("y")
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, LeaveRunning, outcome)
	require.Empty(t, server.Calls)
}

func TestArrowsVisitEveryStageInBigMode(t *testing.T) {
	t.Parallel()
	m := release(t, 100, 30)
	m.key("g")
	seen := map[string]bool{m.chosen.stageID: true}
	for range m.chosen.deployment().GetStages() {
		m.key("down")
		require.Contains(t, strings.Split(ansi.Strip(m.View().Content), "\n")[28], m.chosen.stageID+": ")
		seen[m.chosen.stageID] = true
	}
	require.Len(t, seen, 30)
}

func TestBigModeSaysThatAClusterIsSimulated(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{nil, {"enter"}} {
		m := waiting(t, 120, 40, bigMode)
		m.key(keys...)
		require.Contains(t, ansi.Strip(m.View().Content), "simulated: no container runs")
		m.size(80, 24)
		require.Contains(t, ansi.Strip(m.View().Content), "simulated")
		real := decktest.Environment()
		real.Simulated, real.Clusters[0].Simulated = false, false
		m.receive(real)
		require.NotContains(t, ansi.Strip(m.View().Content), "simulated")
	}
}
