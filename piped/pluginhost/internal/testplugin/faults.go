// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// haveFaults says that the first fault of calls to a cluster that a stage has got has happened, and no other.
func haveFaults(ctx context.Context) error {
	given, _ := metadata.FromIncomingContext(ctx)
	data := given.Get("pipedeck-cluster-faults-bin")
	if len(data) == 0 {
		return nil
	}
	if err := proto.Unmarshal([]byte(data[0]), &deployment.ClusterFaults{}); err != nil {
		return err
	}
	return grpc.SetTrailer(ctx, metadata.Pairs("pipedeck-cluster-faults", "0"))
}
