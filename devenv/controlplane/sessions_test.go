// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
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
	require.Eventually(t, func() bool { return !film.Position().Playing }, time.Minute, time.Millisecond,
		"at its end it stops, and stays where it is sought")
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
	stream, err := deck.WatchStageLog(testContext(t),
		&deckv1.WatchStageLogRequest{DeploymentId: id("3"), StageId: stage})
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
	p := start(t)
	p.importApplication(id("2"), "ws")
	file, ended := recordSession(t, p, recorder.Options{})
	// The recording has begun once the file has the state of the beginning.
	recordedUntil(t, file, func(r *deckv1.SessionRecord) bool { return r.GetEvent().GetSynced() != nil })
	p.deployLive(t)
	recordedUntil(t, file, func(r *deckv1.SessionRecord) bool {
		return len(r.GetResources().GetResponse().GetResources()) > 0
	})
	recordedUntil(t, file, func(r *deckv1.SessionRecord) bool { return r.GetStageRun() != nil })
	p.server.SetComponent(&deckv1.Component{Name: "last", State: deckv1.Component_STATE_READY})
	recordedUntil(t, file, func(r *deckv1.SessionRecord) bool {
		return r.GetEvent().GetComponent().GetName() == "last"
	})
	shown := p.shows(t)
	p.stop()
	require.NoError(t, <-ended)

	replayed, film := played(t, file)
	require.Equal(t, shown, replayed.shows(t))
	then := replayed.watch(t, false)
	film.Seek(0)
	then.until(func() bool { return then.resets == 1 && then.synced == 2 })
	require.Empty(t, then.deployments, "nothing was deployed at the beginning")

	_, err := replayed.deck.SyncApplication(testContext(t), &deckv1.SyncApplicationRequest{ApplicationId: id("2")})
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	require.ErrorContains(t, err, "this is a recorded session")
}

func TestARecordingGoesOnWithTheEnvironmentThatIsStartedAgain(t *testing.T) {
	t.Parallel()
	before, after := start(t), start(t)
	before.importApplication(id("2"), "ws")
	before.deployLive(t)
	after.importApplication(id("2"), "other")
	file := filepath.Join(t.TempDir(), "session")
	f, err := os.Create(file)
	require.NoError(t, err)
	defer f.Close()
	s, err := recorder.Begin(f, recorder.Options{Environment: "test", Clock: clock.System{}})
	require.NoError(t, err)
	for i, p := range []*plane{before, after} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Follow(ctx, p.deck) }()
		require.Eventually(t, func() bool {
			synced := 0
			for _, r := range sessionOf(t, file).Records {
				if r.GetEvent().GetSynced() != nil {
					synced++
				}
			}
			return synced == i+1
		}, time.Minute, 10*time.Millisecond)
		cancel()
		require.NoError(t, <-ended)
	}
	after.stop()
	require.ErrorIs(t, s.Follow(t.Context(), after.deck), recorder.ErrLost)
	require.NoError(t, s.End(""))
	replayed, _ := played(t, file)
	v := replayed.watch(t, false)
	require.Equal(t, "other", v.applications[id("2")].GetName())
	require.Empty(t, v.deployments, "those of before the second state are gone")
}

func TestTheStateThatIsExportedHasWhatHappenedBefore(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	p.deployLive(t)
	file, ended := recordSession(t, p, recorder.Options{Snapshot: true})
	require.NoError(t, <-ended)
	replayed, _ := played(t, file)
	require.Equal(t, p.shows(t), replayed.shows(t))
}

// deployLive deploys the application, with one live resource.
func (p *plane) deployLive(t *testing.T) {
	t.Helper()
	newReplayer(t).play(p.pipedConn, recording(t, "a1"), nil)
	_, err := p.piped.ReportApplicationLiveState(testContext(t), &pipedservice.ReportApplicationLiveStateRequest{
		Snapshot: &model.ApplicationLiveStateSnapshot{
			ApplicationId: id("2"), PipedId: pipedID, ProjectId: project,
			Version: &model.ApplicationLiveStateVersion{Timestamp: 1},
			ApplicationLiveState: &model.ApplicationLiveState{Resources: []*model.ResourceState{{Id: "pod", Name: "pod",
				HealthStatus: model.ResourceState_HEALTHY, CreatedAt: 1, UpdatedAt: 1}}},
		},
	})
	require.NoError(t, err)
}

// shows is what a user interface shows of the application, its deployment, the logs and the live resources.
func (p *plane) shows(t *testing.T) (all []string) {
	t.Helper()
	v := p.watch(t, false)
	deployment := v.deployments[id("3")]
	require.NotEmpty(t, deployment.GetStages())
	all = append(all, deployment.String(), v.applications[id("2")].String())
	for _, stage := range deployment.GetStages() {
		all = append(all, stageLogOf(t, p.deck, stage.GetId()))
	}
	resources, err := p.deck.WatchResources(testContext(t), &deckv1.WatchResourcesRequest{ApplicationId: id("2")})
	require.NoError(t, err)
	first, err := resources.Recv()
	require.NoError(t, err)
	require.Len(t, first.GetResources(), 1)
	return append(all, first.GetResources()[0].String())
}

// recordedUntil waits for a record in the file.
func recordedUntil(t *testing.T, file string, match func(*deckv1.SessionRecord) bool) {
	t.Helper()
	require.Eventually(t, func() bool { return slices.ContainsFunc(sessionOf(t, file).Records, match) }, time.Minute,
		10*time.Millisecond)
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

func TestAnExportThatDoesNotEndIsAnError(t *testing.T) {
	t.Parallel()
	p := start(t)
	f, err := os.Create(filepath.Join(t.TempDir(), "session"))
	require.NoError(t, err)
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	options := recorder.Options{Environment: "test", Clock: clock.System{}, Snapshot: true}
	require.ErrorIs(t, recorder.Record(ctx, p.deck, f, options), context.Canceled)
	p.stop()
	require.Error(t, recorder.Record(t.Context(), p.deck, f, options), "the environment has ended")
	options.Snapshot = false
	require.NoError(t, recorder.Record(t.Context(), p.deck, f, options), "which ends a recording in order")
}

// silent is an environment that does not answer what lives, until its caller has no more time.
type silent struct {
	deckv1.DeckServiceClient
	waits context.CancelFunc
}

func (s silent) WatchResources(ctx context.Context, _ *deckv1.WatchResourcesRequest, _ ...grpc.CallOption) (
	grpc.ServerStreamingClient[deckv1.WatchResourcesResponse], error) {
	s.waits()
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAnExportWithoutAnAnswerIsAnError(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	f, err := os.Create(filepath.Join(t.TempDir(), "session"))
	require.NoError(t, err)
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	options := recorder.Options{Environment: "test", Clock: clock.System{}, Snapshot: true}
	require.ErrorIs(t, recorder.Record(ctx, silent{p.deck, cancel}, f, options), context.Canceled)
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
