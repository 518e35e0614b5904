// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	api "github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/piped/config"
)

// scene is what PipeCD's piped was asked and did.
type scene struct {
	commands []*model.Command
	// outputs and statuses are its answers, calls its calls to the control plane, in the order of the recording.
	outputs  map[string]map[string]any
	statuses map[string]model.CommandStatus
	calls    []string
	// configs are the configurations of the applications after the merge; previews the answers of plugin kubernetes.
	ids      []string
	configs  map[string]string
	previews map[string][]byte
}

func readScene(t *testing.T, name string) scene {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "api", "testdata", "recordings", name+".jsonl"))
	require.NoError(t, err)
	defer file.Close()
	s := scene{
		outputs: map[string]map[string]any{}, statuses: map[string]model.CommandStatus{}, configs: map[string]string{},
		previews: map[string][]byte{},
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var call struct {
			Link, Method string
			Req, Resp    []byte
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &call))
		decode := func(data []byte, into proto.Message) { require.NoError(t, proto.Unmarshal(data, into)) }
		switch path.Base(call.Method) {
		case "ListUnhandledCommands":
			answer := &pipedservice.ListUnhandledCommandsResponse{}
			decode(call.Resp, answer)
			s.commands = append(s.commands, answer.GetCommands()...)
		case "GetApplicationMostRecentDeployment":
			r := &pipedservice.GetApplicationMostRecentDeploymentRequest{}
			decode(call.Req, r)
			s.calls = append(
				s.calls, "GetApplicationMostRecentDeployment "+r.GetApplicationId()+" "+r.GetStatus().String(),
			)
		case "GetPlanPreview":
			r := &api.GetPlanPreviewRequest{}
			decode(call.Req, r)
			s.configs[r.GetApplicationId()] = string(r.GetTargetDeploymentSource().GetApplicationConfig())
			if !slices.Contains(s.ids, r.GetApplicationId()) {
				s.ids = append(s.ids, r.GetApplicationId())
			}
			if call.Link == "piped>kubernetes" {
				s.previews[r.GetApplicationId()] = call.Resp
			}
		case "ReportCommandHandled":
			r := &pipedservice.ReportCommandHandledRequest{}
			decode(call.Req, r)
			var output map[string]any
			require.NoError(t, json.Unmarshal(r.GetOutput(), &output))
			s.outputs[r.GetCommandId()], s.statuses[r.GetCommandId()] = output, r.GetStatus()
			s.calls = append(s.calls, "ReportCommandHandled "+r.GetCommandId()+" "+r.GetStatus().String())
		}
	}
	require.NoError(t, lines.Err())
	return s
}

// play makes a repository and plugins like those of the recording.
func (s scene) play(t *testing.T) (w *world, conflicting, clean string) {
	t.Helper()
	w = newWorld(t, worldOptions{plugins: []config.Plugin{
		plugin(t, "kubernetes", map[string]any{
			"stages":   []string{"K8S_SYNC", "K8S_CANARY_ROLLOUT", "K8S_PRIMARY_ROLLOUT", "K8S_CANARY_CLEAN"},
			"quick":    "K8S_SYNC",
			"strategy": "PIPELINE", "preview": "recorded", "previews": s.previews,
		}),
		plugin(t, "wait", map[string]any{"stages": []string{"WAIT"}}),
		plugin(t, "scriptrun", map[string]any{"stages": []string{"SCRIPT_RUN"}}),
	}})
	before, after := map[string]string{}, map[string]string{}
	for _, id := range s.ids {
		text := s.configs[id]
		application, err := config.ParseApplication([]byte(text), "app.pipecd.yaml")
		require.NoError(t, err)
		name := application.Name
		before[name+"/app.pipecd.yaml"], before[name+"/deployment.yaml"] = text, "version 2"
		after[name+"/deployment.yaml"] = "version 9"
		a := &model.Application{
			Id: id, Name: name,
			GitPath: &model.ApplicationGitPath{
				Repo: &model.ApplicationGitRepository{Id: "repo1"}, Path: name, ConfigFilename: "app.pipecd.yaml",
			},
			DeployTargetsByPlugin: map[string]*model.DeployTargets{"kubernetes": {DeployTargets: []string{"c1"}}},
		}
		w.plane.applications = append(w.plane.applications, a)
	}
	deployed := w.commit(before)
	reference := &model.ApplicationDeploymentReference{
		DeploymentId: "d", ConfigFilename: "app.pipecd.yaml", StartedAt: 1,
		Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: deployed}, Timestamp: 1},
	}
	w.plane.success = reference
	for _, a := range w.plane.applications {
		a.MostRecentlyTriggeredDeployment = reference
	}
	w.git("checkout", "-q", "-b", "old", deployed)
	conflicting = w.commit(
		map[string]string{
			"kc/deployment.yaml": "version 3", "kc/app.pipecd.yaml": before["kc/app.pipecd.yaml"] + "# 3\n",
		},
	)
	w.git("checkout", "-q", "main")
	w.commit(
		map[string]string{
			"kc/deployment.yaml": "version 4", "kc/app.pipecd.yaml": before["kc/app.pipecd.yaml"] + "# 4\n",
		},
	)
	w.git("checkout", "-q", "-b", "feature")
	clean = w.commit(after)
	w.git("checkout", "-q", "main")
	w.commit(map[string]string{"other": "so that there is a merge"})
	return w, conflicting, clean
}

// TestAnswersAreThoseOfPipeCDsPiped makes the recorded commands and compares answers and calls to the control plane.
// What differs, and why:
//
//   - created_at is the present.
//   - The strategy of kc is the plugin's word. PipeCD asks the plugins with a deployment that they all refuse, and says
//
// AUTO.
//   - plan_summary has the reason for the strategy, where PipeCD v1 has none. pipectl skips it.
//   - The words of a conflict are ours behind the same beginning: there is no output of the git program to quote.
//   - Applications are worked on side by side, so that calls about different ones may change places.
func TestAnswersAreThoseOfPipeCDsPiped(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a6-plan-preview-conflict-and-ok", "a6b-plan-preview-k8s"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readScene(t, name)
			w, conflicting, clean := s.play(t)
			require.NotEmpty(t, s.commands)
			for _, command := range s.commands {
				id, want := command.GetId(), s.outputs[command.GetId()]
				recorded := command.GetBuildPlanPreview().GetHeadCommit()
				command.CreatedAt = 0
				command.BuildPlanPreview.HeadCommit = clean
				if s.statuses[id] == model.CommandStatus_COMMAND_FAILED {
					command.BuildPlanPreview.HeadCommit = conflicting
				}
				w.maker.HandleCommands(t.Context(), []*model.Command{command})
				w.answer(id)
				var got map[string]any
				w.plane.mu.Lock()
				report := w.plane.handled[id]
				w.plane.mu.Unlock()
				require.Equal(t, s.statuses[id], report.GetStatus())
				require.NoError(t, json.Unmarshal(report.GetOutput(), &got))
				// The identity of our piped is that of the test.
				want = adapt(t, want, model.SyncStrategy_AUTO)
				got = adapt(t, got, model.SyncStrategy_PIPELINE)
				if text, failed := want["error"].(string); failed {
					beginning, _, _ := strings.Cut(text, " (err:")
					beginning = strings.Replace(beginning, recorded, conflicting, 1)
					require.True(t, strings.HasPrefix(got["error"].(string), beginning), got["error"])
					require.Contains(t, got["error"], "kc/deployment.yaml: both sides")
					delete(want, "error")
					delete(got, "error")
				}
				require.Equal(t, want, got)
			}
			slices.Sort(s.calls)
			slices.Sort(w.plane.calls)
			require.Equal(t, s.calls, w.plane.calls)
		})
	}
}

// adapt takes out what differs for the reasons above. strategy is that of kc.
func adapt(t *testing.T, output map[string]any, strategy model.SyncStrategy) map[string]any {
	t.Helper()
	require.NotEmpty(t, output["piped_id"])
	output["piped_id"] = "piped"
	results, _ := output["results"].([]any)
	for _, one := range results {
		r := one.(map[string]any)
		require.Positive(t, r["created_at"])
		delete(r, "created_at")
		delete(r, "plan_summary")
		r["piped_id"], r["project_id"] = "piped", "project"
		if r["application_name"] == "kc" {
			number, _ := r["sync_strategy"].(float64)
			require.Equal(t, strategy, model.SyncStrategy(number))
			delete(r, "sync_strategy")
		}
	}
	return output
}
