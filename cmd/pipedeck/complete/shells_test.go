// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/buildtest"
	"github.com/pipedeck/pipedeck/system/gittest"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// place is a command line that ends where the user presses the key of completion.
type place struct {
	line string
	// offers are among the choices, hides are not.
	offers, hides []string
}

func TestShellsOfferWhatTheRunningEnvironmentKnows(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	waiting := decktest.Canary()
	waiting.Stages[2].Approvers = []string{"alice"}
	done := decktest.Canary()
	done.Id, done.Status = "dep-0", deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	done.Commit.Hash, done.CreatedAt, done.CompletedAt = "1111aaaa", decktest.At(-90), decktest.At(-60)
	for _, stage := range done.Stages {
		stage.Id, stage.Status = "old-"+stage.Id, deckv1.StageStatus_STAGE_STATUS_SUCCESS
		stage.CanApprove, stage.CanSkip = false, false
	}
	done.ApplicationId, done.ApplicationName = "app-2", "shop"
	newest := proto.CloneOf(done)
	newest.Id, newest.Commit.Hash, newest.CreatedAt = "dep-2", "2222bbbb", decktest.At(-30)
	app, other := decktest.Application(), decktest.Application()
	app.PipedId, other.PipedId = "p", "p"
	other.Id, other.Name, other.Deploying, other.RunningCommit = "app-2", "shop", false, "2222bbbb"
	environment := decktest.Environment()
	environment.Repository = gittest.Init(t)
	gittest.Write(t, environment.Repository, "file", "x")
	gittest.Run(t, environment.Repository, "add", ".")
	gittest.Run(t, environment.Repository, "commit", "-qm", "first")
	gittest.Run(t, environment.Repository, "branch", "feature")
	server.Publish(environment, app, other, waiting, done, newest,
		&deckv1.Piped{Id: "p", Name: "first", DeploysCommits: true, State: deckv1.Piped_STATE_CONNECTED},
		&deckv1.Plugin{Name: "kubernetes", PipedId: "p", State: deckv1.Plugin_STATE_RUNNING})
	stateDir := running(t, server)
	for _, s := range shells {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.require(t, t.TempDir(), []string{"PIPEDECK_STATE_DIR=" + stateDir}, []place{
				{"pipedeck app", []string{"apps", "approve"}, []string{"sync"}},
				{"pipedeck sync ", []string{"hello-world"}, nil},
				{"pipedeck sync hello-world ", nil, []string{"hello-world-"}},
				{"pipedeck retry h", []string{"hello-world"}, nil},
				{"pipedeck rollback shop --to ", []string{"dep-0"}, []string{"dep-1", "dep-2"}},
				{"pipedeck approve ", []string{"hello-world", "WAIT_APPROVAL"}, []string{"K8S_CANARY_CLEAN"}},
				{"pipedeck approve hello-world ", []string{"WAIT_APPROVAL"}, []string{"K8S_CANARY_CLEAN"}},
				{"pipedeck approve --as ", []string{"alice"}, nil},
				{"pipedeck skip ", []string{"WAIT_APPROVAL"}, []string{"K8S_PRIMARY_ROLLOUT"}},
				{"pipedeck cancel ", []string{"dep-1", "hello-world"}, []string{"dep-0"}},
				{"pipedeck restart ", []string{"kubernetes"}, nil},
				{"pipedeck restart kubernetes --piped ", []string{"first"}, nil},
				{"pipedeck logs ", []string{"hello-world"}, nil},
				{"pipedeck logs hello-world ", []string{"WAIT_APPROVAL"}, []string{"K8S_PRIMARY_ROLLOUT"}},
				{"pipedeck logs hello-world --stage ", []string{"K8S_CANARY_ROLLOUT", "WAIT_APPROVAL"},
					[]string{"K8S_PRIMARY_ROLLOUT"}},
				{"pipedeck logs --plugin ", []string{"kubernetes"}, nil},
				{"pipedeck open ", []string{"hello-world"}, nil},
				{"pipedeck open hello-world --target ", []string{"local"}, nil},
				{"pipedeck status --name ", []string{"default"}, nil},
				{"pipedeck plan-preview --branch ", []string{"feature", "main"}, nil},
			})
		})
	}
}

func TestShellsOfferValuesAndFilesWithoutAnEnvironment(t *testing.T) {
	t.Parallel()
	require.NoError(t, buildtest.Build(filepath.Join(bin(), "pipedeck-more"),
		"github.com/pipedeck/pipedeck/cmd/pipedeck-more"))
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for _, name := range []string{"file.yaml", "folder/program"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	kubeconfig := filepath.Join(t.TempDir(), "config")
	const listed = "contexts:\n- name: staging\n  context: {cluster: one}\n"
	require.NoError(t, os.WriteFile(kubeconfig, []byte(listed), 0o600))
	for _, s := range shells {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			environ := []string{"PIPEDECK_STATE_DIR=" + filepath.Join(dir, "none"), "KUBECONFIG=" + kubeconfig}
			s.require(t, dir, environ, []place{
				{"pipedeck sync ", nil, []string{"folder", "file.yaml"}},
				{"pipedeck status ", nil, []string{"folder", "file.yaml"}},
				{"pipedeck up ", []string{"folder"}, []string{"file.yaml"}},
				{"pipedeck up --kind-config ", []string{"file.yaml"}, nil},
				{"pipedeck up --sample ", []string{"hello-world"}, nil},
				{"pipedeck up --cluster ", []string{"kind", "embedded", "existing"}, nil},
				{"pipedeck up --context ", []string{"staging"}, nil},
				{"pipedeck up --output ", []string{"plain", "reader"}, []string{"folder"}},
				{"pipedeck up --theme li", []string{"light"}, nil},
				{"pipedeck up --plugin wa", []string{"wait=", "waitapproval="}, nil},
				{"pipedeck up --plugin wait=folder/", []string{"folder/program"}, nil},
				{"pipedeck apps -o ", []string{"json"}, []string{"folder"}},
				{"pipedeck sync x --strategy ", []string{"QUICK_SYNC"}, nil},
				{"pipedeck completion ", []string{"bash", "zsh", "fish"}, nil},
				{"pipedeck help plugin", []string{"plugins"}, nil},
				{"pipedeck validate ", []string{"file.yaml", "folder"}, nil},
				{"pipedeck validate file.yaml ", []string{"folder"}, nil},
				{"pipedeck validate --st", []string{"--strict"}, nil},
				{"pipedeck migrate ", []string{"file.yaml"}, nil},
				{"pipedeck encrypt ", nil, []string{"file.yaml"}},
				{"pipedeck plugin ", []string{"verify", "push"}, []string{"file.yaml"}},
			})
		})
	}
}

// require completes each line and checks what the shell offers.
func (s shell) require(t *testing.T, dir string, environ []string, places []place) {
	t.Helper()
	var lines []string
	for _, p := range places {
		lines = append(lines, p.line)
	}
	offered := s.complete(t, dir, environ, lines...)
	for _, p := range places {
		for _, want := range p.offers {
			require.Contains(t, offered[p.line], want, "%s", p.line)
		}
		for _, not := range p.hides {
			if s.name == "fish" && p.line == "pipedeck up " {
				continue // fish lists files where directories are wanted
			}
			require.NotContains(t, offered[p.line], not, "%s", p.line)
		}
		if len(p.offers) == 0 {
			require.NotContains(t, offered[p.line], "rror", "%s", p.line)
		}
	}
}
