// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/trigger"
)

func TestAnApplicationThatIsDeployedWithMistakesIsAProblem(t *testing.T) {
	t.Parallel()
	piped, err := config.ParsePiped([]byte(`apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: p
  pipedID: i
  pipedKeyFile: key
  apiAddress: localhost:1
  plugins: [{name: wait, url: "file:///wait", port: 0, stages: [WAIT]}]
`), "piped.yaml")
	require.NoError(t, err)
	checks := newPluginOptions(piped, slog.New(slog.DiscardHandler))
	shipped, err := os.ReadFile("../../plugins/wait/schema.json")
	require.NoError(t, err)
	checks.described("wait", shipped)
	changes := 0
	m := newConfigurationMistakes(func() { changes++ })
	configuration := func(text string) trigger.Configured {
		application, err := config.ParseApplication([]byte(text), "web/app.pipecd.yaml")
		require.NoError(t, err)
		return trigger.Configured{ID: "1", Name: "web", Unread: application.Unread}
	}
	const head = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n"
	sound := configuration(head)
	m.configured([]trigger.Configured{sound, {ID: "2", Name: "api"}})
	require.Empty(t, m.problems())
	require.Equal(t, 1, changes)

	m.configured([]trigger.Configured{configuration(head + "  lables: {a: b}\n"), {ID: "2", Name: "web"}})
	require.Equal(t, 2, changes)
	problem := m.problems()[0]
	require.Equal(t, "configuration of web (1)", problem.Part, "two applications have the name")
	require.Equal(t, `web/app.pipecd.yaml:5:3: spec.lables: unknown key "lables" is not read; did you mean "labels"?`,
		problem.Reason)
	require.Equal(t, "1", problem.ApplicationID)
	require.Equal(t, "correct the file and commit it", problem.NextStep)
	require.Len(t, m.problems(), 1)
	m.configured([]trigger.Configured{configuration(head + "  lables: {a: b}\n"), {ID: "2", Name: "web"}})
	require.Equal(t, 2, changes, "nothing is new")

	wrong := []byte(head + "  pipeline: {stages: [{name: WAIT, with: {duration: 1s, durtion: 1s}}]}\n")
	d := &model.Deployment{ApplicationId: "1", ApplicationName: "web"}
	require.Len(t, m.planned(checks)(d, wrong, "web/app.pipecd.yaml"), 1)
	require.Equal(t, 3, changes)
	require.Contains(t, m.problems()[0].Reason, "(and 1 more)")
	m.configured([]trigger.Configured{sound})
	require.Contains(t, m.problems()[0].Reason, `unknown key "durtion"`)
	require.Equal(t, "configuration of web", m.problems()[0].Part)
	require.Empty(t, m.planned(checks)(d, []byte(head), "web/app.pipecd.yaml"))
	require.Empty(t, m.problems())

	m.planned(checks)(d, wrong, "web/app.pipecd.yaml")
	m.configured([]trigger.Configured{{ID: "1", Name: "web", Invalid: errors.New("broken")}})
	require.Equal(t, "broken", m.problems()[0].Reason)
	m.configured([]trigger.Configured{sound})
	require.Contains(t, m.problems()[0].Reason, `unknown key "durtion"`, "a commit was reverted; nothing is planned")
	m.configured(nil)
	require.Empty(t, m.problems(), "the application is gone")
	m.configured([]trigger.Configured{sound})
	require.Empty(t, m.problems(), "and so are its mistakes")
}

func TestAnApplicationThatCannotBeDeployedIsAProblemUntilItIsFixed(t *testing.T) {
	t.Parallel()
	changes := 0
	m := newConfigurationMistakes(func() { changes++ })
	_, err := config.ParseApplication(
		[]byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n  timeout: soon\n  labels: 1\n"),
		"web/app.pipecd.yaml",
	)
	broken := trigger.Configured{ID: "1", Name: "web", Invalid: err}
	m.configured([]trigger.Configured{broken})
	require.Equal(t, 1, changes)
	problem := m.problems()[0]
	require.Equal(t, "configuration of web", problem.Part)
	require.True(t, problem.Configuration)
	require.Equal(t, "1", problem.ApplicationID)
	require.Contains(t, problem.Reason, "web/app.pipecd.yaml:5:12: spec.timeout: ")
	require.Contains(t, problem.Reason, " (and 1 more)")
	require.Equal(t, "correct the file and commit it; all mistakes: pipedeck validate web/app.pipecd.yaml",
		problem.NextStep)
	m.configured([]trigger.Configured{broken})
	require.Equal(t, 1, changes, "nothing is new")

	missing := &trigger.MissingError{File: "web/app.pipecd.yaml", Commit: "c", Branch: "main", Application: "web"}
	m.configured([]trigger.Configured{{ID: "1", Name: "web", Invalid: missing}})
	require.Equal(t, 2, changes)
	problem = m.problems()[0]
	require.Equal(t, "web/app.pipecd.yaml is not in Git any more, at commit c of branch main, so nothing deploys the "+
		"application", problem.Reason)
	require.Equal(t, "add the file again, or remove the application with: pipedeck remove web",
		problem.NextStep)

	m.configured([]trigger.Configured{{ID: "1", Name: "web", Invalid: errors.New("read it: too large\nby far")}})
	require.Equal(t, "read it: too large", m.problems()[0].Reason)
	m.configured([]trigger.Configured{{ID: "1", Name: "web"}})
	require.Equal(t, 4, changes)
	require.Empty(t, m.problems())
}

// failingPlanner is a planner whose plans all fail; nil stands for a plan.
type failingPlanner struct{ err error }

func (p *failingPlanner) Plan(_ context.Context, d *model.Deployment) (*model.Deployment, error) {
	return d, p.err
}

func TestThePlanThatFailsReplacesTheMistakesOfTheOneBefore(t *testing.T) {
	t.Parallel()
	m := newConfigurationMistakes(func() {})
	m.configured([]trigger.Configured{{ID: "1", Name: "web"}})
	d := &model.Deployment{ApplicationId: "1", GitPath: &model.ApplicationGitPath{Path: "web"}}
	secret := &config.Error{File: "web/app.pipecd.yaml", Line: 7, Column: 3, Message: "cannot be decrypted"}
	stage := &pluginhost.UnknownStageError{Stage: "K8S_CANARY_ROLLOUT"}
	down := &pluginhost.UnknownStageError{Stage: "A", Down: []error{errors.New("plugin a is not up")}}
	of := func(err error) string {
		t.Helper()
		_, got := (&watchedPlanner{&failingPlanner{err}, m}).Plan(t.Context(), d)
		require.Equal(t, err, got)
		if list := m.problems(); len(list) > 0 {
			return list[0].Reason
		}
		return ""
	}
	require.Equal(t, "web/app.pipecd.yaml:7:3: cannot be decrypted", of(fmt.Errorf("prepare: %w", secret)))
	require.Equal(t, "web/app.pipecd.yaml:7:3: cannot be decrypted (and 1 more)", of(config.Errors{secret, secret}))
	require.Contains(t, of(stage), `web/app.pipecd.yaml: no plugin owns stage "K8S_CANARY_ROLLOUT"`)
	m.keep(m.options, d, config.Errors{{File: "f", Line: 1, Message: `no plugin has the stage "K8S_CANARY_ROLLOUT"`}})
	require.Equal(t, `f:1:0: no plugin has the stage "K8S_CANARY_ROLLOUT"`, of(stage), "which is named once")
	m.keep(m.options, d, nil)
	require.Empty(t, of(down), "the file is right")
	require.NotEmpty(t, of(stage))
	require.Empty(t, of(errors.New("the plugin crashed")))
	require.NotEmpty(t, of(stage))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := (&watchedPlanner{&failingPlanner{cancelled.Err()}, m}).Plan(cancelled, d)
	require.Error(t, err)
	require.NotEmpty(t, m.problems(), "an interrupted plan has found nothing")
	require.Empty(t, of(nil))
	require.NotEmpty(t, of(secret))
	m.configured(nil)
	m.configured([]trigger.Configured{{ID: "1", Name: "web"}})
	require.Empty(t, m.problems(), "the application was gone")
}
