// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package controlplanetest serves control planes for the tests of the layers that calls to a control plane pass: a real
// gRPC server on this machine, and a Client of it.
package controlplanetest

import (
	"context"
	"errors"
	"net"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

// Answer answers a call of PipedService, the method without the service's name. Without an answer and an error the call
// gets an empty answer of its type. Calls may come at the same time.
type Answer func(ctx context.Context, method string, request proto.Message) (proto.Message, error)

// Serve runs a control plane that serves PipedService only, as PipeCD's does, until the test ends. It returns its
// address.
func Serve(t testing.TB, answer Answer) string {
	t.Helper()
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo,
		_ grpc.UnaryHandler) (any, error) {
		reply, err := answer(ctx, path.Base(info.FullMethod), request.(proto.Message))
		if reply == nil && err == nil {
			return empty(info.FullMethod)
		}
		return reply, err
	}))
	pipedservice.RegisterPipedServiceServer(server, pipedservice.UnimplementedPipedServiceServer{})
	return ServeGRPC(t, server)
}

// ServeGRPC serves on a free port of this machine until the test ends, and returns the address.
func ServeGRPC(t testing.TB, server *grpc.Server) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; !errors.Is(err, grpc.ErrServerStopped) { // so Serve says when Stop came first
			require.NoError(t, err)
		}
	})
	return listener.Addr().String()
}

// empty returns an empty answer of a method.
func empty(method string) (proto.Message, error) {
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(method, "/"), "/", "."))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	answer, err := protoregistry.GlobalTypes.FindMessageByName(
		found.(protoreflect.MethodDescriptor).Output().FullName())
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return answer.New().Interface(), nil
}

// Dial returns a Client of the control plane at the address, whose calls pass the layers and are repeated without
// pauses. It is closed when the test ends.
func Dial(t testing.TB, address string, layers controlplane.Layers) *controlplane.Client {
	t.Helper()
	client, err := controlplane.Dial(controlplane.Options{
		Address: address, ProjectID: "dev", PipedID: "p", Key: []byte("k"), Insecure: true, Layers: layers,
		Clock: clocktest.Eager{},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}
