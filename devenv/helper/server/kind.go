// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kind"
	"github.com/pipedeck/pipedeck/devenv/helper"
)

// RunKind implements helperv1.HelperServiceServer.
func (s *Server) RunKind(stream grpc.BidiStreamingServer[helperv1.RunKindRequest, helperv1.ClusterEvent]) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	to := &reporter{send: stream.Send}
	config := s.kind(request.GetCluster())
	config.TakesImages = func() {
		to.report(&helperv1.ClusterEvent{Event: &helperv1.ClusterEvent_TakesImages{TakesImages: true}})
	}
	return to.run(stream.Context(), kind.New(config), func() error {
		_, err := stream.Recv()
		return err
	})
}

// LoadIntoKind implements helperv1.HelperServiceServer.
func (s *Server) LoadIntoKind(
	ctx context.Context, r *helperv1.LoadIntoKindRequest,
) (*helperv1.LoadIntoKindResponse, error) {
	var err error
	if r.GetCluster() != nil {
		err = kind.New(s.kind(r.GetCluster())).LoadImage(ctx,
			cluster.Image{Archive: r.GetArchive(), References: r.GetReferences()})
	} else {
		err = loadIntoContext(ctx, r.GetContext(), r.GetArchive(), r.GetReferences())
	}
	return &helperv1.LoadIntoKindResponse{}, helper.Encode(err)
}

// DeleteKind implements helperv1.HelperServiceServer.
func (s *Server) DeleteKind(
	ctx context.Context, r *helperv1.DeleteKindRequest,
) (*helperv1.DeleteKindResponse, error) {
	return &helperv1.DeleteKindResponse{}, helper.Encode(kind.New(s.kind(r.GetCluster())).Delete(ctx))
}

func (s *Server) kind(c *helperv1.KindCluster) kind.Config {
	return kind.Config{
		Environment: c.GetEnvironment(), Cluster: c.GetCluster(), Dir: c.GetDir(), Kubeconfig: c.GetKubeconfig(),
		LogFile: c.GetLogFile(), NodeImage: c.GetNodeImage(), File: c.GetFile(), Export: c.GetExport(),
		Logger: s.logger,
	}
}

// reporter sends what a provider reports.
type reporter struct {
	mu   sync.Mutex
	send func(*helperv1.ClusterEvent) error
}

func (r *reporter) report(event *helperv1.ClusterEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.send(event) // a stream that has broken ends the process
}

// run runs a provider until the client has closed its end: end returns then.
func (r *reporter) run(ctx context.Context, provider cluster.Provider, end func() error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer stop()
		_ = end()
	}()
	err := provider.Run(ctx, func(detail string, done, total int64) {
		r.report(&helperv1.ClusterEvent{Event: &helperv1.ClusterEvent_Progress_{
			Progress: &helperv1.ClusterEvent_Progress{Detail: detail, Done: done, Total: total},
		}})
	}, func(detail string) {
		r.report(&helperv1.ClusterEvent{Event: &helperv1.ClusterEvent_Ready{Ready: detail}})
	})
	return helper.Encode(err)
}
