// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func application(name string, more ...string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: " + name + "\n" + strings.Join(more, "")
}

// twoCommits is a repository whose second commit writes the second files; an empty content removes a file.
func twoCommits(t *testing.T, first, second map[string]string) *workspace.Repository {
	t.Helper()
	dir := gittest.Init(t)
	for _, files := range []map[string]string{first, second} {
		for name, content := range files {
			if content == "" {
				gittest.Run(t, dir, "rm", "-q", name)
				continue
			}
			gittest.Write(t, dir, name, content)
		}
		gittest.Commit(t, dir, "commit")
	}
	repository, err := workspace.OpenRepository(dir)
	require.NoError(t, err)
	return repository
}

const (
	onlyByHand = "  trigger:\n    onCommit:\n      disabled: true\n"
	inChains   = onlyByHand + "    onChain:\n      disabled: false\n"
)

func TestARangeDecidesWhatHappensToEachApplication(t *testing.T) {
	t.Parallel()
	repository := twoCommits(t, map[string]string{
		"same/app.pipecd.yaml":    application("same"),
		"touched/app.pipecd.yaml": application("touched"),
		"shared/app.pipecd.yaml":  application("shared", "  trigger:\n    onCommit:\n      paths: [charts/**]\n"),
		"charts/values.yaml":      "a: 1",
		"ignored/app.pipecd.yaml": application("ignored", "  trigger:\n    onCommit:\n      ignores: [ignored/*.md]\n"),
		"gone/app.pipecd.yaml":    application("gone"),
		"broken/app.pipecd.yaml":  application("broken", "  timeout: soon\n"),
		"hand/app.pipecd.yaml":    application("hand", onlyByHand),
		"first/app.pipecd.yaml": application("first",
			"  postSync:\n    chain:\n      applications:\n        - name: follower\n        - labels: {team: x}\n"),
		"follower/app.pipecd.yaml": application("follower", inChains),
		"labelled/app.pipecd.yaml": application("labelled", "  labels: {team: x}\n", inChains),
	}, map[string]string{
		"touched/values.yaml":     "b: 2",
		"charts/values.yaml":      "a: 2",
		"ignored/README.md":       "words",
		"gone/app.pipecd.yaml":    "",
		"broken/app.pipecd.yaml":  application("broken"),
		"hand/values.yaml":        "x",
		"first/values.yaml":       "x",
		"another/app.pipecd.yaml": application("another"),
	})
	type fate struct {
		fate           Fate
		atBase, atHead bool
	}
	fates := func(changed bool) map[string]fate {
		r, err := Compare(t.Context(), repository, "HEAD~1", changed, nil)
		require.NoError(t, err)
		found := map[string]fate{}
		for _, a := range r.Applications {
			found[a.Name] = fate{a.Fate, a.AtBase, a.AtHead}
		}
		return found
	}
	require.Equal(t, map[string]fate{
		"same": {Unchanged, true, false}, "touched": {Touched, true, true}, "shared": {Touched, true, true},
		"ignored": {Unchanged, true, false}, "gone": {Removed, true, false}, "broken": {New, false, true},
		"hand": {Undeployed, false, false}, "first": {Touched, true, true}, "follower": {Touched, true, true},
		"labelled": {Touched, true, true}, "another": {New, false, true},
	}, fates(false))
	require.Equal(t, map[string]fate{
		"same": {Unchanged, false, false}, "touched": {Touched, true, true}, "shared": {Touched, true, true},
		"ignored": {Unchanged, false, false}, "gone": {Removed, false, false}, "broken": {New, false, true},
		"hand": {Undeployed, false, false}, "first": {Touched, true, true}, "follower": {Touched, true, true},
		"labelled": {Touched, true, true}, "another": {New, false, true},
	}, fates(true))

	r, err := Compare(t.Context(), repository, "HEAD~1", true, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"another/app.pipecd.yaml", "broken/app.pipecd.yaml", "first/app.pipecd.yaml",
		"follower/app.pipecd.yaml", "labelled/app.pipecd.yaml", "shared/app.pipecd.yaml", "touched/app.pipecd.yaml"},
		r.Selected(repository).Applications)
	require.False(t, r.Selects("same/app.pipecd.yaml"))
	notes := strings.Join(r.Notes(), "\n")
	require.Contains(t, notes, "broken: its configuration at the base is not valid, so HEAD is its first deployment: "+
		"broken/app.pipecd.yaml:5:")
	require.Contains(t, notes, "another: it is not at the base")
	require.Contains(t, notes, "same: unchanged, not deployed")
}

func TestARangeSaysWhatIsSpecialAboutItsBase(t *testing.T) {
	t.Parallel()
	repository := twoCommits(t, map[string]string{"README": "x"}, map[string]string{
		"a/app.pipecd.yaml": application("a"),
	})
	notes := func(ref string) string {
		r, err := Compare(t.Context(), repository, ref, false, nil)
		require.NoError(t, err)
		return strings.Join(r.Notes(), "\n")
	}
	require.Contains(t, notes("HEAD~1"), "has no application: each one of HEAD is deployed for the first time")
	require.Contains(t, notes("HEAD~1"), "1 file differs")
	require.Contains(t, notes("main"), "is HEAD itself: there is no change to deploy")
	require.Contains(t, notes("main"), "the range touches no application")

	gittest.Run(t, repository.Root, "checkout", "-q", "-b", "other", "HEAD~1")
	gittest.Write(t, repository.Root, "b/app.pipecd.yaml", application("b"))
	gittest.Commit(t, repository.Root, "other")
	var err error
	repository, err = workspace.OpenRepository(repository.Root)
	require.NoError(t, err)
	require.Contains(t, notes("main"), "is not an ancestor of HEAD: HEAD also undoes what only the base has")
}

func TestAnApplicationThatMovesIsTwoWithTheirDirectories(t *testing.T) {
	t.Parallel()
	repository := twoCommits(t, map[string]string{"a/app.pipecd.yaml": application("web")},
		map[string]string{"a/app.pipecd.yaml": "", "b/app.pipecd.yaml": application("web")})
	r, err := Compare(t.Context(), repository, "HEAD~1", false, nil)
	require.NoError(t, err)
	require.Equal(t, "web in a", r.Applications[0].Title())
	require.Equal(t, Removed, r.Applications[0].Fate)
	require.Equal(t, "web in b", r.Applications[1].Title())
	require.Equal(t, New, r.Applications[1].Fate)
}

func TestARangeWithoutABaseIsWrongUsage(t *testing.T) {
	t.Parallel()
	repository := twoCommits(t, map[string]string{"a/app.pipecd.yaml": application("a")}, map[string]string{"x": "x"})
	_, err := Compare(t.Context(), repository, "mian", false, nil)
	var failure *exit.Error
	require.True(t, errors.As(err, &failure))
	require.Equal(t, exit.WrongUsage, failure.Code)
	require.EqualError(t, err, "--from: the repository has no commit mian")
	require.Contains(t, failure.Hint, "did you mean main?")
}

func TestATouchedApplicationThatNothingDeploysIsNamedWithTheReason(t *testing.T) {
	t.Parallel()
	const chain = "  postSync:\n    chain:\n      applications:\n        - name: b\n        - name: c\n"
	repository := twoCommits(t, map[string]string{
		"a/app.pipecd.yaml": application("a", chain), "b/app.pipecd.yaml": application("b", inChains),
		"c/app.pipecd.yaml":     application("c", inChains),
		"off/app.pipecd.yaml":   application("off"),
		"hand/app.pipecd.yaml":  application("hand", onlyByHand),
		"drift/app.pipecd.yaml": application("drift", onlyByHand+"    onOutOfSync:\n      disabled: false\n"),
	}, map[string]string{
		"b/s.sh": "exit 1", "drift/x": "x", "off/app.pipecd.yaml": application("off", onlyByHand),
	})
	r, err := Compare(t.Context(), repository, "HEAD~1", false, nil)
	require.NoError(t, err)
	whys := func() map[string]string {
		found := map[string]string{}
		for _, a := range r.Applications {
			found[a.Name] = string(a.Fate) + ": " + a.Why
			require.Equal(t, a.Fate == Undeployed, a.Touched, a.Name)
			require.False(t, a.AtHead)
		}
		return found
	}
	want := map[string]string{
		"a": "unchanged: no file of it differs",
		"b": "undeployed: b/s.sh was changed, but only the deployment chain of a deploys it, " +
			"which nothing in this run starts",
		"c":     "unchanged: no file of it differs",
		"drift": "undeployed: drift/x was changed, but only drift deploys it: trigger.onCommit is disabled",
		"hand":  "manual: neither a commit, drift nor a chain deploys it",
		"off":   "undeployed: off/app.pipecd.yaml was changed, but neither a commit, drift nor a chain deploys it",
	}
	require.Equal(t, want, whys())
	require.True(t, r.Touches())
	require.False(t, r.DeploysHead())
	require.NoError(t, r.LeaveOut(func(file string) bool { return file == "a/app.pipecd.yaml" }))
	want["b"] = "undeployed: b/s.sh was changed, but only the deployment chain of a deploys it, and this run " +
		"leaves out a"
	require.Equal(t, want, whys())

	byHand, err := ByHand(repository, func(string) bool { return false })
	require.NoError(t, err)
	require.Equal(t, map[string]string{"hand/app.pipecd.yaml": onlyUsers, "off/app.pipecd.yaml": onlyUsers}, byHand)
	byHand, err = ByHand(repository, func(file string) bool { return file == "a/app.pipecd.yaml" })
	require.NoError(t, err)
	const without = "only the deployment chain of a deploys it, and this run leaves out a"
	require.Equal(t, map[string]string{"hand/app.pipecd.yaml": onlyUsers, "off/app.pipecd.yaml": onlyUsers,
		"b/app.pipecd.yaml": without, "c/app.pipecd.yaml": without}, byHand)
}
