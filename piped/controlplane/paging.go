// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// maxPages bounds the pages of one list: a control plane that goes on with new cursors for ever is broken.
const maxPages = 10_000

// pageLists lists applications and events in pages where the control plane has them, as ours has, so that lists of any
// length fit into messages. An item that is in two pages is in the answer once, as it came last. PipeCD's control plane
// answers everything at once.
func pageLists(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption) error {
	err := status.Error(codes.Unimplemented, "not a list with pages")
	switch r := request.(type) {
	case *pipedservice.ListApplicationsRequest:
		reply := reply.(*pipedservice.ListApplicationsResponse)
		reply.Applications, err = collect((*model.Application).GetId,
			func(cursor string) ([]*model.Application, string, error) {
				page := &agentv1.PageApplicationsResponse{}
				err := invoke(ctx, agentv1.AgentService_PageApplications_FullMethodName,
					&agentv1.PageApplicationsRequest{Cursor: cursor}, page, conn, opts...)
				return page.GetApplications(), page.GetCursor(), err
			})
	case *pipedservice.ListEventsRequest:
		reply := reply.(*pipedservice.ListEventsResponse)
		reply.Events, err = collect((*model.Event).GetId, func(cursor string) ([]*model.Event, string, error) {
			page := &agentv1.PageEventsResponse{}
			err := invoke(ctx, agentv1.AgentService_PageEvents_FullMethodName,
				&agentv1.PageEventsRequest{List: r, Cursor: cursor}, page, conn, opts...)
			return page.GetEvents(), page.GetCursor(), err
		})
	}
	if status.Code(err) == codes.Unimplemented {
		return invoke(ctx, method, request, reply, conn, opts...)
	}
	return err
}

// collect follows the cursors of a list to its end. An item that comes again replaces the one with its id. The error of
// a page comes back as it is, with what came before.
func collect[T any](id func(T) string, page func(cursor string) ([]T, string, error)) ([]T, error) {
	var all []T
	at := map[string]int{}
	cursor := ""
	for range maxPages {
		items, next, err := page(cursor)
		if err != nil {
			return all, err
		}
		grown := false
		for _, item := range items {
			if i, known := at[id(item)]; known {
				all[i] = item
				continue
			}
			at[id(item)] = len(all)
			all = append(all, item)
			grown = true
		}
		if next == "" || next == cursor || !grown {
			return all, nil
		}
		cursor = next
	}
	return nil, fmt.Errorf("the control plane gives more than %d pages of one list", maxPages)
}
