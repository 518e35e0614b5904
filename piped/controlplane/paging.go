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

// paging lists applications and events in pages where the control plane has them, as ours has, so that lists of any
// length fit into messages. PipeCD's control plane answers everything at once.
type paging struct {
	pipedservice.PipedServiceClient
	agent agentv1.AgentServiceClient
}

// ListApplications answers with all pages. An application that comes in two of them is there once, as it came last.
func (p *paging) ListApplications(ctx context.Context, r *pipedservice.ListApplicationsRequest, opts ...grpc.CallOption) (*pipedservice.ListApplicationsResponse, error) {
	all, err := collect((*model.Application).GetId, func(cursor string) ([]*model.Application, string, error) {
		page, err := p.agent.PageApplications(ctx, &agentv1.PageApplicationsRequest{Cursor: cursor}, opts...)
		return page.GetApplications(), page.GetCursor(), err
	})
	if status.Code(err) == codes.Unimplemented {
		return p.PipedServiceClient.ListApplications(ctx, r, opts...)
	}
	if err != nil {
		return nil, err
	}
	return &pipedservice.ListApplicationsResponse{Applications: all}, nil
}

// ListEvents answers with all pages.
func (p *paging) ListEvents(ctx context.Context, r *pipedservice.ListEventsRequest, opts ...grpc.CallOption) (*pipedservice.ListEventsResponse, error) {
	all, err := collect((*model.Event).GetId, func(cursor string) ([]*model.Event, string, error) {
		page, err := p.agent.PageEvents(ctx, &agentv1.PageEventsRequest{List: r, Cursor: cursor}, opts...)
		return page.GetEvents(), page.GetCursor(), err
	})
	if status.Code(err) == codes.Unimplemented {
		return p.PipedServiceClient.ListEvents(ctx, r, opts...)
	}
	if err != nil {
		return nil, err
	}
	return &pipedservice.ListEventsResponse{Events: all}, nil
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
