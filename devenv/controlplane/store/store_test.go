// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// The parts lock in one order. Two calls that lock in different orders wait for each other for ever here.
func TestCallsOfAllPartsAtTheSameTimeDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	const rounds = 100
	s, j := reopen(t, filepath.Join(t.TempDir(), "history"), store.Limits{Events: 10, Deployments: 20, Chains: 5})
	importApplication(s, "a", map[string]string{"chain": "yes"})
	importApplication(s, "b", nil)
	calls := deploymentCalls(t, s)
	maps.Copy(calls, otherCalls(t, s))
	calls["snapshots"] = func(int) {
		sub, _ := s.Subscribe(true)
		sub.Resync()
		sub.Close()
		j.Replace()
	}
	var group sync.WaitGroup
	for _, call := range calls {
		group.Go(func() {
			for i := range rounds {
				call(i)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("calls wait for each other")
	}
	kept(t, j)
}

func deploymentCalls(t *testing.T, s *store.Store) map[string]func(i int) {
	return map[string]func(i int){
		"deployments": func(i int) {
			id := fmt.Sprint("d", i)
			stage := run(t, s, id, "a")
			_ = s.Deployments.ReportStage(piped, &pipedservice.ReportStageStatusChangedRequest{
				DeploymentId: id, StageId: stage, Status: model.StageStatus_STAGE_RUNNING,
			})
			_ = s.Deployments.AppendLog(piped, store.LogReport{DeploymentID: id, StageID: stage,
				Blocks: blocks(0, 3, "x")})
			_, _ = s.Deployments.ReadLog(id, stage, 0)
			finish(t, s, id, model.DeploymentStatus_DEPLOYMENT_SUCCESS)
		},
		"chains": func(i int) {
			id := fmt.Sprint("chained", i)
			_ = s.Deployments.CreateChain(piped, &pipedservice.CreateDeploymentChainRequest{
				FirstDeployment: newDeployment(id, "b"),
				Matchers: []*pipedservice.CreateDeploymentChainRequest_ApplicationMatcher{
					{Labels: map[string]string{"chain": "yes"}},
				},
			})
			finish(t, s, id, model.DeploymentStatus_DEPLOYMENT_FAILURE)
		},
		"commands": func(int) {
			for _, c := range s.Commands.Waiting(piped) {
				_ = s.Commands.ReportHandled(piped,
					store.HandledCommand{ID: c.GetId(), Status: model.CommandStatus_COMMAND_FAILED})
			}
		},
	}
}

func otherCalls(t *testing.T, s *store.Store) map[string]func(i int) {
	return map[string]func(i int){
		"events": func(i int) {
			id, err := s.Events.Register(&model.Event{Name: "e"}, nil)
			require.NoError(t, err)
			_ = s.Events.ReportStatus(id, model.EventStatus(i%4), "")
		},
		"pipeds": func(int) {
			w, err := s.Pipeds.Watch(piped, store.Abilities{})
			require.NoError(t, err)
			defer w.Close()
			s.Pipeds.Saw(piped)
			s.Pipeds.Refused(piped)
			s.Pipeds.Check()
			_, err = s.Pipeds.ReportMeta(piped, meta("/srv/repo", &model.Piped_Plugin{Name: "wait"}))
			require.NoError(t, err)
			require.NoError(t, s.Pipeds.ReportHealth(piped, []*agentv1.Problem{{Part: "plugin wait", Reason: "r"}}))
		},
		"applications": func(i int) {
			_, err := s.Applications.Register(piped, []*model.ApplicationInfo{info("c")})
			require.NoError(t, err)
			require.NoError(t, s.Applications.SetDisabled("b", i%2 == 0))
			require.NoError(t, s.LiveStates.Report(piped, liveState("a", model.ResourceState_HealthStatus(i%2))))
			require.NoError(t, s.Objects.Put(piped, "a", "p", "k", []byte("o")))
			for _, a := range applicationsOf(s, piped) {
				if a.GetName() == "c" {
					require.NoError(t, s.DeleteApplication(a.GetId()))
				}
			}
		},
		"environment": func(i int) {
			s.Environment.SetComponent(&deckv1.Component{Name: "piped", State: deckv1.Component_State(i % 4)})
			s.Recognise("local", fmt.Sprint("cluster ", i))
		},
	}
}
