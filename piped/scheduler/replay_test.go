// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/source"
)

// recording is what PipeCD's piped did with one deployment: the deployment as it was created, its
// configuration, and the calls to the control plane from then on.
type recording struct {
	deployment *model.Deployment
	config     string
	calls      []proto.Message
}

func readRecording(t *testing.T, name string) recording {
	t.Helper()
	file, err := os.Open(filepath.Join("../../api/testdata/recordings", name+".jsonl"))
	require.NoError(t, err)
	defer file.Close()
	var r recording
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var call struct {
			Link, Method string
			Req          []byte
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &call))
		decode := func(into proto.Message) proto.Message {
			require.NoError(t, proto.Unmarshal(call.Req, into))
			return into
		}
		switch method := path.Base(call.Method); method {
		case "CreateDeployment":
			r.deployment = decode(
				&pipedservice.CreateDeploymentRequest{},
			).(*pipedservice.CreateDeploymentRequest).GetDeployment()
		case "ExecuteStage":
			request := decode(&deployment.ExecuteStageRequest{}).(*deployment.ExecuteStageRequest)
			r.config = string(request.GetInput().GetTargetDeploymentSource().GetApplicationConfig())
		default:
			empty := map[string]proto.Message{
				"ReportDeploymentPlanned":               &pipedservice.ReportDeploymentPlannedRequest{},
				"ReportDeploymentStatusChanged":         &pipedservice.ReportDeploymentStatusChangedRequest{},
				"ReportStageStatusChanged":              &pipedservice.ReportStageStatusChangedRequest{},
				"ReportDeploymentCompleted":             &pipedservice.ReportDeploymentCompletedRequest{},
				"ReportApplicationMostRecentDeployment": &pipedservice.ReportApplicationMostRecentDeploymentRequest{},
				"ReportCommandHandled":                  &pipedservice.ReportCommandHandledRequest{},
			}[method]
			if empty != nil && call.Link == "piped>cp" {
				r.calls = append(r.calls, decode(empty))
			}
		}
	}
	require.NoError(t, lines.Err())
	return r
}

var bundled = []string{"wait", "waitapproval", "scriptrun"}

// buildBundled puts the bundled plugins next to the test plugin.
var buildBundled = sync.OnceValue(func() error {
	args := []string{"build", "-o", filepath.Dir(testPlugin)}
	for _, name := range bundled {
		args = append(args, "../../plugins/"+name)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the bundled plugins: %w\n%s", err, out)
	}
	return nil
})

// startBundled is an agent with the bundled plugins and one configuration.
func startBundled(t *testing.T, raw string) *agent {
	t.Helper()
	require.NoError(t, buildBundled())
	var plugins []config.Plugin
	for _, name := range bundled {
		plugins = append(
			plugins,
			config.Plugin{Name: name, URL: "file://" + filepath.Join(filepath.Dir(testPlugin), name)},
		)
	}
	dir := t.TempDir()
	return startAgentWith(
		t,
		startControlPlane(t),
		plugins,
		func(context.Context, source.Wanted) (*source.Source, error) {
			s, err := configured(raw, dir)
			if err == nil {
				s.RawConfig = []byte(raw)
			}
			return s, err
		},
	)
}

// TestCallsAreThoseOfPipeCDsPiped compares, field by field and in their order, what the control plane is
// received of a deployment from its plan on. Ids and times are free. So are summaries and reasons: ours are in
// our own words, name stages instead of ids, and stages that failed have one too. Stage logs, metadata,
// sync states and "deploying" are not compared.
func TestCallsAreThoseOfPipeCDsPiped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		configure func(string) string
		meanwhile func(*testing.T, *agent, *model.Deployment)
		// differ changes what was recorded into what is expected, with the reason next to it.
		differ func([]string) []string
	}{
		"a1-wait-script": {},
		"a2-approval-by-two": {meanwhile: func(t *testing.T, a *agent, d *model.Deployment) {
			a.controlPlane.awaitCall(t, "Stage WAIT_APPROVAL RUNNING 0")
			stage := a.controlPlane.plan(d.GetId()).GetStages()[0].GetId()
			var approvals []*model.Command
			for _, user := range []string{"alice", "bob"} {
				approvals = append(approvals, &model.Command{
					Id: "approval by " + user, Type: model.Command_APPROVE_STAGE, DeploymentId: d.GetId(),
					StageId: stage, Commander: user,
				})
			}
			a.commands.Replace(approvals)
			a.controlPlane.awaitEnd(t, d.GetId())
		}},
		"a3-failure-rollback": {differ: func(calls []string) []string {
			// Of each rollback stage PipeCD says that it requires the failed stage. The second one follows the first
			// one.
			second := calls[len(calls)-2]
			require.Contains(t, second, `"requires":["#02"],"stage_id":"#04","status":"STAGE_SUCCESS"`)
			for i := range calls {
				if strings.Contains(calls[i], `"stage_id":"#04"`) {
					calls[i] = strings.Replace(calls[i], `"requires":["#02"]`, `"requires":["#03"]`, 1)
				}
			}
			return calls
		}},
		"a4-cancel": {meanwhile: func(t *testing.T, a *agent, d *model.Deployment) {
			a.controlPlane.awaitCall(t, "Stage WAIT RUNNING 0")
			a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", d.GetId())})
			a.controlPlane.await(t, "the command", func() bool { return a.controlPlane.handled["c"] != nil })
		}},
		"a5-stage-timeout": {
			configure: func(text string) string { return strings.Replace(text, "timeout: 10s", "timeout: 200ms", 1) },
			differ: func(calls []string) []string {
				// A timeout is a failure; PipeCD means to say so as well, but reports it as cancelled by no one.
				for i := range calls {
					calls[i] = strings.NewReplacer(
						"STAGE_CANCELLED", "STAGE_FAILURE", "DEPLOYMENT_CANCELLED", "DEPLOYMENT_FAILURE",
					).Replace(calls[i])
				}
				return calls
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorded := readRecording(t, name)
			want := callsOf(t, recorded.calls)
			if c.differ != nil {
				want = c.differ(want)
			}
			text := recorded.config
			if c.configure != nil {
				text = c.configure(text)
			}
			a := startBundled(t, text)
			a.Submit(recorded.deployment)
			if c.meanwhile != nil {
				c.meanwhile(t, a, recorded.deployment)
			}
			id := recorded.deployment.GetId()
			a.controlPlane.awaitEnd(t, id)
			a.controlPlane.await(t, "the application to be at rest", func() bool {
				deploying, known := a.controlPlane.deploying[recorded.deployment.GetApplicationId()]
				return known && !deploying
			})
			a.stop()
			require.Equal(t, want, callsOf(t, a.controlPlane.requests))
		})
	}
}

var (
	freeField = regexp.MustCompile(`^(.*_at|timestamp|summary|status_reason)$`)
	idField   = regexp.MustCompile(`^(id|.*_id|requires)$`)
)

// callsOf writes calls so that they can be compared, one JSON object each.
func callsOf(t *testing.T, calls []proto.Message) []string {
	t.Helper()
	n := &normal{ids: map[string]string{}}
	var list []string
	for _, call := range calls {
		switch r := call.(type) {
		case *pipedservice.ReportDeploymentPlannedRequest, *pipedservice.ReportDeploymentStatusChangedRequest,
			*pipedservice.ReportStageStatusChangedRequest, *pipedservice.ReportDeploymentCompletedRequest,
			*pipedservice.ReportCommandHandledRequest:
		case *pipedservice.ReportApplicationMostRecentDeploymentRequest:
			if r.GetStatus() == model.DeploymentStatus_DEPLOYMENT_PENDING {
				continue // the trigger's
			}
		default:
			continue
		}
		data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(call)
		require.NoError(t, err)
		var fields map[string]any
		require.NoError(t, json.Unmarshal(data, &fields))
		text, err := json.Marshal(n.value("", fields))
		require.NoError(t, err)
		list = append(list, fmt.Sprintf("%s %s", call.ProtoReflect().Descriptor().Name(), text))
	}
	return list
}

// normal gives ids numbers in the order in which they appear.
type normal struct{ ids map[string]string }

func (n *normal) id(id string) string {
	if n.ids[id] == "" {
		n.ids[id] = fmt.Sprintf("#%02d", len(n.ids))
	}
	return n.ids[id]
}

func (n *normal) value(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		changed := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch {
			case freeField.MatchString(key):
			case name == "stage_statuses":
				changed[n.id(key)] = v[key]
			default:
				changed[key] = n.value(key, v[key])
			}
		}
		return changed
	case []any:
		for i := range v {
			v[i] = n.value(name, v[i])
		}
	case string:
		if idField.MatchString(name) {
			return n.id(v)
		}
	}
	return value
}
