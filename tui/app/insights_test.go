// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// measuring is a model with the insights on the screen.
func measuring(t *testing.T, width, height int, environ ...string) *model {
	t.Helper()
	m := still(t, environ...)
	m.size(width, height)
	m.see(decktest.Shop()...)
	m.key("I")
	m.Update(insightsMsg{number: m.panes.insights.number, report: decktest.Insights()})
	return m
}

func TestInsightsAreReadAgainWhenADeploymentEnds(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Shop()...)
	server.Measure(&deckv1.GetInsightsResponse{All: &deckv1.Insight{}})
	s := play(t, dial(t, server), 120, 40, seams{})
	s.seesText("deploy-eu")
	s.types("I")
	s.seesText("Insights", "No deployment has ended yet: there is nothing to measure")
	server.Measure(decktest.Insights())
	failed := decktest.CheckoutFailed()
	failed.Status, failed.CompletedAt = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, decktest.At(40)
	server.Publish(failed)
	s.seesText("19 deployments in 3d 4h", "5.0 a day", "4m 12s", "16%", "12m 00s", "1 application is failing now",
		"Not counted: 1 cancelled")
	s.types("j\r")
	s.seesText("Deployments of checkout")
}

func TestInsightsThatCannotBeReadSayWhyAndAreAskedForAgain(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(100, 30)
	m.see(decktest.Shop()...)
	m.key("I")
	p := m.panes.insights
	m.Update(insightsMsg{number: p.number, err: errors.New("connection reset")})
	require.Contains(t, ansi.Strip(m.View().Content), "cannot read the insights: connection reset")
	asked := p.number
	m.Update(retryInsightsMsg{asked})
	require.Equal(t, asked+1, p.number, "it asks again")
	m.Update(insightsMsg{number: asked, report: decktest.Insights()})
	require.Nil(t, p.report, "an answer to an earlier question")
	m.Update(insightsMsg{number: p.number, err: status.Error(codes.Unimplemented, "unknown")})
	require.Contains(t, ansi.Strip(m.View().Content), "of an older pipedeck")
}

func TestTheInsightsOfAnApplicationAreThoseUnderTheCursor(t *testing.T) {
	t.Parallel()
	m := measuring(t, 120, 40)
	require.Contains(t, ansi.Strip(m.View().Content), "3 of 19 deployments failed")
	m.key("j", "j")
	require.Contains(t, ansi.Strip(m.View().Content), "1 of 8 deployments failed")
	m.key("/", "s", "e", "a", "r")
	require.Equal(t, "search", m.panes.insights.id, "the match after all applications")
	screen := ansi.Strip(m.View().Content)
	require.Contains(t, screen, "1 of 3")
	require.Contains(t, screen, "it is failing now")
	m.key("enter")
	require.Contains(t, m.panes.insights.copied().content, "search, last 3d 4h\nFrequency: too few")
	m.key("enter")
	require.Equal(t, keymap.History, m.screen.focus)
	require.Equal(t, "search", m.chosen.app)
}
