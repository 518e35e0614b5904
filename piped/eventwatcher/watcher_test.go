// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package eventwatcher

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

const (
	notHandled = model.EventStatus_EVENT_NOT_HANDLED
	succeeded  = model.EventStatus_EVENT_SUCCESS
	failed     = model.EventStatus_EVENT_FAILURE
	outOfDate  = model.EventStatus_EVENT_OUTDATED
)

func TestAnEventIsCommittedToTheBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(
		t, map[string]string{"shop/app.pipecd.yaml": application(imageRule), "shop/deployment.yaml": manifest},
	)
	id := w.plane.register(time.Minute, "image", "shop:v2", nil)
	w.plane.events[0].Contexts = map[string]string{"Build": "17\nx", "App\nOther": "shop"}
	w.plane.events[0].TriggerCommitHash = "abc"
	require.False(t, w.run(t))

	w.plane.require(t, id, succeeded, "to branch main of repository apps")
	require.Equal(t, "spec:\n  image: shop:v2 # by CI", w.repo.pushed("main", "shop/deployment.yaml"))
	require.Equal(t, `Replace values with "shop:v2" set by Event "image"

App Other: shop
Build: 17 x
Pipecd-Dev-Trace-Trigger-Commit-Hash: abc`, w.repo.git("-C", w.repo.bare, "log", "-1", "--format=%B", "main"))
	require.Equal(
		t, "piped <piped@localhost>", w.repo.git("-C", w.repo.bare, "log", "-1", "--format=%cn <%ae>", "main"),
	)
	require.Equal(t, 2, w.repo.commits("main"))
}

func TestEveryFormOfReplacementWorksInOneCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"shop/app.pipecd.yaml": application(`    - matcher: {name: image, labels: {env: dev}}
      handler:
        config:
          commitMessage: "Deploy {{ .Value }} ({{ .EventName }})"
          replacements:
            - {file: deployment.yaml, yamlField: $.spec.image}
            - {file: deployment.yaml, regex: '# by (\w+)'}
            - {file: ../shared/task.json, jsonField: $.image}
            - {file: main.tf, HCLField: locals.image}
`),
		"shop/deployment.yaml": manifest, "shared/task.json": `{"image": "a"}`,
		"shop/main.tf": "locals {\n  image = \"a\"\n}\n",
	})
	id := w.plane.register(0, "image", "v2", map[string]string{"env": "dev"})
	other := w.plane.register(0, "image", "v2", map[string]string{"env": "prod"})
	more := w.plane.register(0, "image", "v2", map[string]string{"env": "dev", "a": "b"})
	require.True(t, w.run(t), "events are left that a configuration may want later")
	w.plane.require(t, id, succeeded, "Pushed commit")
	w.plane.require(t, other, notHandled, "")
	w.plane.require(t, more, notHandled, "")
	require.Equal(t, "spec:\n  image: v2 # by v2", w.repo.pushed("main", "shop/deployment.yaml"))
	require.Equal(t, `{"image": "v2"}`, w.repo.pushed("main", "shared/task.json"))
	require.Contains(t, w.repo.pushed("main", "shop/main.tf"), `image = "v2"`)
	require.Equal(t, "Deploy v2 (image)", w.repo.git("-C", w.repo.bare, "log", "-1", "--format=%B", "main"))
	require.Equal(t, 2, w.repo.commits("main"))
}

func TestAnEventIsAppliedOnceAlsoAcrossRestarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule, said string
		branches   int
	}{
		"branch": {imageRule, "is there already", 1},
		"pull request": {
			strings.Replace(imageRule, "config:", "config:\n          makePullRequest: true", 1),
			"Pushed branch image-", 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(
				t, map[string]string{"shop/app.pipecd.yaml": application(c.rule), "shop/deployment.yaml": manifest},
			)
			id := w.plane.register(0, "image", "shop:v2", nil)
			events := group([]*model.Event{w.plane.events[0]})
			rules, err := w.rules(t.Context())
			require.NoError(t, err)
			done, bad := w.apply(t.Context(), events[0].newest(), rules[events[0].key])
			require.Empty(t, bad)
			require.Len(t, done, 1) // and piped is killed before it reports that
			before := w.repo.git("-C", w.repo.bare, "for-each-ref")

			again := New(
				Options{
					ControlPlane: w.plane, Repositories: []*git.Repository{mirror(t, "apps", w.repo.bare)},
					Clock: clocktest.Clock{
						Timer: clock.System{}, Time: func() time.Time { return time.Now().Add(time.Minute) },
					},
				},
			)
			_, err = again.pass(t.Context())
			require.NoError(t, err)
			w.plane.require(t, id, succeeded, c.said)
			require.Equal(t, before, w.repo.git("-C", w.repo.bare, "for-each-ref"))
			require.Len(t, strings.Split(before, "\n"), c.branches)
		})
	}
}

func TestAPullRequestGetsASeparateBranch(t *testing.T) {
	t.Parallel()
	rule := strings.Replace(
		strings.Replace(imageRule, "config:", "config:\n          makePullRequest: true", 1), "image}",
		"'my/image: x'}", 1,
	)
	w := newWorld(t, map[string]string{"shop/app.pipecd.yaml": application(rule), "shop/deployment.yaml": manifest})
	id := w.plane.register(0, "my/image: x", "shop:v2", nil)
	w.run(t)
	_, text := w.plane.status(id)
	branch := strings.Fields(text)[2]
	require.Regexp(t, `^my-image--x-[0-9a-f]{8}-[0-9a-f-]{27}$`, branch)
	require.Contains(t, w.repo.pushed(branch, "shop/deployment.yaml"), "shop:v2")
	require.Contains(t, w.repo.pushed("main", "shop/deployment.yaml"), "shop:v1")
}

func TestOnlyTheNewestEventCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(
		t, map[string]string{"shop/app.pipecd.yaml": application(imageRule), "shop/deployment.yaml": manifest},
	)
	oldest := w.plane.register(30*time.Minute, "image", "shop:v2", nil)
	older := w.plane.register(time.Minute, "image", "shop:v3", nil)
	newest := w.plane.register(time.Minute, "image", "shop:v4", nil)
	w.run(t)
	w.plane.require(t, oldest, outOfDate, newest)
	w.plane.require(t, older, outOfDate, newest)
	w.plane.require(t, newest, succeeded, "")
	require.Contains(t, w.repo.pushed("main", "shop/deployment.yaml"), "shop:v4")
	require.Equal(t, 2, w.repo.commits("main"))
}

func TestEventsThatCameTooLongAgoAreOutdated(t *testing.T) {
	t.Parallel()
	w := newWorld(
		t, map[string]string{"shop/app.pipecd.yaml": application(imageRule), "shop/deployment.yaml": manifest},
	)
	old := w.plane.register(2*time.Hour, "image", "shop:v2", nil)
	require.False(t, w.run(t))
	w.plane.require(t, old, outOfDate, "ago")

	waiting := w.plane.register(30*time.Minute, "image", "shop:v3", nil)
	handled := w.plane.register(10*time.Minute, "image", "shop:v4", nil)
	w.plane.events[2].Status = succeeded
	w.run(t)
	w.plane.require(t, waiting, outOfDate, handled)
	require.Equal(t, 1, w.repo.commits("main"))

	unwanted := w.plane.register(2*time.Hour, "other", "x", nil)
	require.False(t, w.run(t), "no one will want it any more")
	w.plane.require(t, unwanted, notHandled, "")
}

func TestSharedFilesAreReadAsThePipedConfigurationSays(t *testing.T) {
	t.Parallel()
	shared := func(file string) string {
		return "apiVersion: pipecd.dev/v1beta1\nkind: EventWatcher\nspec:\n  events:\n    - name: image\n      " +
			"replacements: [{file: " + file + ", regex: 'v: (.*)'}]\n"
	}
	w := newWorld(t, map[string]string{
		".pipe/team/a.yaml": shared("a"), ".pipe/team/b.yaml": shared("b"), ".pipe/other/c.yaml": shared("c"),
		".pipe/template.yaml": "kind: AnalysisTemplate\n", ".pipe/team/broken.yaml": "kind: EventWatcher\n",
		"a": "v: 1\n", "b": "v: 1\n", "c": "v: 1\n",
	}, configOf(config.EventWatcherRepository{RepoID: "apps", CommitMessage: "Set {{ .Value }}",
		Includes: []string{"team"}, Excludes: []string{"**/b.yaml"}}))
	id := w.plane.register(0, "image", "2", nil)
	w.run(t)
	w.plane.require(t, id, succeeded, "")
	require.Equal(t, "v: 2", w.repo.pushed("main", "a"))
	require.Equal(t, "v: 1", w.repo.pushed("main", "b"), "excluded")
	require.Equal(t, "v: 1", w.repo.pushed("main", "c"), "not included")
	require.Equal(t, "Set 2", w.repo.git("-C", w.repo.bare, "log", "-1", "--format=%s", "main"))
}

func TestFailuresAreReportedWithTheirReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rule, value, want string }{
		"no such field": {
			strings.Replace(imageRule, "$.spec.image", "$.none", 1), "v",
			"shop/deployment.yaml: yamlField $.none: there is no such field",
		},
		"no such file": {
			strings.Replace(imageRule, "deployment.yaml", "none.yaml", 1), "v", "no file shop/none.yaml",
		},
		"out of the tree": {
			strings.Replace(imageRule, "deployment.yaml", "../../etc/passwd", 1), "v", "is not in the repository",
		},
		"absolute": {
			strings.Replace(imageRule, "deployment.yaml", "/etc/passwd", 1), "v", "is not in the repository",
		},
		"no replacements": {
			strings.Replace(imageRule, "[{file: deployment.yaml, yamlField: $.spec.image}]", "[]", 1), "v",
			"names no replacements",
		},
		"a value of any size": {imageRule, strings.Repeat("x", maxValue+1), "longer than 64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(
				t, map[string]string{"shop/app.pipecd.yaml": application(c.rule), "shop/deployment.yaml": manifest},
			)
			id := w.plane.register(0, "image", c.value, nil)
			w.run(t)
			w.plane.require(t, id, failed, c.want)
			require.Equal(t, 1, w.repo.commits("main"))
		})
	}
}

func TestOneFailingRuleDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"shop/app.pipecd.yaml": application(imageRule + strings.Replace(imageRule, "deployment.yaml", "none.yaml", 1)),
		"shop/deployment.yaml": manifest,
		"site/app.pipecd.yaml": application(imageRule), "site/deployment.yaml": manifest,
	})
	w.plane.applications = append(w.plane.applications, registered("site", "site"))
	id := w.plane.register(0, "image", "shop:v2", nil)
	w.run(t)
	w.plane.require(t, id, failed, "no file shop/none.yaml")
	w.plane.require(t, id, failed, "Pushed commit")
	require.Contains(t, w.repo.pushed("main", "shop/deployment.yaml"), "shop:v2")
	require.Contains(t, w.repo.pushed("main", "site/deployment.yaml"), "shop:v2")
	require.Equal(t, 3, w.repo.commits("main"), "one commit for each application")
}

func TestARejectedPushIsRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(
		t, map[string]string{"shop/app.pipecd.yaml": application(imageRule), "shop/deployment.yaml": manifest},
	)
	// The hook is someone else who pushes between the look at the branch and our push, twice.
	hook := `#!/bin/sh
read old new ref
unset GIT_QUARANTINE_PATH
count=$(cat "$PWD/count" 2>/dev/null || echo 0)
if [ "$count" -lt 2 ]; then
  echo $((count + 1)) > "$PWD/count"
  theirs=$(git -c user.name=Bob -c user.email=bob@example.com commit-tree -p "$old" -m Theirs "$old^{tree}")
  git update-ref refs/heads/main "$theirs"
fi
`
	require.NoError(t, os.MkdirAll(filepath.Join(w.repo.bare, "hooks"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.repo.bare, "hooks", "pre-receive"), []byte(hook), 0o755))
	id := w.plane.register(0, "image", "shop:v2", nil)
	w.run(t)
	w.plane.require(t, id, succeeded, "Pushed commit")
	require.Equal(
		t, "Theirs\nTheirs", w.repo.git("-C", w.repo.bare, "log", "-2", "--format=%s", "main~1"),
		"nothing of others is lost",
	)
	require.Contains(t, w.repo.pushed("main", "shop/deployment.yaml"), "shop:v2")
}

func TestPushesAreNotTriedForEver(t *testing.T) {
	t.Parallel()
	pauses := 0
	w := newWorld(t, map[string]string{
		"shop/app.pipecd.yaml": application(imageRule), "shop/deployment.yaml": manifest,
	}, func(o *Options) {
		o.Clock = clocktest.Clock{Timer: clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
			pauses++
			require.LessOrEqual(t, d, 8*pushPause)
			return clocktest.Eager{}.After(d)
		})}
	})
	hook := "#!/bin/sh\nread old new ref\nunset GIT_QUARANTINE_PATH\ngit update-ref refs/heads/main $(git -c " +
		"user.name=B -c user.email=b@b commit-tree -p $old -m Theirs $old^{tree})\n"
	require.NoError(t, os.MkdirAll(filepath.Join(w.repo.bare, "hooks"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.repo.bare, "hooks", "pre-receive"), []byte(hook), 0o755))
	id := w.plane.register(0, "image", "shop:v2", nil)
	w.run(t)
	w.plane.require(t, id, failed, git.ErrMoved.Error())
	require.Equal(t, maxTries-1, pauses)
}

func TestAPushToACheckedOutBranchGetsTheNextStep(t *testing.T) {
	t.Parallel()
	w := newWorld(
		t, map[string]string{"shop/app.pipecd.yaml": application(imageRule), "shop/deployment.yaml": manifest},
	)
	w.options.Repositories = []*git.Repository{mirror(t, "apps", "file://"+w.repo.dir)}
	id := w.plane.register(0, "image", "shop:v2", nil)
	w.run(t)
	w.plane.require(t, id, failed, "git config receive.denyCurrentBranch updateInstead")
	w.plane.require(t, id, failed, "makePullRequest")
}

func TestARepositoryThatCannotBeReadLeavesItsEventsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(
		t, map[string]string{"shop/app.pipecd.yaml": application(imageRule), "shop/deployment.yaml": manifest},
	)
	w.options.Repositories = append(w.options.Repositories, mirror(t, "gone", filepath.Join(t.TempDir(), "gone")))
	id, other := w.plane.register(0, "image", "shop:v2", nil), w.plane.register(0, "other", "x", nil)
	_, err := w.pass(t.Context())
	require.ErrorIs(t, err, git.ErrNotRepository)
	w.plane.require(t, id, succeeded, "")
	w.plane.require(t, other, notHandled, "")
}

func TestSilentServersHoldUpNoEventsOfOthers(t *testing.T) {
	t.Parallel()
	const silent = 10
	w := newWorld(
		t, map[string]string{"shop/app.pipecd.yaml": application(imageRule), "shop/deployment.yaml": manifest},
	)
	var asking atomic.Int32
	together := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if now := asking.Add(1); now == silent {
			close(together)
		}
		defer asking.Add(-1)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	for i := range silent {
		w.options.Repositories = append(w.options.Repositories, mirror(t, fmt.Sprint("silent", i), server.URL+"/x.git"))
	}
	w.headTimeout = 4 * time.Second
	id := w.plane.register(0, "image", "shop:v2", nil)
	_, err := w.pass(t.Context())
	require.ErrorContains(t, err, "repository silent3 did not report its head within 4s")
	w.plane.require(t, id, succeeded, "")
	select {
	case <-together:
	default:
		t.Fatal("not all were asked at the same time")
	}
}

func TestRunWaitsForWordAndTriesAgainAfterFailures(t *testing.T) {
	t.Parallel()
	timers := make(chan time.Duration, 10)
	ring := make(chan time.Time)
	w := newWorld(t, map[string]string{
		"shop/app.pipecd.yaml": application(imageRule), "shop/deployment.yaml": manifest,
	}, func(o *Options) {
		o.Config.CheckInterval = config.Duration(7 * time.Minute)
		o.Clock = clocktest.Clock{
			Timer: clocktest.TimerFunc(func(d time.Duration) <-chan time.Time { timers <- d; return ring }),
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()

	w.plane.setRefusal(errors.New("away"))
	w.Changed()
	require.LessOrEqual(t, <-timers, firstPause)
	ring <- time.Time{}
	require.LessOrEqual(t, <-timers, 2*firstPause)
	w.plane.setRefusal(nil)
	id := w.plane.register(0, "image", "shop:v2", nil)
	ring <- time.Time{}
	<-w.plane.reported
	w.plane.require(t, id, succeeded, "")

	w.plane.register(0, "other", "x", nil)
	w.Changed()
	require.Equal(t, 7*time.Minute, <-timers, "a configuration that wants the event may come")
	w.Looked()
	require.Equal(t, 7*time.Minute, <-timers, "a commit may have brought it")
	cancel()
	require.NoError(t, <-done)
	require.Empty(t, timers)
}
