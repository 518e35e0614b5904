// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane"
)

func TestOpenDeployments(t *testing.T) {
	t.Parallel()
	first := page{ids: []string{"a", "b"}, cursor: "e30="}
	for name, c := range map[string]struct {
		pages map[string]page
		want  []string
		code  codes.Code
	}{
		"one page": {map[string]page{"": {ids: []string{"a"}}}, []string{"a"},
			codes.OK},
		"several pages": {map[string]page{"": {[]string{"a"}, "1", codes.OK},
			"1": {[]string{"b"}, "2", codes.OK}, "2": {ids: []string{"c"}}}, []string{"a", "b", "c"}, codes.OK},
		"a deployment in two pages comes once": {map[string]page{"": {[]string{"a", "b"}, "1", codes.OK},
			"1": {ids: []string{"b", "c"}}}, []string{"a", "b", "c"}, codes.OK},
		"a page without new ones ends the list": {map[string]page{"": {[]string{"a"}, "1", codes.OK},
			"1": {[]string{"a"}, "2", codes.OK}, "2": {[]string{"a"}, "1", codes.OK}}, []string{"a"}, codes.OK},
		"a cursor that is refused ends the list": {map[string]page{"": first, "e30=": {code: codes.Internal}},
			[]string{"a", "b"}, codes.OK},
		"a cursor that stays the same ends it": {map[string]page{"": first, "e30=": {cursor: "e30="}},
			[]string{"a", "b"}, codes.OK},
		"a connection lost between pages is known": {map[string]page{"": first, "e30=": {code: codes.Unavailable}}, nil,
			codes.Unavailable},
		"a refusal of the first page is known": {map[string]page{"": {code: codes.Internal}}, nil, codes.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open, err := controlplane.OpenDeployments(t.Context(), pages(c.pages))
			require.Equal(t, c.code, status.Code(err))
			var ids []string
			for _, d := range open {
				ids = append(ids, d.GetId())
			}
			require.Equal(t, c.want, ids)
		})
	}
}

// page is the answer to one cursor.
type page struct {
	ids    []string
	cursor string
	code   codes.Code
}

// pages answers by cursor.
type pages map[string]page

func (p pages) ListNotCompletedDeployments(_ context.Context, r *pipedservice.ListNotCompletedDeploymentsRequest,
	_ ...grpc.CallOption) (*pipedservice.ListNotCompletedDeploymentsResponse, error) {
	found, ok := p[r.GetCursor()]
	switch {
	case !ok:
		return nil, status.Errorf(codes.NotFound, "no list gave the cursor %q", r.GetCursor())
	case found.code != codes.OK:
		return nil, status.Error(found.code, "refused")
	}
	answer := &pipedservice.ListNotCompletedDeploymentsResponse{Cursor: found.cursor}
	for _, id := range found.ids {
		answer.Deployments = append(answer.Deployments, &model.Deployment{Id: id})
	}
	return answer, nil
}
