// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
)

// introduction calls connected with the version of the piped with the id, each time that it has introduced itself.
func introduction(pipedID string, connected func(version string)) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		response, err := handler(ctx, request)
		if meta, ok := request.(*pipedservice.ReportPipedMetaRequest); ok && err == nil && connected != nil &&
			auth.Piped(ctx) == pipedID {
			connected(meta.GetVersion())
		}
		return response, err
	}
}
