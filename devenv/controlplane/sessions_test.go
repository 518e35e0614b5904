// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/devenv/recorder"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/system/clock"
)

// recordSession records the environment until the control plane ends, and returns the file.
func recordSession(t *testing.T, p *plane, o recorder.Options) (file string, ended <-chan error) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "session")
	f, err := os.Create(file)
	require.NoError(t, err)
	o.Environment, o.Clock = "test", clock.System{}
	done := make(chan error, 1)
	ctx := testContext(t)
	go func() {
		defer f.Close()
		done <- recorder.Record(ctx, p.deck, f, o)
	}()
	return file, done
}

// played is the deck API of a session at its end.
func played(t *testing.T, file string) (*plane, *player.Player) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	session, err := sessionfile.Read(f, 0)
	require.NoError(t, err)
	require.Empty(t, session.Missing)
	require.Equal(t, "test", session.Header.GetEnvironment())
	film := player.New(session, clock.System{})
	film.Seek(time.Hour)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		film.Run(ctx)
	}()
	server := grpc.NewServer(grpc.UnaryInterceptor(player.Refuse), grpc.StreamInterceptor(player.RefuseStream))
	deckv1.RegisterDeckServiceServer(server, player.NewServer(film))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-served)
		cancel()
		<-ran
	})
	return &plane{deck: deckv1.NewDeckServiceClient(dial(t, listener.Addr().String(), ""))}, film
}

func stageLogOf(t *testing.T, deck deckv1.DeckServiceClient, stage string) string {
	t.Helper()
	stream, err := deck.WatchStageLog(testContext(t), &deckv1.WatchStageLogRequest{DeploymentId: id("3"), StageId: stage})
	require.NoError(t, err)
	var log strings.Builder
	for {
		response, err := stream.Recv()
		require.NoError(t, err)
		for _, b := range response.GetBlocks() {
			log.WriteString(b.GetText() + "\n")
		}
		if response.GetCompleted() {
			return log.String()
		}
	}
}

func TestARecordedSessionShowsWhatTheEnvironmentShowed(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{
		"what happens while it is recorded": false,
		"what has happened before":          true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			p.importApplication(id("2"), "ws")
			deploy := func() {
				newReplayer(t).play(p.pipedConn, recording(t, "a1"), nil)
				_, err := p.piped.ReportApplicationLiveState(testContext(t),
					&pipedservice.ReportApplicationLiveStateRequest{Snapshot: &model.ApplicationLiveStateSnapshot{
						ApplicationId: id("2"), PipedId: pipedID, ProjectId: project,
						Version: &model.ApplicationLiveStateVersion{Timestamp: 1},
						ApplicationLiveState: &model.ApplicationLiveState{Resources: []*model.ResourceState{{Id: "pod",
							Name: "pod", HealthStatus: model.ResourceState_HEALTHY, CreatedAt: 1, UpdatedAt: 1}}},
					}})
				require.NoError(t, err)
			}
			if before {
				deploy()
			}
			file, ended := recordSession(t, p, recorder.Options{Snapshot: before})
			if !before {
				// The recording has begun once the file has the state of the beginning.
				require.Eventually(t, func() bool { return len(sessionOf(t, file).Records) > 0 }, time.Minute,
					10*time.Millisecond)
				deploy()
				p.server.SetComponent(&deckv1.Component{Name: "last", State: deckv1.Component_STATE_READY})
				require.Eventually(t, func() bool {
					s := sessionOf(t, file)
					resources, last, runs := false, false, 0
					for _, r := range s.Records {
						resources = resources || len(r.GetResources().GetResponse().GetResources()) > 0
						last = last || r.GetEvent().GetComponent().GetName() == "last"
						if r.GetStageRun() != nil {
							runs++
						}
					}
					return resources && last && runs > 0
				}, time.Minute, 10*time.Millisecond)
			}
			live := p.watch(t, false)
			liveLogs := map[string]string{}
			for _, stage := range live.deployments[id("3")].GetStages() {
				liveLogs[stage.GetId()] = stageLogOf(t, p.deck, stage.GetId())
			}
			if !before {
				p.stop()
			}
			require.NoError(t, <-ended)

			replayed, film := played(t, file)
			then := replayed.watch(t, false)
			require.Equal(t, live.deployments[id("3")].String(), then.deployments[id("3")].String())
			require.Equal(t, live.applications[id("2")].String(), then.applications[id("2")].String())
			require.NotEmpty(t, liveLogs)
			for stage, log := range liveLogs {
				require.Equal(t, log, stageLogOf(t, replayed.deck, stage))
			}
			resources, err := replayed.deck.WatchResources(testContext(t),
				&deckv1.WatchResourcesRequest{ApplicationId: id("2")})
			require.NoError(t, err)
			first, err := resources.Recv()
			require.NoError(t, err)
			require.Len(t, first.GetResources(), 1)

			_, err = replayed.deck.SyncApplication(testContext(t), &deckv1.SyncApplicationRequest{ApplicationId: id("2")})
			require.Equal(t, codes.FailedPrecondition, status.Code(err))
			require.ErrorContains(t, err, "this is a recorded session")

			if !before {
				film.Seek(0)
				then.until(func() bool { return then.resets == 1 && then.synced == 2 })
				require.Empty(t, then.deployments, "nothing was deployed at the beginning")
			}
		})
	}
}

// sessionOf reads a session that is still recorded.
func sessionOf(t *testing.T, file string) *sessionfile.Session {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	s, err := sessionfile.Read(f, 0)
	if err != nil {
		return &sessionfile.Session{}
	}
	return s
}

func TestARecordingThatTakesNoMoreLeavesTheEnvironmentAlone(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	file, ended := recordSession(t, p, recorder.Options{Limit: 2000})
	newReplayer(t).play(p.pipedConn, recording(t, "a1"), nil)
	require.ErrorIs(t, <-ended, sessionfile.ErrLimit)
	require.Equal(t, sessionfile.ErrLimit.Error(), sessionOf(t, file).Missing)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS,
		p.watch(t, false).deployments[id("3")].GetStatus())
}
