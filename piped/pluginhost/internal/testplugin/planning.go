// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path"

	"google.golang.org/grpc"
)

// endInPlanning ends the process, or waits, during the call that the settings name.
func (s settings) endInPlanning(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	if path.Base(info.FullMethod) != s.Planning {
		return next(ctx, request)
	}
	if s.Hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if done, err := os.ReadFile(s.Marker); err == nil && len(done) >= s.Times {
		return next(ctx, request)
	}
	if err := note(s.Marker, "x"); err != nil {
		return nil, err
	}
	os.Exit(7)
	return nil, nil
}
