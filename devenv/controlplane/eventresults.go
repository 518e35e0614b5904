// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// eventResults calls handled with each event whose result a piped has reported.
func eventResults(state *store.Store, handled func(*model.Event)) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		response, err := handler(ctx, request)
		report, ok := request.(*pipedservice.ReportEventStatusesRequest)
		if !ok || err != nil || handled == nil {
			return response, err
		}
		for _, result := range report.GetEvents() {
			found, _, findErr := state.Events.List(func(e *model.Event) bool { return e.GetId() == result.GetId() },
				true, "", store.Bounds{Items: 1})
			if findErr == nil && len(found) == 1 && found[0].GetStatus() != model.EventStatus_EVENT_NOT_HANDLED {
				handled(found[0])
			}
		}
		return response, err
	}
}
