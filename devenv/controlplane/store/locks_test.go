// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// partCalls are calls of each part whose lock is in locks, by the place of that lock. Commands.Waiting is missing: it
// asks Deployments, without the lock of Commands.
func partCalls(s *Store) map[int]func() {
	app := &model.ApplicationLiveStateSnapshot{ApplicationId: "a"}
	return map[int]func(){
		2: func() {
			id, _ := s.Commands.Add(&model.Command{PipedId: "p", Type: model.Command_CHAIN_SYNC_APPLICATION})
			_ = s.Commands.ReportHandled("p", HandledCommand{ID: id, Status: model.CommandStatus_COMMAND_FAILED})
			s.Commands.GiveUp(id)
		},
		3: func() {
			_ = s.chains.begin("c", "a", []*pipedservice.CreateDeploymentChainRequest_ApplicationMatcher{{Name: "a"}})
			s.chains.confirm("c")
			s.chains.follow(&model.Deployment{Id: "d", ApplicationId: "a", DeploymentChainId: "c"})
			s.chains.refuse(&model.Command_ChainSyncApplication{DeploymentChainId: "c", ApplicationId: "a"}, "")
			s.chains.abandon("c")
		},
		4: func() {
			id, _ := s.Events.Register(&model.Event{Name: "e"}, nil)
			_ = s.Events.ReportStatus(id, model.EventStatus_EVENT_FAILURE, "")
		},
		5: func() { _ = s.Objects.Put("p", "a", "plugin", "k", []byte("o")) },
		6: func() { _ = s.LiveStates.Report("p", app) },
		7: func() {
			if w, err := s.Pipeds.Watch("p", Abilities{}); err == nil {
				w.Close()
			}
			s.Pipeds.Refused("p")
			s.Pipeds.Saw("p")
			s.Pipeds.Check()
			_, _ = s.Pipeds.ReportMeta("p", &pipedservice.ReportPipedMetaRequest{})
			_ = s.Pipeds.ReportHealth("p", []*agentv1.Problem{{Part: "x", Reason: "r"}})
		},
		8: func() { _ = s.Applications.SetDisabled("a", false) },
		9: func() { s.Environment.SetComponent(&deckv1.Component{Name: "c", State: deckv1.Component_STATE_FAILED}) },
	}
}

// A part that holds its lock waits for later parts only, so none of these may wait for it. Nor may a snapshot that
// waits for its lock hold theirs.
func TestNoPartWaitsForAnEarlierOne(t *testing.T) {
	t.Parallel()
	s := New(Options{ProjectID: "project"})
	s.Pipeds.Add("p", "p", "", KeyHash{})
	s.Applications.Import(&model.Application{Id: "a", Name: "a", PipedId: "p", ProjectId: "project"})
	calls := partCalls(s)
	require.Len(t, calls, len(s.locks)-2, "every part but the first two")
	for held := 1; held < len(s.locks); held++ {
		var work sync.WaitGroup
		s.locks[held].Lock()
		work.Go(func() { s.freeze()() })
		require.Eventually(t, func() bool { return !free(s.locks[0]) }, time.Minute, time.Millisecond,
			"it waits for lock %d", held)
		called := make(chan struct{})
		go func() {
			defer close(called)
			for later := held + 1; later < len(s.locks); later++ {
				calls[later]()
			}
		}()
		select {
		case <-called:
		case <-time.After(time.Minute):
			t.Fatalf("a part after %d waits for it", held)
		}
		s.locks[held].Unlock()
		work.Wait()
	}
}

func free(lock sync.Locker) bool {
	mutex := lock.(*sync.Mutex)
	if !mutex.TryLock() {
		return false
	}
	mutex.Unlock()
	return true
}
