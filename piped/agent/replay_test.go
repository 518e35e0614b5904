// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/piped/agent"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/buildtest"
)

// sharedFile holds differences that several scenarios show.
const sharedFile = "common"

// ofDeployments are the methods whose calls are compared where a recording shows deployments; the rest are polls, logs
// and reports about something else, which a recording has or has not.
var ofDeployments = []string{
	"CreateDeployment", "ReportDeploymentPlanned", "ReportDeploymentStatusChanged", "ReportStageStatusChanged",
	"ReportDeploymentCompleted",
	"ReportApplicationMostRecentDeployment", "ReportApplicationDeployingStatus", "GetApplicationMostRecentDeployment",
	"SaveStageMetadata", "SaveDeploymentMetadata", "SaveDeploymentPluginMetadata", "PutApplicationSharedObject",
	"ReportCommandHandled",
	"DetermineVersions", "DetermineStrategy", "BuildPipelineSyncStages", "BuildQuickSyncStages", "ExecuteStage",
}

var ofLiveStates = []string{"GetLivestate", "ReportApplicationLiveState", "ReportApplicationSyncState"}

// scenario is a recording and what surrounds it.
type scenario struct {
	recording string
	// name is that of the recording by default; the differences that we mean to have are in a file of this name.
	name string
	// rewrite makes another recording of it; nil leaves it as it is.
	rewrite func([]call) []call
	// methods are compared; those of deployments by default.
	methods []string
	// untouched is for deployments that none of our commits asks for.
	untouched bool
	// prepare changes the control plane before the agent starts.
	prepare func(*testing.T, *stage)
	// seen is called after each call, with the plane's lock held.
	seen func(*stage, proto.Message)
	// over reports, with the plane's lock held, whether everything has happened. Default: all deployments are at rest.
	over func(*stage) bool
	// check looks at what is no part of the recording; nil for nothing.
	check func(*testing.T, *stage)
}

var scenarios = []scenario{
	{
		recording: "a0-start-up", prepare: startUp, over: started,
		methods: append([]string{"ReportPipedMeta", "FetchDefinedStages",
			"ReportUnregisteredApplicationConfigurations"}, polls...),
	},
	{recording: "a1-wait-script"},
	{
		name: "a1-first-of-a-chain", recording: "a1-wait-script", rewrite: firstOfChain,
		methods: append([]string{"InChainDeploymentPlannable", "CreateDeploymentChain"}, ofDeployments...),
	},
	{recording: "a1b-sync-command", untouched: true, prepare: askToSync, check: answered},
	{
		name: "a1b-in-a-chain", recording: "a1b-sync-command", untouched: true, rewrite: inChain,
		prepare: askToSyncInChain, check: answered,
		methods: append([]string{"InChainDeploymentPlannable", "CreateDeploymentChain"}, ofDeployments...),
	},
	{recording: "a2-approval-by-two", seen: approve},
	{recording: "a3-failure-rollback"},
	{recording: "a4-cancel", seen: cancel},
	{recording: "a5-stage-timeout"},
	{recording: "a7-livestate-drift", prepare: deployedBefore, over: lookedAt(3), methods: ofLiveStates},
	{recording: "a7b-livestate-stage-only", prepare: deployedBefore, over: polledTwice, methods: ofLiveStates},
	{recording: "a8-event-watcher", untouched: true, prepare: registerEvent,
		methods: append([]string{"GetLatestEvent", "ReportEventStatuses"}, ofDeployments...)},
	{
		recording: "a9-polls", prepare: registered, over: corrected,
		methods: []string{"UpdateApplicationConfigurations", "ReportUnregisteredApplicationConfigurations"},
	},
	{recording: "b1-analysis"},
	{recording: "b2-k8s-no-target"},
	{recording: "b3-k8s-quicksync"},
	{recording: "b4-k8s-canary"},
	{recording: "b7-k8s-kustomize"},
}

func TestCallsAreThoseOfPipeCDsPiped(t *testing.T) {
	t.Parallel()
	program := buildtest.Program(t, "./internal/replayplugin")
	shared := readExpectations(t, sharedFile)
	var mu sync.Mutex
	met, ran := map[expectation]bool{}, 0
	t.Cleanup(func() {
		if ran < len(scenarios) || t.Failed() {
			return
		}
		for _, e := range shared {
			if !met[e] {
				t.Errorf("%s.yaml lists a difference that no scenario shows any longer: %s %s", e.source, e.Call,
					e.Field)
			}
		}
	})
	for _, c := range scenarios {
		if c.name == "" {
			c.name = c.recording
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			own := readExpectations(t, c.name)
			found := settle(t, c.differences(t, program), append(slices.Clone(shared), own...))
			for _, e := range own {
				if !found[e] {
					t.Errorf("%s.yaml lists a difference that does not occur any longer: %s %s", e.source, e.Call,
						e.Field)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(met, found)
			ran++
		})
	}
}

// differences plays the scenario with our agent.
func (c scenario) differences(t *testing.T, program string) []difference {
	t.Helper()
	recorded := readRecording(t, c.recording)
	if c.rewrite != nil {
		recorded = c.rewrite(recorded)
	}
	s := newStage(t, recorded, c.untouched)
	if c.prepare != nil {
		c.prepare(t, s)
	}
	if c.seen != nil {
		s.plane.seen = func(m proto.Message) { c.seen(s, m) }
	}
	over := c.over
	if over == nil {
		over = (*stage).atRest
	}
	stop := s.start(t, program)
	for i := range s.revisions {
		if i > 0 {
			s.push(t)
		}
		s.plane.await(t, fmt.Sprint("the end of part ", i+1), func() bool { return over(s) })
	}
	stop()
	require.Equal(t, []string{"PIPED-TOKEN proj," + s.pipedID + "," + strings.Repeat("K", 50)},
		s.plane.metadata.Get("authorization"))
	if c.check != nil {
		c.check(t, s)
	}

	methods := c.methods
	if methods == nil {
		methods = ofDeployments
	}
	theirs, ours := &names{pairs: s.theirs}, &names{pairs: s.ours}
	theirs.add(s.remote, "REMOTE")
	theirs.add(strings.TrimSuffix(s.remote, ".git"), "PAGES")
	ours.add("file://"+s.repository, "REMOTE")
	ours.add("file://"+strings.TrimSuffix(s.repository, ".git"), "PAGES")
	made := s.made()
	theirs.learn(s.recorded, slices.Collect(s.hashes(true)))
	ours.learn(made, slices.Collect(s.hashes(false)))
	return compare(theirs.write(t, only(toOthers(s.recorded), methods...)), ours.write(t, only(made, methods...)))
}

// toOthers keeps what piped has asked others.
func toOthers(calls []call) []call {
	return slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return !strings.HasPrefix(c.link, "piped>") })
}

// start runs the agent until the function that it returns is called.
func (s *stage) start(t *testing.T, program string) (stop func()) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"apiVersion": "pipecd.dev/v1beta1", "kind": "Piped",
		"spec": s.specification(t, "file://"+program)})
	require.NoError(t, err)
	piped, err := config.ParsePiped(text, "piped.yaml")
	require.NoError(t, err)
	a, err := agent.New(agent.Options{
		Config: piped, Version: "unspecified", WorkDir: filepath.Join(s.dir, "work"),
		ControlPlane: agent.ControlPlaneOptions{Insecure: true},
		Plugins: agent.PluginOptions{
			ToolsDir: filepath.Join(s.dir, "tools"), GracePeriod: time.Second, StartTimeout: patience,
		},
		Logger: s.logger(t),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			require.NoError(t, <-done)
		})
	}
	t.Cleanup(stop)
	return stop
}

// specification is the "spec" of the agent's configuration.
func (s *stage) specification(t *testing.T, program string) map[string]any {
	t.Helper()
	if s.configure != nil {
		return s.configure(t, s, program)
	}
	plugins := []any{}
	for _, p := range s.plugins {
		entry := map[string]any{"name": p.name, "url": program, "port": 0, "config": pluginConfig{Backend: p.address}}
		if p.name == "kubernetes" {
			entry["deployTargets"] = []any{map[string]any{"name": "c1",
				"config": map[string]string{"kubeConfigPath": "/none"}}}
		}
		plugins = append(plugins, entry)
	}
	return map[string]any{
		"projectID": "proj", "pipedID": s.pipedID, "pipedKeyFile": s.write(t, "key", strings.Repeat("K", 50)),
		"apiAddress":   s.plane.address,
		"repositories": []any{map[string]any{"repoId": "repo1", "remote": "file://" + s.repository, "branch": "main"}},
		"plugins":      plugins,
	}
}
