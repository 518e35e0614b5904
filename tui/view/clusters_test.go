// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestInALiveEnvironmentSavingIsEnough(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{NoColor: true, ASCII: true})
	status := Status{Theme: th, Repository: "/src/app", Edit: "app.yaml"}
	require.Contains(t, ansi.Strip(status.Draw(80, 1)[0]), "edit /src/app/app.yaml and commit")
	status.Live = true
	require.Contains(t, ansi.Strip(status.Draw(80, 1)[0]), "edit /src/app/app.yaml and save")
}

func TestARepositoryThatIsGoneIsNotWatched(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{NoColor: true, ASCII: true})
	status := Status{Theme: th, Repository: "/src/app"}
	require.Contains(t, ansi.Strip(status.Draw(80, 1)[0]), " watching /src/app ")
	status.Unread = true
	require.Contains(t, ansi.Strip(status.Draw(80, 1)[0]), " cannot read /src/app ")
	status.Edit = "app.yaml"
	require.Contains(t, ansi.Strip(status.Draw(80, 1)[0]), " cannot read /src/app ")
}

func TestAWordyComponentIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	list := []*deckv1.Component{{
		Name: "kubernetes", State: deckv1.Component_STATE_READY,
		Detail: "API at https://127.0.0.1:1 (auto chose embedded: kind failed: the node image is not on this " +
			"machine and cannot be pulled)",
	}}
	drawn := ansi.Strip(Components{Theme: theme.New(theme.Options{NoColor: true, ASCII: true}), List: list}.Draw(70,
		12))
	require.Contains(t, drawn, "cannot be pulled)")
}

func TestSeveralClustersAreDistinguished(t *testing.T) {
	t.Parallel()
	all := []*deckv1.Cluster{
		{Name: "dev", Kind: "kind", Kubeconfig: "/state/kubeconfig-dev"},
		{Name: "prod", Kind: "embedded", Simulated: true, Kubeconfig: "/state/kubeconfig-prod"},
		{Name: "test", Kind: "embedded", LocalPods: true, Kubeconfig: "/state/kubeconfig-test"},
	}
	th := theme.New(theme.Options{NoColor: true, ASCII: true})
	facts := ansi.Strip(strings.Join(Components{Theme: th, Environment: &deckv1.Environment{Clusters: all}}.facts(100),
		"\n"))
	require.Contains(t, facts, "dev, kind\n")
	require.Contains(t, facts, "export KUBECONFIG=/state/kubeconfig-dev")
	require.Contains(t, facts, "prod, embedded (simulated: no container runs)")
	require.Contains(t, facts, "test, embedded (built images run as local processes)")
	header := Header{Theme: th, Name: "default", Clusters: all}.Draw(80)
	require.Contains(t, ansi.Strip(header), "3 clusters")
	require.Contains(t, ansi.Strip(Header{Theme: th, Clusters: all[:1]}.Draw(80)), "kind cluster")
}
