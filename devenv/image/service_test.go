// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// clusters take what is loaded.
type clusters struct {
	mu    sync.Mutex
	loads []string
	// programs are those that came with the images.
	programs []string
	// lost says that the clusters have lost what was loaded.
	lost atomic.Bool
	// load answers; nil takes everything.
	load func(ctx context.Context, target, archive string) error
}

func (c *clusters) take(ctx context.Context, target string, image cluster.Image) error {
	if c.load != nil {
		if err := c.load(ctx, target, image.Archive); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads = append(c.loads, target+" "+strings.Join(image.References, " "))
	c.programs = append(c.programs, image.Program)
	return nil
}

// serve runs the service as the control plane does.
func serve(t *testing.T, c *clusters) imagev1.ImageServiceClient {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	imagev1.RegisterImageServiceServer(server,
		NewService(Config{
			Builder: newBuilder(t.TempDir()), Load: c.take, Has: func(string, []string) bool { return !c.lost.Load() },
			Programs: true, Logger: slog.New(slog.DiscardHandler),
		}))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///"+listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		server.Stop()
		if err := <-served; err != nil {
			require.ErrorIs(t, err, grpc.ErrServerStopped)
		}
	})
	return imagev1.NewImageServiceClient(conn)
}

// provide returns the lines of progress and how the call ended.
func provide(
	ctx context.Context, service imagev1.ImageServiceClient, directory, target string, images ...string,
) (lines []string, err error) {
	stream, err := service.Provide(ctx, &imagev1.ProvideRequest{Directory: directory, Images: images, Target: target})
	if err != nil {
		return nil, err
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		lines = append(lines, resp.GetProgress())
	}
}

func TestReferencesOfTheRepositorysProgramsAreResolved(t *testing.T) {
	t.Parallel()
	service, dir := serve(t, &clusters{}), simple(t)
	resp, err := service.Resolve(t.Context(),
		&imagev1.ResolveRequest{Directory: dir,
			Images: []string{"pipedeck.dev/web:v1", "pipedeck.dev/web", "nginx", "pipedeck.dev/gone:v1"}})
	require.NoError(t, err)
	want := find(t, dir, "pipedeck.dev/web").Reference()
	require.Equal(t, map[string]string{"pipedeck.dev/web:v1": want, "pipedeck.dev/web": want}, resp.GetReferences())

	again, err := service.Resolve(t.Context(), &imagev1.ResolveRequest{Directory: dir, Images: []string{want}})
	require.NoError(t, err)
	require.Equal(t, map[string]string{want: want}, again.GetReferences(), "what was resolved stands for itself")
}

func TestAnImageIsLoadedOnceIntoEachCluster(t *testing.T) {
	t.Parallel()
	c := &clusters{}
	service, dir := serve(t, c), simple(t)
	first := find(t, dir, "pipedeck.dev/web").Reference()
	lines, err := provide(t.Context(), service, dir, "dev", "pipedeck.dev/web:v1", "nginx")
	require.NoError(t, err)
	require.Len(t, lines, 4)
	require.Equal(t, "Building "+first+" for "+platform.String(), lines[0])
	require.Regexp(t, `^Built in .*: \d+\.\d MB$`, lines[1])
	require.Contains(t, lines[2], "into the cluster of dev")
	require.Equal(t, "Loaded "+first, lines[3])

	for _, images := range [][]string{{"pipedeck.dev/web:v1"}, {first}, {"nginx"}, {}} {
		lines, err = provide(t.Context(), service, dir, "dev", images...)
		require.NoError(t, err)
		require.Empty(t, lines, images)
	}
	_, err = provide(t.Context(), service, dir, "prod", "pipedeck.dev/web:v1")
	require.NoError(t, err)
	require.Equal(t, []string{"dev " + first + " pipedeck.dev/web:v1", "prod " + first + " pipedeck.dev/web:v1"},
		c.loads)

	write(t, filepath.Join(dir, "web", "main.go"), program+"// more\n")
	second := find(t, dir, "pipedeck.dev/web").Reference()
	require.NotEqual(t, first, second)
	_, err = provide(t.Context(), service, dir, "dev", "pipedeck.dev/web:v1")
	require.NoError(t, err)
	write(t, filepath.Join(dir, "web", "main.go"), program)
	_, err = provide(t.Context(), service, dir, "dev", "pipedeck.dev/web:v1")
	require.NoError(t, err)
	require.Equal(t, []string{"dev " + second + " pipedeck.dev/web:v1", "dev " + first + " pipedeck.dev/web:v1"},
		c.loads[2:], "a name goes back to older sources")
}

func TestThoseWhoWantTheSameImageLoadItOnce(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}, 8), make(chan struct{})
	c := &clusters{load: func(context.Context, string, string) error {
		entered <- struct{}{}
		<-leave
		return nil
	}}
	service, dir := serve(t, c), simple(t)
	said, ended := make(chan string), make(chan error)
	for range 4 {
		go func() {
			lines, err := provide(t.Context(), service, dir, "dev", "pipedeck.dev/web")
			said <- strings.Join(lines, "\n")
			ended <- err
		}()
	}
	<-entered
	close(leave)
	var all string
	for range 4 {
		all += <-said
		require.NoError(t, <-ended)
	}
	require.Contains(t, all, "Loading pipedeck.dev/web:")
	require.Len(t, c.loads, 1)
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		program string
		load    error
		want    string
	}{
		"a program that does not compile": {"package main\n\nfunc main() { undefinedThing() }\n", nil,
			"web does not compile: web/main.go:3:15: undefined: undefinedThing"},
		"a cluster that takes no images": {program, cluster.ErrNoImages, "push the image to a registry"},
		"a cluster that refuses": {program,
			&cluster.HintError{Err: errors.New("the disk is full"), Hint: "docker system prune"},
			"the disk is full; docker system prune"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := serve(t, &clusters{load: func(context.Context, string, string) error { return test.load }})
			dir := repository(t, map[string]string{"go.mod": "module sample\n", "web/main.go": test.program})
			_, err := provide(t.Context(), service, dir, "dev", "pipedeck.dev/web")
			require.Equal(t, codes.FailedPrecondition, status.Code(err))
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestALoadThatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	failing := true
	c := &clusters{load: func(context.Context, string, string) error {
		if failing {
			return errors.New("the node is gone")
		}
		return nil
	}}
	service, dir := serve(t, c), simple(t)
	_, err := provide(t.Context(), service, dir, "dev", "pipedeck.dev/web")
	require.ErrorContains(t, err, "the node is gone")
	failing = false
	_, err = provide(t.Context(), service, dir, "dev", "pipedeck.dev/web")
	require.NoError(t, err)
}

func TestACallThatIsCancelledDoesNotWaitForTheCluster(t *testing.T) {
	t.Parallel()
	waiting, left := make(chan struct{}, 1), make(chan struct{}, 1)
	service, dir := serve(t, &clusters{load: func(ctx context.Context, _, _ string) error {
		waiting <- struct{}{}
		<-ctx.Done()
		left <- struct{}{}
		return context.Cause(ctx)
	}}), simple(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := provide(ctx, service, dir, "dev", "pipedeck.dev/web")
		ended <- err
	}()
	<-waiting
	cancel()
	require.Equal(t, codes.Canceled, status.Code(<-ended))
	select {
	case <-left:
	case <-time.After(time.Minute):
		require.FailNow(t, "the load goes on")
	}
}

func TestWithoutGoOnlyASimulatedClusterIsContentWithTheName(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	c := &clusters{load: func(_ context.Context, target, archive string) error {
		if target == "real" && archive == "" {
			return cluster.ErrNeedsArchive
		}
		return nil
	}}
	service, dir := serve(t, c), simple(t)
	lines, err := provide(t.Context(), service, dir, "simulated", "pipedeck.dev/web")
	require.NoError(t, err)
	require.Len(t, lines, 1)
	require.Contains(t, lines[0], "there is no go command")
	_, err = provide(t.Context(), service, dir, "real", "pipedeck.dev/web")
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	require.ErrorContains(t, err, "https://go.dev/dl")
}

func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	service, dir := serve(t, &clusters{}), simple(t)
	for name, test := range map[string]struct {
		directory string
		images    []string
	}{
		"too many images":               {dir, slices.Repeat([]string{"nginx"}, maxImages+1)},
		"a relative directory":          {"web", nil},
		"no directory":                  {"", nil},
		"a directory that is not there": {filepath.Join(dir, "gone"), nil},
		"a file":                        {filepath.Join(dir, "go.mod"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := service.Resolve(t.Context(),
				&imagev1.ResolveRequest{Directory: test.directory, Images: test.images})
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			_, err = provide(t.Context(), service, test.directory, "dev", test.images...)
			require.Equal(t, codes.InvalidArgument, status.Code(err))
		})
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	idle := func() { require.Fail(t, "no second load is expected") }
	l := newLoaded()
	image := func(name string) loading {
		return loading{"digest", []string{name}, func() bool { return false }, idle, func() error { return nil }}
	}
	for i := range maxLoaded + 1 {
		require.NoError(t, l.once(t.Context(), "dev", image(fmt.Sprint(i))))
	}
	require.False(t, l.has("dev", "digest", []string{"0"}), "the oldest is forgotten")
	require.True(t, l.has("dev", "digest", []string{"1", fmt.Sprint(maxLoaded)}))
	for i := range maxTargets - 1 {
		require.NoError(t, l.once(t.Context(), fmt.Sprint(i), image("x")))
	}
	require.ErrorContains(t, l.once(t.Context(), "one more", image("x")), "too many")
}

func TestAnImageComesWithAProgramForThisMachine(t *testing.T) {
	t.Parallel()
	c := &clusters{}
	service, dir := serve(t, c), simple(t)
	for range 2 {
		_, err := provide(t.Context(), service, dir, "dev", "pipedeck.dev/web")
		require.NoError(t, err)
	}
	require.Len(t, c.programs, 1)
	out, err := exec.CommandContext(t.Context(), c.programs[0]).CombinedOutput()
	require.NoError(t, err)
	reference := find(t, dir, "pipedeck.dev/web").Reference()
	require.Equal(t, strings.TrimPrefix(reference, "pipedeck.dev/web:")+"\n", string(out), "it knows its build")

	c.lost.Store(true)
	_, err = provide(t.Context(), service, dir, "dev", "pipedeck.dev/web")
	require.NoError(t, err)
	require.Len(t, c.programs, 2, "what a cluster has lost is loaded again")
}
