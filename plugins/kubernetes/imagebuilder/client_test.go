// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package imagebuilder_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/imagebuilder"
)

// builder gives the set answers.
type builder struct {
	imagev1.UnimplementedImageServiceServer
	key     string
	provide func(req *imagev1.ProvideRequest, send func(string)) error
}

func (b *builder) authenticate(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	if got := md.Get("authorization"); len(got) != 1 || got[0] != "API-KEY "+b.key {
		return status.Error(codes.Unauthenticated, "Unauthenticated")
	}
	return nil
}

func (b *builder) Resolve(ctx context.Context, req *imagev1.ResolveRequest) (*imagev1.ResolveResponse, error) {
	if err := b.authenticate(ctx); err != nil {
		return nil, err
	}
	return &imagev1.ResolveResponse{References: map[string]string{req.GetImages()[0]: "pipedeck.dev/web:built-in-" +
		filepath.Base(req.GetDirectory())}}, nil
}

func (b *builder) Provide(req *imagev1.ProvideRequest,
	stream grpc.ServerStreamingServer[imagev1.ProvideResponse]) error {
	if err := b.authenticate(stream.Context()); err != nil {
		return err
	}
	return b.provide(req, func(line string) { _ = stream.Send(&imagev1.ProvideResponse{Progress: line}) })
}

// serve runs a server on an address; nil has no image API. stop ends it.
func serve(t *testing.T, address string, b *builder) (at string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	server := grpc.NewServer()
	if b != nil {
		imagev1.RegisterImageServiceServer(server, b)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	stop = sync.OnceFunc(func() {
		server.Stop()
		if err := <-served; err != nil {
			require.ErrorIs(t, err, grpc.ErrServerStopped)
		}
	})
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}

func target(t *testing.T, address, key string) config.ImageBuilder {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte(key+"\n"), 0o600))
	return config.ImageBuilder{Address: address, APIKeyFile: file}
}

func TestImagesAreResolvedAndProvided(t *testing.T) {
	t.Parallel()
	var got *imagev1.ProvideRequest
	address, _ := serve(t, "127.0.0.1:0", &builder{key: "id.secret",
		provide: func(req *imagev1.ProvideRequest, send func(string)) error {
			got = req
			send("building")
			send("loaded")
			return nil
		}})
	b := target(t, address, "id.secret")
	references, err := imagebuilder.Client{}.Resolve(t.Context(), b, "/repo", []string{"pipedeck.dev/web:v1"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"pipedeck.dev/web:v1": "pipedeck.dev/web:built-in-repo"}, references)

	var lines []string
	err = imagebuilder.Client{}.Provide(t.Context(), b, "/repo", "dev", []string{"nginx"},
		func(line string) { lines = append(lines, line) })
	require.NoError(t, err)
	require.Equal(t, []string{"building", "loaded"}, lines)
	require.Equal(t, []string{"/repo", "dev", "nginx"},
		append([]string{got.GetDirectory(), got.GetTarget()}, got.GetImages()...))

	// The key may change while the plugin runs.
	require.NoError(t, os.WriteFile(b.APIKeyFile, []byte("id.other"), 0o600))
	_, err = imagebuilder.Client{}.Resolve(t.Context(), b, "/repo", []string{"x"})
	require.ErrorContains(t, err, "does not know the key in "+b.APIKeyFile)
	require.NotContains(t, err.Error(), "id.other")
}

func TestAServerWithoutTheAPIBuildsNothing(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, "127.0.0.1:0", nil)
	b := target(t, address, "id.secret")
	references, err := imagebuilder.Client{}.Resolve(t.Context(), b, "/repo", []string{"pipedeck.dev/web:v1"})
	require.NoError(t, err)
	require.Empty(t, references)
	require.NoError(t, imagebuilder.Client{}.Provide(t.Context(), b, "/repo", "dev", nil, func(string) {}))
}

func TestAFailureIsReportedInTheServersWords(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, "127.0.0.1:0", &builder{key: "id.secret",
		provide: func(*imagev1.ProvideRequest, func(string)) error {
			return status.Error(codes.FailedPrecondition, "web does not compile: web/main.go:3:1: no")
		}})
	err := imagebuilder.Client{}.Provide(t.Context(), target(t, address, "id.secret"), "/repo", "dev", nil,
		func(string) {})
	require.EqualError(t, err, "build the images: web does not compile: web/main.go:3:1: no")
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
}

func TestARestartedServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	var once sync.Once
	address, stop := serve(t, "127.0.0.1:0", &builder{key: "id.secret",
		provide: func(_ *imagev1.ProvideRequest, send func(string)) error {
			once.Do(func() {
				send("building")
				close(started)
			})
			return status.Error(codes.Unavailable, "the server is stopping")
		}})
	b := target(t, address, "id.secret")
	lines := make(chan string, 8)
	ended := make(chan error, 1)
	go func() {
		ended <- imagebuilder.Client{}.Provide(t.Context(), b, "/repo", "dev", nil, func(line string) { lines <- line })
	}()
	<-started
	stop()
	serve(t, address, &builder{key: "id.secret", provide: func(_ *imagev1.ProvideRequest, send func(string)) error {
		send("loaded")
		return nil
	}})
	require.NoError(t, <-ended)
	close(lines)
	last := ""
	for line := range lines {
		last = line // the one before may have gone with its server
	}
	require.Equal(t, "loaded", last)
}

func TestAServerThatIsGoneIsGivenUp(t *testing.T) {
	t.Parallel()
	address, stop := serve(t, "127.0.0.1:0", nil)
	stop()
	_, err := imagebuilder.Client{Patience: time.Millisecond}.Resolve(t.Context(), target(t, address, "id.secret"),
		"/repo", nil)
	require.ErrorContains(t, err, "the image builder at "+address+" does not answer")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = imagebuilder.Client{}.Resolve(ctx, target(t, address, "id.secret"), "/repo", nil)
	require.Error(t, err)
	_, err = imagebuilder.Client{}.Resolve(t.Context(),
		config.ImageBuilder{Address: address, APIKeyFile: "/does/not/exist"}, "/repo", nil)
	require.ErrorContains(t, err, "/does/not/exist")
}
