// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

func degradedSnapshot() *session.State {
	s := &session.State{Deck: state.New()}
	for _, c := range decktest.Components() {
		s.Apply(&deckv1.Event{Kind: &deckv1.Event_Component{Component: c}})
	}
	for _, p := range decktest.Problems() {
		s.Apply(&deckv1.Event{Kind: &deckv1.Event_Problem{Problem: p}})
	}
	return s
}

func TestStatusListsProblemsWithTheirNextStep(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, printStatus(&out, degradedSnapshot(), nil, nil, &format.Output{}))
	require.Contains(t, out.String(), "degraded: 2 problems")
	require.NotContains(t, out.String(), "SHARED")
	require.Regexp(t,
		`plugin wait +\S+ +quarantined: it ended 5 times .* fix the program, or run: pipedeck restart wait`,
		out.String())

	server := decktest.Start(t)
	server.Publish(decktest.Environment())
	stateDir, _ := running(t, server)
	var shown document.Status
	code, stdout, stderr := command(t.Context(), stateDir, "status", "-o", "json")
	require.Zero(t, code, stderr)
	clitest.Document(t, "status", stdout, &shown)
	require.False(t, shown.Degraded)

	for _, p := range decktest.Problems() {
		server.Publish(p)
	}
	code, stdout, _ = command(t.Context(), stateDir, "status", "-o", "json")
	require.Equal(t, exit.Degraded, code)
	clitest.Document(t, "status", stdout, &shown)
	require.True(t, shown.Degraded)
	require.Equal(t, "Kubernetes", shown.Problems[0].Part)
	require.NotEmpty(t, shown.Problems[0].Reason)
	require.NotEmpty(t, shown.Problems[0].NextStep)
	require.NotEmpty(t, shown.Problems[0].Since)
}

func TestStatusShowsWhereApplicationsAnswerOnThisMachine(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	environment := decktest.Environment()
	environment.Clusters = []*deckv1.Cluster{
		{Name: "local", Kind: "embedded", LocalPods: true}, {Name: "far", Kind: "kind"},
	}
	app, far := decktest.Application(), decktest.Application()
	app.DeployTargets = []string{"kubernetes/local"}
	far.Id, far.Name, far.DeployTargets = "far", "far", []string{"kubernetes/far"}
	server.Publish(environment, app, far)
	stateDir, _ := running(t, server)
	code, stdout, stderr := command(t.Context(), stateDir, "status", "-o", "json")
	require.Zero(t, code, stderr)
	var shown document.Status
	clitest.Document(t, "status", stdout, &shown)
	require.Equal(t, []document.Address{{
		App: app.GetName(), AppID: app.GetId(), URL: "http://127.0.0.1:34567",
		Detail: "Service default/hello-world, port http, 2 of 2 pods ready",
	}}, shown.Addresses, "a forward to another cluster is not opened")
	_, stdout, _ = command(t.Context(), stateDir, "status")
	require.Regexp(t, app.GetName()+` +http://127\.0\.0\.1:34567 +Service default/hello-world`, stdout)
}

func TestApplicationsAreListedWithTheMistakesOfTheirConfiguration(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	app := decktest.Application()
	other := &deckv1.Application{Id: "other", Name: "sound"}
	server.Publish(decktest.Environment(), app, other, decktest.Mistake())
	stateDir, _ := running(t, server)
	code, stdout, stderr := command(t.Context(), stateDir, "apps")
	require.Zero(t, code, stderr)
	require.Regexp(t, app.GetName()+` .*hello-world/app\.pipecd\.yaml:9:3: spec\.pipelin: unknown key "pipelin" is `+
		`not read; did you mean "pipeline"\?; next step: correct the file and commit it\n`, stdout)
	require.Regexp(t, `sound .* -\n`, stdout)

	app.Sync = deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG
	app.SyncShortReason = decktest.Mistake().GetReason()
	server.Publish(app)
	_, stdout, _ = command(t.Context(), stateDir, "apps")
	require.Contains(t, stdout, "INVALID_CONFIG")
	require.Equal(t, 1, strings.Count(stdout, decktest.Mistake().GetReason()), "which is shown once: "+stdout)

	_, stdout, _ = command(t.Context(), stateDir, "apps", "-o", "json")
	var shown document.Applications
	clitest.Document(t, "applications", stdout, &shown)
	require.Len(t, shown.Applications, 2)
	require.Equal(t, decktest.Mistake().GetReason(), shown.Applications[0].Problem)
	require.Equal(t, decktest.Mistake().GetNextStep(), shown.Applications[0].NextStep)
	require.Empty(t, shown.Applications[1].Problem)
	require.Equal(t, "INVALID_CONFIG", shown.Applications[0].Sync)
}

func TestApplicationsSayWhyTheirLastDeploymentFailed(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	app, d := decktest.Application(), decktest.Failed()
	app.Sync, app.SyncShortReason = deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC, "The last deployment failed"
	d.ApplicationId, d.Status = app.GetId(), deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE
	d.StatusReason = "Stage K8S_SYNC failed: web.yaml:8: no such field; next step: write replicas"
	app.SyncReason = d.GetStatusReason()
	server.Publish(decktest.Environment(), app, d)
	stateDir, _ := running(t, server)
	_, stdout, _ := command(t.Context(), stateDir, "apps")
	require.Contains(t, stdout, "   The last deployment failed: "+d.GetStatusReason()+"\n")

	d.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	server.Publish(d)
	_, stdout, _ = command(t.Context(), stateDir, "apps")
	require.Contains(t, stdout, "   The last deployment failed\n")
}

func TestStatusListsPipedsWithTheirApplications(t *testing.T) {
	t.Parallel()
	s := degradedSnapshot()
	for _, event := range decktest.Events(
		&deckv1.Piped{Id: "p1", Name: "default", State: deckv1.Piped_STATE_CONNECTED, Version: "v0.1.0",
			Repositories: []string{"sample"}, Own: true},
		&deckv1.Piped{Id: "p2", Name: "legacy", State: deckv1.Piped_STATE_DISCONNECTED, Version: "v0.57.1"},
		&deckv1.Application{Id: "a1", Name: "web", PipedId: "p1"},
		&deckv1.Application{Id: "a2", Name: "web", PipedId: "p2"},
		&deckv1.Plugin{Name: "wait", PipedId: "p1"}, &deckv1.Plugin{Name: "wait", PipedId: "p2"},
	) {
		s.Apply(event)
	}
	var out bytes.Buffer
	require.NoError(t, printStatus(&out, s, nil, nil, &format.Output{}))
	require.Regexp(t, `default +CONNECTED +v0\.1\.0 +1 +sample +p1\nlegacy +DISCONNECTED +v0\.57\.1 +1 +- +p2\n`,
		out.String())

	out.Reset()
	require.NoError(t, showStatus(&session.Session{State: s, Out: &out}, nil, nil, clitest.JSON(t)))
	var shown document.Status
	clitest.Document(t, "status", out.String(), &shown)
	require.Equal(t, "legacy DISCONNECTED", shown.Pipeds[1].Name+" "+shown.Pipeds[1].State)
	require.True(t, shown.Pipeds[0].Own)
}

func TestStatusIsNoSuccessWhileThePipedOfTheEnvironmentIsNotConnected(t *testing.T) {
	t.Parallel()
	component := func(name string, state deckv1.Component_State) *deckv1.Component {
		return &deckv1.Component{Name: name, State: state}
	}
	own := func(state deckv1.Piped_State) *deckv1.Piped {
		return &deckv1.Piped{Id: "p1", Name: "default", State: state, Own: true}
	}
	for name, c := range map[string]struct {
		parts    []proto.Message
		code     int
		starting []string
	}{
		"all is ready": {[]proto.Message{component("piped", deckv1.Component_STATE_READY),
			own(deckv1.Piped_STATE_CONNECTED)}, exit.OK, nil},
		"the first start": {[]proto.Message{component("kubernetes", deckv1.Component_STATE_STARTING),
			component("piped", deckv1.Component_STATE_PENDING)}, exit.NotStarted, []string{"kubernetes", "piped"}},
		"a process that was started again": {[]proto.Message{component("piped", deckv1.Component_STATE_STARTING),
			own(deckv1.Piped_STATE_DISCONNECTED)}, exit.NotStarted, []string{"piped"}},
		"a piped that has lost its connection": {[]proto.Message{component("piped", deckv1.Component_STATE_READY),
			own(deckv1.Piped_STATE_DISCONNECTED)}, exit.NotStarted, []string{"piped"}},
		"a piped that has never called": {[]proto.Message{own(deckv1.Piped_STATE_NEVER_CONNECTED)}, exit.NotStarted,
			[]string{"piped"}},
		"a piped that a user has disabled": {[]proto.Message{own(deckv1.Piped_STATE_DISABLED)}, exit.OK, nil},
		"a piped of others": {[]proto.Message{&deckv1.Piped{Id: "p2", Name: "other",
			State: deckv1.Piped_STATE_DISCONNECTED}}, exit.OK, nil},
		"a problem is worse": {[]proto.Message{component("kubernetes", deckv1.Component_STATE_STARTING),
			decktest.Problems()[0]}, exit.Degraded, []string{"kubernetes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(append([]proto.Message{decktest.Environment()}, c.parts...)...)
			stateDir, _ := running(t, server)
			code, stdout, stderr := command(t.Context(), stateDir, "status", "-o", "json")
			require.Equal(t, c.code, code, stderr)
			var shown document.Status
			clitest.Document(t, "status", stdout, &shown)
			require.ElementsMatch(t, c.starting, shown.Starting)
			if c.code != exit.NotStarted {
				require.Empty(t, stderr)
				return
			}
			require.Contains(t, stderr, `pipedeck: environment "default" is still starting: `+
				strings.Join(shown.Starting, ", "))
			require.Contains(t, stderr, "next step: try again in a moment, or watch it with: pipedeck attach")
		})
	}
}

func TestCommandsSayWhatIsBuiltBeforeThereIsAnything(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Environment(), &deckv1.Component{Name: "plugin greeter", Detail: "compiling /src/greeter",
		State: deckv1.Component_STATE_STARTING, StartedAt: timestamppb.New(time.Now().Add(-time.Minute))})
	stateDir, _ := running(t, server)
	const said = `environment "default" is still starting: plugin greeter (compiling /src/greeter, for 1m0s)`
	for _, name := range []string{"status", "plugins", "deployments", "apps"} {
		_, _, stderr := command(t.Context(), stateDir, name)
		require.Contains(t, stderr, said, name)
	}

	// Before the environment has begun, its process builds the plugin to check the applications against it.
	dir := t.TempDir()
	w, err := workspace.At(dir, "default")
	require.NoError(t, err)
	defer workspace.Prepare(w, "building plugin greeter in /src/greeter")()
	for _, name := range []string{"status", "plugins", "deployments"} {
		code, _, stderr := command(t.Context(), dir, name)
		require.Equal(t, exit.NotStarted, code)
		require.Contains(t, stderr, `environment "default" is still starting: building plugin greeter in /src/greeter `+
			`for `)
	}
}

func TestStatusSaysWhoStartedAPluginAndHowOftenItCrashed(t *testing.T) {
	t.Parallel()
	s := degradedSnapshot()
	for _, p := range []*deckv1.Plugin{
		{Name: "calm", State: deckv1.Plugin_STATE_RUNNING},
		{Name: "mine", State: deckv1.Plugin_STATE_RUNNING, Attached: "127.0.0.1:43211"},
		{Name: "shaky", State: deckv1.Plugin_STATE_RUNNING, Crashes: 2, Exits: []*deckv1.PluginExit{
			{Reason: "exited with code 3", At: timestamppb.Now()},
			{Reason: "exited with code 7", At: timestamppb.Now()},
			{Reason: "was ended by a fault", At: timestamppb.Now(), Injected: true},
			{Reason: "was ended by piped", At: timestamppb.Now(), Abandoned: true}}, InjectedEnds: 1, AbandonedEnds: 1},
	} {
		s.Apply(&deckv1.Event{Kind: &deckv1.Event_Plugin{Plugin: p}})
	}
	var out bytes.Buffer
	require.NoError(t, printStatus(&out, s, nil, nil, &format.Output{}))
	require.NotContains(t, out.String(), "plugin calm")
	require.Contains(t, out.String(), "\nplugin mine: attached: its author has started the process at "+
		"127.0.0.1:43211\n")
	require.Regexp(t, `\nplugin shaky: 2 crashes, the last at \S+: it exited with code 7; read more with: `+
		`pipedeck plugins shaky\n`, out.String())
}
