// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func named(name string) string {
	return strings.Replace(pipeline("{log: hello}", "{}"), "name: app\n", "name: "+name+"\n", 1)
}

func TestApplicationsAtTheTopInShortDirectoriesAndOfSeveralBranchesAreDeployed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, named("of-other"))
	e.git(t, "branch", "other")
	e.git(t, "rm", "-q", "-r", "app")
	e.commitAll(t, "second", map[string]string{".": named("top"), "b": named("short")})
	e.git(t, "update-index", "--add", "--cacheinfo", "160000,0123456789012345678901234567890123456789,b/module")
	e.git(t, "commit", "-q", "-m", "A submodule")
	e.reconfigure(
		t, "repositories: [", `repositories: [{repoId: other, remote: "file://`+e.repository+`", branch: other}, `,
	)
	e.start(t)
	deployed := func(application string, count int) *deckv1.Deployment {
		var last *deckv1.Deployment
		e.deck.awaitAll(t, application, func() bool {
			list := e.deck.of(application)
			if len(list) < count {
				return false
			}
			last = list[count-1]
			return last.GetCompletedAt() != nil
		})
		require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, last.GetStatus(), last.GetStatusReason())
		return last
	}
	require.NotContains(t, deployed("of-other", 1).GetSummary(), "not complete in Git")
	for _, application := range []string{"top", "short"} {
		require.Contains(t, deployed(application, 1).GetSummary(), "not complete in Git: b/module is a submodule")
	}

	e.git(t, "rm", "-q", "--cached", "b/module")
	e.git(t, "commit", "-q", "--amend", "--allow-empty", "-m", "Rewritten")
	e.git(t, "branch", "-D", "other")
	again := deployed("short", 2)
	require.Equal(t, "Rewritten", again.GetCommit().GetMessage(), "a force push is followed")
	require.NotContains(t, again.GetSummary(), "not complete in Git")
}
