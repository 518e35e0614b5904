// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
)

// A live state has other ids on another cluster, but the same tree.
func TestIDsOfResourcesMayDifferAndTheirTreeMayNot(t *testing.T) {
	t.Parallel()
	recorded := live("a", "b under a", "c under a")
	for name, c := range map[string]struct {
		replayed *livestate.GetLivestateResponse
		same     bool
	}{
		"other ids":          {live("x", "y under x", "z under x"), true},
		"another parent":     {live("x", "y under x", "z under y"), false},
		"an empty id":        {live("", "y under ", "z under "), false},
		"the same id twice":  {live("x", "x under x", "z under x"), false},
		"a parent elsewhere": {live("x", "y under q", "z under x"), false},
		"no parent":          {live("x", "y under x", "z"), false},
	} {
		want := proto.CloneOf(recorded)
		recording.ClearIdentity(want.ProtoReflect())
		recording.ClearIdentity(c.replayed.ProtoReflect())
		require.Equal(t, c.same, proto.Equal(want, c.replayed), name, protojson.Format(c.replayed))
	}
}

// live is a live state of resources with these ids, each of them after its parent.
func live(ids ...string) *livestate.GetLivestateResponse {
	state := &model.ApplicationLiveState{}
	for i, id := range ids {
		id, parent, has := strings.Cut(id, " under ")
		resource := &model.ResourceState{Id: id, Name: fmt.Sprint("resource ", i), CreatedAt: int64(i + 1)}
		if has {
			resource.ParentIds = []string{parent}
		}
		state.Resources = append(state.Resources, resource)
	}
	return &livestate.GetLivestateResponse{ApplicationLiveState: state}
}
