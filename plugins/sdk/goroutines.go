// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"runtime"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
)

// goroutinesTrailer reports to piped the number of goroutines next to an answer about the plugin's health. Whoever does
// not know it sees nothing of it.
const goroutinesTrailer = "pipedeck-goroutines"

// counting is a health server that reports it.
type counting struct{ *health.Server }

func (c counting) Check(ctx context.Context,
	req *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	_ = grpc.SetTrailer(ctx, metadata.Pairs(goroutinesTrailer, strconv.Itoa(runtime.NumGoroutine())))
	return c.Server.Check(ctx, req)
}
